"""Whether two sentences speak of the same subject: what the question names, what a table row is about, words for the same event."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from verification.rules.extract_cover import Candidate, context_of, title_of
from verification.rules.extract_sentences import RECORD, ROW
from verification.rules.lexicon_words import Word, cover_of, prepare_text, read_words, stem_word

if TYPE_CHECKING:
    from verification.rules.question import QuestionReading

SAID, MISSING = 0.75, 0.5  # cover of a word that is there, and below which it is not
# Words for one event or thing. "How long is it kept" and "when is it deleted" have one answer. Wider than synonyms: only for finding rivals.
_FAMILIES = (
    "keep kept retain store hold save stay remain delete remove purge erase wipe destroy dispose discard 保留 保存 留存 存储 存放 删除 清除 销毁 清理 移除",
    "data content information record file material 数据 内容 信息 资料 记录 档案",
    "end cancel cancellation close closure terminate termination expire leave quit deactivate 结束 取消 注销 终止 关闭 停用 到期 离职",
    "request apply application ask submit file 申请 提交 提出",
    "answer reply respond response 回复 答复 响应",
    "reimburse reimbursement refund repay claim 报销 退款 偿还",
    "allow permit authorise authorize approve may can 允许 准许 可以 批准 许可",
)


def _family_index() -> dict[str, frozenset[int]]:
    index: dict[str, set[int]] = {}
    for number, line in enumerate(_FAMILIES):
        for word in line.split():
            index.setdefault(stem_word(word) if word.isascii() else word, set()).add(number)
    return {key: frozenset(numbers) for key, numbers in index.items()}


_FAMILY_OF = _family_index()


@lru_cache(maxsize=8_192)
def family_keys(text: str) -> frozenset[str]:
    """The words of a text, each member of a family under one key."""
    keys: set[str] = set()
    for word in read_words(text):
        if not word.is_number:
            keys.update(f"#{number}" for number in _FAMILY_OF[word.key]) if word.key in _FAMILY_OF else keys.add(word.key)
    return frozenset(keys)


def family_share(a: str, b: str) -> float:
    """Words in common over the shorter of two texts, members of a family counted as one word."""
    first, second = family_keys(a), family_keys(b)
    return len(first & second) / min(len(first), len(second)) if first and second else 0.0


def covers_word(word: Word, text: str) -> float:
    """As `cover_of`, with the words for the same event counted too."""
    plain = cover_of(word, prepare_text(text))
    if plain >= SAID or word.key not in _FAMILY_OF:
        return plain
    return SAID if any(f"#{number}" in family_keys(text) for number in _FAMILY_OF[word.key]) else plain


def carries_names(reading: QuestionReading, chosen: Candidate) -> bool:
    """Whether the passage of the chosen sentence carries every name of the question; else the sentence is about something else."""
    there = context_of(chosen.passage)
    return all(covers_word(word, there) >= MISSING for word in reading.words if word.is_name)


def same_row_subject(reading: QuestionReading, chosen: Candidate, other: Candidate) -> bool:
    """Rows of a table are about what their first cell names; prose is held against that cell as far as the question names it."""
    mine, theirs = (row_label(candidate) for candidate in (chosen, other))
    if mine and theirs:
        return family_keys(mine) == family_keys(theirs)
    if not mine and not theirs:
        return True
    label, prose = (mine, other) if mine else (theirs, chosen)
    asked = [word for word in reading.words if cover_of(word, prepare_text(label)) >= SAID]
    return all(covers_word(word, said_with(prose)) >= MISSING for word in asked)


def row_label(candidate: Candidate) -> str:
    """First cell of a table row, or the subject of a "Subject · Field: value" line."""
    return candidate.text.split(" · ", 1)[0] if candidate.unit.kind in {ROW, RECORD} and " · " in candidate.text else ""


def said_with(candidate: Candidate) -> str:
    """The sentence with its lead-in, headings and document."""
    return "\n".join((title_of(candidate.passage), candidate.near))


def lost_words(reading: QuestionReading, chosen: Candidate, other: Candidate) -> list[Word]:
    """Words of the question that the chosen sentence says itself and the other neither says nor stands under.

    Inside one document the headings do not tell two sentences apart, so there the sentence has to say them.
    """
    is_same_document = other.passage.document_id == chosen.passage.document_id
    theirs = other.text if is_same_document else said_with(other)
    mine = prepare_text(chosen.text)
    return [word for word in reading.words if cover_of(word, mine) >= SAID and covers_word(word, theirs) < MISSING]


def names_other(reading: QuestionReading, chosen: Candidate, other: Candidate) -> bool:
    """Whether the other sentence names somebody or something that neither the question nor the chosen sentence does."""
    known = {*reading.word_keys, *(word.key for word in read_words(said_with(chosen)))}
    return any(word.is_name and word.key not in known for word in read_words(other.text))
