"""Inverted index principal -> numbers of the ACL sets that name it. Pure: says what `acl.allowed_numbers` says, without reading every set."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

import numpy as np

from rag4c.kernel.grant import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rag4c.kernel.grant import Grant
    from tenants.acl import AclSpec

DENSE: Final = 64  # a principal in more than one of 64 sets is kept as bits: then they take less room than its numbers


class AclIndex:
    """Grows by `add`, forgets nothing: sets are append-only. Bits are Python integers, bit n for set number n."""

    def __init__(self) -> None:
        self.size = 0  # one more than the highest number
        self._postings: dict[str, array[int]] = {}
        self._dense: dict[str, int] = {}
        self._at_most: dict[Sensitivity, int] = dict.fromkeys(Sensitivity, 0)  # sets of this sensitivity or a lower one, without RESTRICTED
        self._restricted: dict[str, int] = {}  # purpose -> RESTRICTED sets that ask for it

    def add(self, sets: Iterable[tuple[int, AclSpec]]) -> None:
        """Args: sets: (number, set), each number once."""
        new = list(sets)
        self.size = max((self.size, *(number + 1 for number, _ in new)))
        for number, acl in new:
            for principal in acl.principals:
                self._postings.setdefault(principal, array("I")).append(number)
        for level in Sensitivity:
            self._at_most[level] |= self._bits_of(n for n, acl in new if acl.sensitivity <= level and acl.sensitivity < Sensitivity.RESTRICTED)
        restricted = [(number, acl.purpose) for number, acl in new if acl.sensitivity >= Sensitivity.RESTRICTED and acl.purpose]
        for purpose in {purpose for _, purpose in restricted}:  # without a named purpose nobody reads it
            bits = self._bits_of(number for number, named in restricted if named == purpose)
            self._restricted[purpose] = self._restricted.get(purpose, 0) | bits
        self._keep_dense({principal for _, acl in new for principal in acl.principals})

    def _keep_dense(self, touched: set[str]) -> None:
        for name in touched:
            if name in self._dense or len(self._postings[name]) * DENSE > self.size:
                self._dense[name] = self._bits_of(self._postings[name])

    def allowed(self, grant: Grant) -> frozenset[int]:
        """Numbers of the sets that the grant satisfies."""
        named, sparse = 0, array("I")
        for principal in grant.principals:
            if principal in self._dense:
                named |= self._dense[principal]
            else:
                sparse.extend(self._postings.get(principal, ()))
        readable = self._at_most[grant.clearance]
        if grant.clearance >= Sensitivity.RESTRICTED and grant.purpose:
            readable |= self._restricted.get(grant.purpose, 0)
        return self._numbers_of((named | self._bits_of(sparse)) & readable)

    def _bits_of(self, numbers: Iterable[int]) -> int:
        flags = np.zeros(self.size, np.bool_)
        flags[np.fromiter(numbers, np.int64)] = True
        return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")

    def _numbers_of(self, bits: int) -> frozenset[int]:
        data = np.frombuffer(bits.to_bytes((self.size + 7) // 8, "little"), np.uint8)
        return frozenset(np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist())
