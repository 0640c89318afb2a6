"""Documents that recommend or prescribe different things for one purpose: "Which X should staff use?" against the statements about X."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verification.rules.conflicts_subject import MISSING, SAID, covers_word
from verification.rules.extract_cover import Candidate, context_of, list_candidates
from verification.rules.extract_sentences import ROW
from verification.rules.lexicon_words import cover_of, prepare_text, read_words
from verification.rules.question_types import is_negated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verification.rules.contract import Passage
    from verification.rules.question import QuestionReading

MAX_THING_WORDS, MAX_OBJECT_WORDS = 4, 6
_RATED = r"(?:recommended|approved|preferred|standard|official|default|mandatory|required|designated)"
_ASKED = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\b(?:which|what) (?:kind of |type of )?(?P<thing>[a-z][\w' -]{2,40}?) (?:should|must|shall|may|do|does|has to|have to|can) .*\b(?:use|choose|pick|install|buy|adopt|take|write|book)",
        rf"\b(?:which|what) (?P<thing>[a-z][\w' -]{{2,40}}?) (?:is|are|should be|must be|has to be|have to be) (?:\w+ )?(?:{_RATED}|used|chosen|installed|advised|suggested)\b",
        rf"\b(?:which|what) (?:is|are) (?:the |our )?(?:\w+ )?{_RATED} (?P<thing>[a-z][\w' -]{{2,40}}?)(?: (?:for|of|at|in|when|to)\b|\?|$)",
        r"(?:推荐|建议|应该|应当|必须|应|须|要|优先)(?:优先|首先|首选)?(?:使用|采用|选用|选择|安装|用)?(?:哪|什么)一?(?:种|个|款|家|类|些)?(?:的)?(?P<thing>[\u4e00-\u9fffA-Za-z ]{2,12}?)[?？]?$",
        r"(?P<thing>[\u4e00-\u9fffA-Za-z]{2,12}?)(?:应该|应当|必须|应|须|要)(?:优先|首先)?(?:使用|采用|选用|选择|安装|用)(?:哪|什么)",
    )
)
_VERB = r"(?:use|choose|pick|install|adopt|select|buy)"
_END = r"(?=[.,;:()]|\s+(?:which|that|who|to|for|because|when|whenever|if|as|unless|where|so|until|since|instead|rather|at|in|on)\b|$)"
# A recommendation says what it is about by its heading; a plain order has to name the thing itself.
_RECOMMENDS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"\b(?:recommend|advise|suggest|prefer|standardi[sz]e on)s?\s+(?:that\s+(?:\w+\s+){{1,2}}(?={_VERB}\b))?(?:to\s+)?(?:(?:the\s+)?(?:using|use(?:\s+of)?|choosing|installing|adopting|buying)\s+)?(?P<object>[^.,;:()]+?){_END}",
        rf"^(?P<object>[^.,;:()]+?)\s+(?:is|are)\s+(?:the\s+|our\s+)?(?:only\s+|currently\s+)?{_RATED}\b",
        rf"\b{_RATED}\s+[\w' -]{{2,40}}?\s+(?:is|are)\s+(?P<object>[^.,;:()]+?){_END}",
        r"(?:推荐|建议|首选|优先)(?:大家|员工|同事)?(?:优先|首先)?(?:使用|采用|选用|选择|安装|用)?(?:的是)?(?P<object>[^，。；：、（）()]+)",
        r"(?:推荐|指定|批准|标准|默认|官方|首选)的?[\u4e00-\u9fff]{2,10}(?:是|为)(?P<object>[^，。；：、（）()]+)",
    )
)
_ORDERS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"(?:^|[,:;]\s*|\b(?:please|always|must|should|shall|have to|has to|need to|required to)\s+)(?:only\s+|always\s+|first\s+)?{_VERB}\s+(?P<object>[^.,;:()]+?){_END}",
        r"(?:必须|应当|应该|须|请|统一|一律|只能)(?:优先|统一)?(?:使用|采用|选用|安装|用)(?P<object>[^，。；：、（）()]+)",
    )
)
_CONDITION = re.compile(
    r"\b(?:if|when|unless|whenever|in case)\b(?!\s+(?:possible|available|needed|at all|you can))|如果|若|除非|当[^，。]{1,15}时|的情况下", re.I
)
_GENERAL = re.compile(
    r"(?:staff|employees?|teams?|people|users?|colleagues?|members?|everyone|company|we|you|use[ds]?|using|first|default|work\w*|office|always|should|must"
    r"|recommend\w*|prefer\w*|approved?|standard|official|员工|同事|大家|团队|公司|我们|优先|首先|首选|使用|推荐|建议|采用|选用|选择|应该|必须|日常|办公)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Statement:
    candidate: Candidate
    object_keys: frozenset[str]


def find_choice_rivals(reading: QuestionReading, passages: Sequence[Passage]) -> list[Candidate]:
    """Two or more statements of different documents, the first of each, that recommend different things; nothing when the question asks for no choice.

    Args: passages: the evidence pack and what was found around it, best first.
    """
    thing = _find_thing(reading)
    if not thing:
        return []
    firsts: dict[str, _Statement] = {}
    for candidate in list_candidates(passages):
        if candidate.passage.document_id in firsts or candidate.unit.kind == ROW or not _is_about(reading, thing, candidate):
            continue
        keys = _object_of(reading, thing, candidate)
        if keys:
            firsts[candidate.passage.document_id] = _Statement(candidate, keys)
    statements = list(firsts.values())
    others = [other for other in statements[1:] if _names_another(statements[0], other)]
    return [statements[0].candidate, *(other.candidate for other in others)] if others else []


def _find_thing(reading: QuestionReading) -> str:
    for pattern in _ASKED:
        found = pattern.search(reading.text)
        if found and 0 < len(read_words(found["thing"])) <= MAX_THING_WORDS:
            return found["thing"].strip()
    return ""


def _is_about(reading: QuestionReading, thing: str, candidate: Candidate) -> bool:
    """The passage speaks of the thing beside the sentence, and carries what else the question narrows its case to."""
    near, around = prepare_text(candidate.near), context_of(candidate.passage)
    if any(cover_of(word, near) < SAID for word in read_words(thing)):
        return False
    narrowing = [word for word in reading.words if not _GENERAL.fullmatch(word.text)]
    return all(covers_word(word, around) >= MISSING for word in narrowing)


def _object_of(reading: QuestionReading, thing: str, candidate: Candidate) -> frozenset[str]:
    """Words of what the sentence recommends, without those of the question; empty for a condition, a denial or no recommendation."""
    text = candidate.text
    if _CONDITION.search(text) or is_negated(text, reading.lang):
        return frozenset()
    names_thing = all(cover_of(word, prepare_text(text)) >= SAID for word in read_words(thing))
    for pattern in (*_RECOMMENDS, *(_ORDERS if names_thing else ())):
        for found in pattern.finditer(text):
            words = read_words(found["object"])
            keys = frozenset(word.key for word in words if word.key not in reading.word_keys and not _GENERAL.fullmatch(word.text))
            if keys and len(words) <= MAX_OBJECT_WORDS:
                return keys
    return frozenset()


def _names_another(first: _Statement, second: _Statement) -> bool:
    """Neither sentence says anything of what the other recommends."""
    said = [{word.key for word in read_words(statement.candidate.text)} for statement in (first, second)]
    return not first.object_keys & said[1] and not second.object_keys & said[0]
