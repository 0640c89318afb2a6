"""Why there is no answer, in words: each reason code with its sentence, what to do next, and what is shown beside it (ui.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTHING, TITLES, PASSAGES = "nothing", "titles", "passages"


@dataclass(frozen=True, slots=True)
class Words:
    """One sentence in the languages of the product."""

    english: str
    chinese: str

    def say(self, language: str, detail: Mapping[str, str] | None = None) -> str:
        template = self.chinese if language.startswith("zh") else self.english
        return template.format_map(_Detail(detail or {}))


@dataclass(frozen=True, slots=True)
class Reason:
    """shows: what is shown of the nearest passages: nothing, their titles, or their text."""

    code: str
    sentence: Words
    next_step: Words
    shows: str = NOTHING


class _Detail(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "…"


_CHECK_AGAIN = Words("Ask again after the source has been read and published anew.", "请在该来源重新读取并发布后再提问。")
_READ_PASSAGES = Words(
    "Read the nearest passages below and judge for yourself, or ask in other words.",
    "请查看下方最接近的段落自行判断，或换一种说法提问。",
)
REASONS: Final[dict[str, Reason]] = {
    reason.code: reason
    for reason in (
        Reason(
            "no_corpus",
            Words("Nothing has been published here yet.", "这里还没有发布任何内容。"),
            Words("Ask whoever looks after the documents in your organisation to publish them.", "请联系本单位负责文档的人员发布内容。"),
        ),
        Reason(
            "no_evidence",
            Words("No published document you can read answers this.", "您可阅读的已发布文档中没有相关内容。"),
            Words("Ask in other words, or suggest a document to the steward.", "请换一种说法提问，或向文档负责人建议补充文档。"),
        ),
        Reason(
            "low_retrieval",
            Words("Some documents come near, none near enough to rely on.", "有相近的文档，但不足以作为依据。"),
            Words("Name the subject more exactly, or look into the documents below.", "请更明确地说明主题，或查看下列文档。"),
            TITLES,
        ),
        Reason(
            "unsupported_attribute",
            Words("The documents mention {subject}, but not {attribute}.", "文档提到了{subject}，但没有说明{attribute}。"),
            Words("Suggest to the steward that this be added.", "请建议文档负责人补充这一内容。"),
        ),
        Reason(
            "conflicting_evidence",
            Words("Your documents disagree on this.", "文档之间的说法不一致。"),
            Words("Compare both sides, and report it to the owners of the documents.", "请比较双方的说法，并告知文档的负责人。"),
        ),
        Reason("source_changed", Words("A source changed after it was published.", "来源在发布后发生了变化。"), _CHECK_AGAIN),
        Reason("index_outdated", Words("The folder has changed since it was last read.", "资料夹在上次读取后发生了变化。"), _CHECK_AGAIN),
        Reason(
            "low_entailment",
            Words("The passages found do not carry a reliable answer.", "找到的内容不足以支持可靠的回答。"),
            _READ_PASSAGES,
            PASSAGES,
        ),
        Reason(
            "does_not_answer",
            Words("The passages are on the topic but do not answer the question.", "内容相关，但没有回答这个问题。"),
            _READ_PASSAGES,
            PASSAGES,
        ),
        Reason(
            "unsupported_claims",
            Words("What could be written is not supported by the sources.", "可写出的内容没有得到来源支持。"),
            _READ_PASSAGES,
            PASSAGES,
        ),
        Reason(
            "verification_unavailable",
            Words("The answer could not be checked just now.", "暂时无法核验答案。"),
            Words("Try again in a moment; nothing unchecked is shown.", "请稍后再试；未经核验的内容不会显示。"),
        ),
        Reason(
            "chunk_settings_changed",
            Words("The documents were prepared under settings that are no longer in force.", "文档是按已失效的设置处理的。"),
            Words("They have to be processed again; tell the steward.", "需要重新处理这些文档；请告知文档负责人。"),
        ),
        Reason(
            "prompt_budget",
            Words("The passages this question needs do not fit into one answer.", "这个问题所需的内容超出了一次回答的容量。"),
            Words("Ask about one thing at a time.", "请一次只问一件事。"),
        ),
    )
}
_OTHER: Final = Reason(
    "",
    Words("There is no answer that could be relied on.", "没有可以依赖的答案。"),
    Words("Ask in other words, or ask the steward of the documents.", "请换一种说法提问，或咨询文档负责人。"),
)


def find_reason(code: str) -> Reason:
    """The words of a code; a code without words of its own gets general ones, and the page shows the code beside them."""
    return REASONS.get(code, _OTHER)
