"""The index of ACL sets of each tenant, kept per process and checked against the database at every use."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rag4c.kernel.grant import Sensitivity
from tenants.acl import AclSpec
from tenants.bitmap import AclIndex
from tenants.models import AclSet

if TYPE_CHECKING:
    import uuid

    from rag4c.kernel.grant import Grant

MAX_TENANTS: Final = 32  # an index of 50,000 sets takes about 20 MB


@dataclass
class _Kept:
    lock: threading.Lock = field(default_factory=threading.Lock)
    index: AclIndex = field(default_factory=AclIndex)
    highest_id: uuid.UUID | None = None


class AclIndexCache:
    """Sets are interned once and never changed, so a kept index is right as far as it goes, whatever else the access revision counted. One query
    finds what was added since, together with the highest set that is known: is that another row by now (its transaction was rolled back and the
    number given again), all is read anew."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[uuid.UUID, _Kept] = OrderedDict()

    def allowed(self, grant: Grant) -> frozenset[int]:
        """Numbers of the sets that the grant satisfies. One query, inside a scope."""
        with self._lock:
            kept = self._kept.setdefault(grant.tenant_id, _Kept())
            self._kept.move_to_end(grant.tenant_id)
            while len(self._kept) > MAX_TENANTS:
                self._kept.popitem(last=False)
        with kept.lock:
            _refresh(kept)
            return kept.index.allowed(grant)


def _refresh(kept: _Kept) -> None:
    known = kept.highest_id
    rows = _read_from(max(kept.index.size - 1, 0))
    if known is not None and (not rows or rows[0][1] != known):
        kept.index, kept.highest_id, known = AclIndex(), None, None
        rows = _read_from(0)
    new = rows if known is None else rows[1:]
    if new:
        kept.index.add((number, AclSpec(frozenset(names), Sensitivity(level), purpose)) for number, _, names, level, purpose in new)
        kept.highest_id = new[-1][1]


def _read_from(number: int) -> list[tuple[int, uuid.UUID, list[str], int, str]]:
    fields = ("number", "id", "principals", "sensitivity", "purpose")
    return list(AclSet.objects.filter(number__gte=number).order_by("number").values_list(*fields))


ACL_INDEX: Final = AclIndexCache()
