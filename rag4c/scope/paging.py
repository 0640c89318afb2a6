"""Keyset pages of the REST lists: `?after=<id of the last row>&limit=`; no counts, which could tell more than the grant shows."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from rag4c.kernel.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 200
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which page is asked for. after: id of the last row of the page before."""

    after: uuid.UUID | None
    limit: int


def read_page_query(query: Mapping[str, str], *, limit: int = DEFAULT_LIMIT) -> PageQuery:
    """Raises: Invalid("cursor_invalid" | "limit_invalid")."""
    text = query.get("limit", str(limit))
    if not (len(text) < 9 and text.isascii() and text.isdecimal() and 1 <= int(text) <= MAX_LIMIT):
        raise Invalid("limit_invalid", f"`limit` is a whole number from 1 to {MAX_LIMIT}.")
    return PageQuery(read_uuid(query.get("after", "")), int(text))


def read_uuid(text: str) -> uuid.UUID | None:
    """An id, or None for an empty text. Raises: Invalid("cursor_invalid")."""
    if not text:
        return None
    try:
        return uuid.UUID(text)
    except ValueError as error:
        raise Invalid("cursor_invalid", "That is not an id that a list gave out.") from error


def cut_page(rows: Sequence[Row], limit: int, get_id: Callable[[Row], uuid.UUID]) -> tuple[Sequence[Row], uuid.UUID | None]:
    """Rows of one page and the cursor of the next; `rows` were asked for with one more than `limit`."""
    if len(rows) <= limit:
        return rows, None
    return rows[:limit], get_id(rows[limit - 1])
