"""Direction words and bounds: more against less, before against after, at least against at most."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verification.rules.entailment_clauses import read_clauses
from verification.rules.entailment_text import stem_word
from verification.rules.numbers import covers_quantity, read_quantities
from verification.rules.word_list import words

if TYPE_CHECKING:
    from verification.rules.entailment_text import Sentence
    from verification.rules.numbers import Quantity

_ENGLISH_PAIRS = (
    (
        "increase increases increased increasing rise rises rose raise raised grow grew growth elevate elevated "
        "upregulate enhance enhances enhanced gain up higher",
        "decrease decreases decreased decreasing reduce reduces reduced reduction fall falls fell drop dropped "
        "decline declined lower lowered shrink diminish diminished down",
    ),
    ("more greater larger higher longer above", "less fewer smaller lower shorter below"),
    ("before prior earlier preceding", "after following later subsequent"),
    ("first", "last"),
    ("open opens opened", "close closes closed"),
    ("start starts started begin begins began beginning", "end ends ended finish finishes finished"),
    ("include includes included including inclusive", "exclude excludes excluded excluding exclusive"),
    ("internal inside", "external outside"),
    ("maximum", "minimum"),
    ("early", "late"),
    ("win wins won", "lose loses lost"),
    ("accept accepts accepted approve approves approved approval", "reject rejects rejected refuse refused decline declined"),
    ("enable enabled enables", "disable disabled disables"),
    ("import imports imported", "export exports exported"),
    ("buy buys bought purchase", "sell sells sold"),
    (
        "promote promotes promoted activate activates activated stimulate",
        "inhibit inhibits inhibited suppress suppresses suppressed block blocked prevent prevented",
    ),
    ("positive positively", "negative negatively"),
    ("north northern", "south southern"),
    ("east eastern", "west western"),
    ("left", "right"),
    ("always", "never"),
    ("full-time", "part-time"),
    ("public", "private"),
    ("male man men", "female woman women"),
    ("son", "daughter"),
    ("father", "mother"),
    ("brother", "sister"),
    ("husband", "wife"),
    ("success successful succeeded", "failure unsuccessful failed"),
    ("high", "low"),
    ("best", "worst"),
    ("better", "worse"),
    ("upper", "lower"),
    ("weekday weekdays", "weekend weekends"),
    ("morning", "evening"),
    ("front", "back rear"),
    ("domestic", "international foreign"),
    ("hot", "cold"),
    ("summer", "winter"),
    ("day daytime", "night nighttime"),
    ("full", "partial"),
    ("incoming inbound", "outgoing outbound"),
    ("old", "new"),
    ("employer", "employee"),
    ("landlord", "tenant"),
    ("lend lender", "borrow borrower"),
    ("temporary", "permanent"),
)
_CHINESE_PAIRS = (
    ("增加 增长 提高 上升 上涨 上调 提升 扩大 升高 加快 增多", "减少 降低 下降 下跌 下调 缩小 减小 减慢 下滑 缩减"),
    ("以上 高于 超过 多于 大于 不低于 不少于", "以下 低于 少于 小于 不足 不超过 不高于"),
    ("之前 以前 早于 前", "之后 以后 晚于 后"),
    ("至少 最少 最低 起码 不少于 不低于", "至多 最多 最高 不超过"),
    ("开始 开放 开启", "结束 关闭 停止"),
    ("以内 内", "以外 外"),
    ("包括 包含 含", "不包括 不包含 除外 不含"),
    ("批准 同意 通过", "拒绝 否决 驳回"),
    ("优于 好于", "劣于 差于"),
    ("内部", "外部"),
    ("启用", "停用 禁用"),
    ("进口", "出口"),
    ("买入 购买", "卖出 出售"),
    ("最大", "最小"),
    ("提前", "推迟 延后 延迟"),
    ("男", "女"),
    ("父亲", "母亲"),
    ("儿子", "女儿"),
    ("哥哥", "姐姐"),
    ("胜利 获胜", "失败 落败"),
    ("公开", "保密"),
    ("工作日", "周末"),
    ("国内", "国际 国外"),
    ("上午", "下午"),
    ("白天", "夜间"),
    ("正式", "临时"),
    ("夏季", "冬季"),
    ("长于", "短于"),
    ("全部", "部分"),
    ("东", "西"),
    ("南", "北"),
)
# Bound words before and after a quantity: 至少30天, 30天以上
_BOUNDS_BEFORE = (
    ("AT_LEAST", r"at least|no(?:t)? (?:less|fewer|earlier) than|(?:a )?minimum(?: of)?|至少|最少|最低|不少于|不低于|不早于"),
    (
        "AT_MOST",
        r"at most|no(?:t)? (?:more|later) than|up to|(?:a )?maximum(?: of)?|(?:not|never) (?:to )?exceed(?:ing)?|within|至多|最多|最高|不超过|不多于|不高于|不晚于|不迟于",
    ),
    ("MORE", r"more than|over|above|exceed(?:s|ed|ing)?|greater than|longer than|after|超过|多于|大于|高于|逾"),
    ("LESS", r"less than|fewer than|under|below|shorter than|before|不足|少于|小于|低于|未满|不满"),
)
_BOUNDS_AFTER = (
    ("AT_LEAST", r"or more|(?:at )?minimum|及以上|以上|起(?=$|[，。])"),
    ("AT_MOST", r"or less|or fewer|(?:at )?maximum|及以下|以下|以内|之内|内"),
    ("MORE", r"后|之后|以后"),
    ("LESS", r"前|之前|以前"),
)


def _compile_bounds(rows: tuple[tuple[str, str], ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(rf"(?:\b|(?<=[\u4e00-\u9fff]))(?:{pattern})(?![a-z])", re.I)) for name, pattern in rows)


_BEFORE_PATTERNS, _AFTER_PATTERNS = _compile_bounds(_BOUNDS_BEFORE), _compile_bounds(_BOUNDS_AFTER)
# Content words to either side of a direction word that say what it is about
COMPANY_WORDS = 3
_UNTIL = re.compile(r"(?:\b(?:to|until|till)|至|到|[-–—~]) ?$", re.I)
_UPWARD, _DOWNWARD = frozenset({"AT_LEAST", "MORE"}), frozenset({"AT_MOST", "LESS"})


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem_word(word) for word in words(text))


_STEM_PAIRS = tuple((_stems(one), _stems(other)) for one, other in _ENGLISH_PAIRS)
_HAN_PAIRS = tuple((words(one), words(other)) for one, other in _CHINESE_PAIRS)


def find_direction_fault(claim: Sentence, evidence: Sentence) -> str:
    """`direction_differs` when the claim goes one way and the evidence sentence only the other, or empty."""
    ours, theirs = _all_stems(claim), _all_stems(evidence)
    for one, other in _STEM_PAIRS:
        if _differs(bool(ours & one), bool(ours & other), bool(theirs & one), bool(theirs & other)) and _share_company(claim, evidence, one | other):
            return "direction_differs"
    our_words, their_words = {token.text for token in claim.tokens}, {token.text for token in evidence.tokens}
    for one_words, other_words in _HAN_PAIRS:
        sides = [_holds(claim.text, our_words, one_words, other_words), _holds(evidence.text, their_words, one_words, other_words)]
        if _differs(*sides[0], *sides[1]):
            return "direction_differs"
    return ""


def find_clause_fault(claim: Sentence, evidence: Sentence) -> str:
    """`direction_differs` when the clause of a quantity opens in the claim and closes in the evidence, though both words are in the sentence."""
    theirs = read_clauses(evidence.text)
    for clause in read_clauses(claim.text):
        same = [other for other in theirs if any(covers_quantity(held, asked) for asked in clause.quantities for held in other.quantities)]
        if same and all(_clauses_differ(clause.sentence, other.sentence) for other in same):
            return "direction_differs"
    return ""


def _clauses_differ(claim: Sentence, evidence: Sentence) -> bool:
    ours, theirs = _all_stems(claim), _all_stems(evidence)
    return any(_differs(bool(ours & one), bool(ours & other), bool(theirs & one), bool(theirs & other)) for one, other in _STEM_PAIRS)


def _share_company(claim: Sentence, evidence: Sentence, pair: frozenset[str]) -> bool:
    """Whether the two direction words stand by a common word, so that they speak of the same thing."""
    return bool(_read_company(claim, pair) & _read_company(evidence, pair))


def _read_company(sentence: Sentence, pair: frozenset[str]) -> set[str]:
    content = [token for token in sentence.tokens if token.content or token.stem in pair or token.text[0].isdigit()]
    near: set[str] = set()
    for place, token in enumerate(content):
        if token.stem in pair:
            near |= {other.stem for other in content[max(0, place - COMPANY_WORDS) : place + COMPANY_WORDS + 1]}
    return near - pair


def _all_stems(sentence: Sentence) -> frozenset[str]:
    return frozenset(token.stem for token in sentence.tokens)


def _differs(our_one: bool, our_other: bool, their_one: bool, their_other: bool) -> bool:  # noqa: FBT001 - two sides by two texts, read as a table
    return (our_one and not our_other and their_other and not their_one) or (our_other and not our_one and their_one and not their_other)


def _holds(text: str, tokens: set[str], one: tuple[str, ...], other: tuple[str, ...]) -> tuple[bool, bool]:
    """Which side a Chinese text has. 不超过 belongs to the other side than the 超过 in it; single characters count as whole words only."""
    masked = text
    for word in sorted((word for word in (*one, *other) if word.startswith("不")), key=len, reverse=True):
        masked = masked.replace(word, "#")

    def holds(word: str) -> bool:
        if len(word) == 1:
            return word in tokens
        return word in (text if word.startswith("不") else masked)

    return any(map(holds, one)), any(map(holds, other))


def read_bound(text: str, quantity: Quantity) -> str:
    """AT_LEAST, AT_MOST, MORE, LESS or empty: the bound word right before or right after a quantity."""
    before, after = text[max(0, quantity.start - 16) : quantity.start], text[quantity.end : quantity.end + 14]
    before = re.split(r"[,;，；。]|\band\b", before)[-1]
    after = re.split(r"[,;，；。.]|\b(?:and|before|after|over|within)\b", after)[0]
    if quantity.kind in {"time", "date"} and _UNTIL.search(before):
        return "AT_MOST"
    places = [(pattern.search(before), name) for name, pattern in _BEFORE_PATTERNS] + [
        (pattern.match(after.lstrip()), name) for name, pattern in _AFTER_PATTERNS
    ]
    return next((name for found, name in places if found), "")


def find_bound_fault(claim: Sentence, evidence: Sentence) -> str:
    """`bound_differs` when a quantity of the claim has another bound (at least, under, ...) than the same quantity in the evidence."""
    theirs = read_quantities(evidence.text)
    for quantity in read_quantities(claim.text):
        ours = read_bound(claim.text, quantity)
        bounds = {read_bound(evidence.text, held) for held in theirs if covers_quantity(held, quantity)}
        if ours and bounds and "" not in bounds and ours not in bounds and not _near(ours, bounds):
            return "bound_differs"
    return ""


def _near(ours: str, bounds: set[str]) -> bool:
    """Within 30 days and less than 30 days say the same to a reader; more than and at most never do."""
    return any({ours, bound} <= side for bound in bounds for side in (_UPWARD, _DOWNWARD))
