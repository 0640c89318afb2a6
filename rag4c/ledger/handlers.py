"""Which handler wants which event. Filled by `rag4c.wiring`; the ledger knows no other app."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

# event code -> {handler name: function(tenant_id, subject_id)}
_HANDLERS: Final[dict[str, dict[str, Callable[[str, str], None]]]] = defaultdict(dict)


def subscribe(code: str, name: str, handler: Callable[[str, str], None]) -> None:
    _HANDLERS[code][name] = handler


def handlers_of(code: str) -> dict[str, Callable[[str, str], None]]:
    return _HANDLERS.get(code, {})


def find_handler(code: str, name: str) -> Callable[[str, str], None] | None:
    return _HANDLERS.get(code, {}).get(name)
