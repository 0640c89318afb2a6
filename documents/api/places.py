"""From a span of the canonical text to the locator that people read: exact lines where the text is the source, else the elements it touches."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from documents.locators import line_range, parse_locator, print_locator
from documents.models import Element, ParseAttempt, RevisionChunk
from documents.parsing.lines import LineIndex
from rag4c.kernel.errors import Absent
from rag4c.scope.manager import scope

if TYPE_CHECKING:
    import uuid
    from collections.abc import Collection, Sequence

    from rag4c.kernel.grant import Grant

__all__ = ["SOURCE_IS_TEXT", "locate_spans", "places_covering"]
SOURCE_IS_TEXT: Final = frozenset({"text/plain", "text/markdown"})  # the canonical text is the decoded source itself


def locate_spans(*, grant: Grant, spans: Sequence[tuple[uuid.UUID, int, int]]) -> list[str]:
    """A locator for each (revision chunk, start, end); code points of the parse that the revision chunk stands in.

    Raises: Absent("place") for a revision chunk that is not there.
    """
    with scope(grant):
        places = {row.pk: row for row in RevisionChunk.objects.filter(pk__in={span[0] for span in spans}).select_related("parse")}
        if any(span[0] not in places for span in spans):
            raise Absent("place", "There is nothing here for you.")
        return [_locate(places[key].parse, start, end) for key, start, end in spans]


def _locate(parse: ParseAttempt, start: int, end: int) -> str:
    if parse.media_type in SOURCE_IS_TEXT:
        index = LineIndex(parse.text)
        return line_range(index.line_of(start), index.line_of(max(start, end - 1)))
    touched = Element.objects.filter(parse=parse, hidden=False, span_start__lt=end, span_end__gt=start).order_by("span_start")
    locators = [parse_locator(text) for text in touched.values_list("locator", flat=True)]
    if not locators:
        raise Absent("place", "There is nothing here for you.")
    if len(locators) == 1 or locators[0].first_line is None:
        return print_locator(locators[0])
    last = max(locator.last_line or locator.first_line or 0 for locator in locators)
    return print_locator(replace(locators[0], last_line=last, row=None, col=None, table=None))


def places_covering(*, grant: Grant, spans: Sequence[tuple[uuid.UUID, int, int]], place_ids: Collection[uuid.UUID]) -> list[uuid.UUID | None]:
    """For each (revision, start, end): the place among `place_ids` whose span holds it whole, or None."""
    by_revision: dict[uuid.UUID, list[tuple[int, int, uuid.UUID]]] = defaultdict(list)
    with scope(grant):
        rows = RevisionChunk.objects.filter(revision_id__in={span[0] for span in spans}).order_by("span_start")
        for key, revision, start, end in rows.values_list("pk", "revision_id", "span_start", "span_end"):
            if key in place_ids:
                by_revision[revision].append((start, end, key))
    return [_place_of(by_revision[revision], start, end) for revision, start, end in spans]


def _place_of(places: Sequence[tuple[int, int, uuid.UUID]], start: int, end: int) -> uuid.UUID | None:
    at = bisect_right(places, start, key=lambda place: place[0]) - 1
    return places[at][2] if at >= 0 and end <= places[at][1] else None
