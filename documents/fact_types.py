"""Facts as they are read and as they are handed on, and the keys by which they are found again."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal

    from documents.fact_values import Unit
    from documents.parsing.contract import ElementDraft

_NOT_KEY = re.compile(r"[\W_]+")
_BRACKETED_END = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]\s*$")


@dataclass(frozen=True, slots=True)
class FactMapping:
    """How labels are understood; a versioned row. Groups of synonyms: the first name of a group stands for all.

    Args: non_answerable_fields: kept, but never answered as values. subject_fields: a line of such a field opens a record.
    generic_labels: headings and column heads that name no thing ("Overview", "Value").
    """

    version: str = "1"
    synonyms: tuple[tuple[str, ...], ...] = ()
    non_answerable_fields: tuple[str, ...] = (
        "raw text", "原文", "nature", "性质", "version note", "版本说明", "note", "notes", "备注", "注", "说明", "remark", "remarks", "comment", "comments",
        "example", "例如", "示例",
        "tip", "tips", "提示", "warning", "important", "caution", "注意", "see also", "source", "来源", "references",
    )  # fmt: skip
    subject_fields: tuple[str, ...] = ("主题", "对象", "subject", "topic", "item name")
    generic_labels: tuple[str, ...] = (
        "overview", "introduction", "summary", "details", "detail", "general", "general information", "information", "basic information",
        "contact", "contact us", "contents", "faq",
        "概述", "简介", "基本信息", "概况", "详情", "联系方式", "总则", "附则", "目录", "value", "values", "content", "description", "值", "内容", "描述", "具体内容", "field",
        "字段", "项目", "名称",
        "item", "name", "key", "说明", "attribute", "属性",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class FactDraft:
    """One stated value. `extract.text[span_start:span_end]` is the line or cell that states it.

    Args: value: scaled, None for text. unit: "" when not stated. origin: record_lines, inline, heading_field, definition,
    table_pair or table_cell. review_reason: why it must not answer by itself, "" when it may.
    """

    subject: str
    field: str
    subject_key: str
    field_key: str
    value_text: str
    value: Decimal | None
    unit: str
    scale: Decimal
    period: str
    row_path: str
    col_path: str
    locator: str
    span_start: int
    span_end: int
    element_seq: int
    origin: str
    review_reason: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a reader of lines or tables found, before it is keyed."""

    subject: str
    field: str
    value_text: str
    start: int
    end: int
    element: ElementDraft
    locator: str
    origin: str
    around: Unit | None = None
    row_path: str = ""
    col_path: str = ""
    review_reason: str = ""
    group: int = 0  # statements of one group are about one occurrence of a heading


DEFAULT_MAPPING = FactMapping()


def normalize_key(text: str) -> str:
    """NFKC, case folded, without white space and punctuation."""
    return _NOT_KEY.sub("", unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=8)
def _synonym_keys(mapping: FactMapping) -> dict[str, str]:
    return {normalize_key(name): normalize_key(group[0]) for group in mapping.synonyms for name in group}


@lru_cache(maxsize=32)
def key_set(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(normalize_key(name) for name in names)


def field_key(name: str, mapping: FactMapping = DEFAULT_MAPPING) -> str:
    """The key of a field: its bracketed unit left out, synonyms applied."""
    key = normalize_key(_BRACKETED_END.sub("", name)) or normalize_key(name)
    return _synonym_keys(mapping).get(key, key)
