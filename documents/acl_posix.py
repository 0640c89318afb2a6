"""Owner, group, mode bits and POSIX ACL of a file as lists of who may (acl(5)). Entries that deny are not modelled: they deny everybody (GOV-B6)."""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

READ, TRAVERSE = 4, 1
_XATTR: Final = "system.posix_acl_access"
_VERSION: Final = 2  # linux/posix_acl_xattr.h
_USER_OBJ, _USER, _GROUP_OBJ, _GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_NO_XATTR: Final = frozenset({errno.ENODATA, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
EVERYBODY: Final = "*"


class UnknownListError(ValueError):
    """The list cannot be read or says what we cannot express; the text is a sentence for the report."""


@dataclass(frozen=True, slots=True)
class PosixEntry:
    """One entry. Args: kind: `owner`, `user`, `group` or `other`. number: uid or gid, -1 for other. bits: what it allows, mask applied."""

    kind: str
    number: int
    bits: int


def read_entries(path: Path) -> tuple[PosixEntry, ...]:
    """The entries of a file or folder; a link is never followed. Raises: UnknownListError."""
    try:
        info = path.stat(follow_symlinks=False)
    except OSError as error:
        raise UnknownListError("Its owner and mode cannot be read.") from error
    if not (stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)):
        raise UnknownListError("Only regular files and folders have readers.")
    try:
        data = os.getxattr(path, _XATTR, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_XATTR:
            raise UnknownListError("Its access control list cannot be read.") from error
        return entries_of_mode(info.st_mode, info.st_uid, info.st_gid)
    return decode_entries(data, info.st_uid, info.st_gid)


def entries_of_mode(mode: int, uid: int, gid: int) -> tuple[PosixEntry, ...]:
    """The three entries that mode bits are."""
    return PosixEntry("owner", uid, mode >> 6 & 7), PosixEntry("group", gid, mode >> 3 & 7), PosixEntry("other", -1, mode & 7)


def decode_entries(data: bytes, uid: int, gid: int) -> tuple[PosixEntry, ...]:
    """The entries in an attribute `system.posix_acl_access`. Raises: UnknownListError for bytes that are none."""
    if len(data) < 4 or (len(data) - 4) % 8 or struct.unpack_from("<I", data)[0] != _VERSION:
        raise UnknownListError("Its access control list has a form that is not known.")
    rows = list(struct.iter_unpack("<HHI", data[4:]))
    tags = [tag for tag, _, _ in rows]
    named = {_USER_OBJ: ("owner", uid), _GROUP_OBJ: ("group", gid), _OTHER: ("other", -1)}
    if any(tags.count(tag) != 1 for tag in named) or tags.count(_MASK) > 1 or not set(tags) <= {*named, _USER, _GROUP, _MASK}:
        raise UnknownListError("Its access control list is not complete.")
    mask = next((bits for tag, bits, _ in rows if tag == _MASK), 7)
    entries = []
    for tag, bits, number in rows:
        if tag == _MASK:
            continue
        kind, key = named.get(tag, ("user" if tag == _USER else "group", number))
        entries.append(PosixEntry(kind, key, bits if tag in (_USER_OBJ, _OTHER) else bits & mask))
    return tuple(entries)


def check_no_denial(entries: tuple[PosixEntry, ...], bit: int) -> None:
    """acl(5) takes the most specific entry: a user or group that it refuses may be let in by none that is less specific.

    Raises: UnknownListError when an entry refuses somebody whom a less specific one could let in.
    """
    lets = {entry.kind for entry in entries if entry.bits & bit}
    refuses = {entry.kind for entry in entries if not entry.bits & bit}
    if refuses & {"owner", "user"} and lets & {"group", "other"}:
        raise UnknownListError("It refuses a user whom a group or everybody else would let in; such lists are read as: nobody.")
    if "group" in refuses and "other" in lets:
        raise UnknownListError("It refuses a group but lets everybody else in; such lists are read as: nobody.")


def find_principals(entries: tuple[PosixEntry, ...], bit: int, mapping: Mapping[tuple[str, str], str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """(principals that may, users and groups that may but are nobody here). Raises: UnknownListError."""
    check_no_denial(entries, bit)
    found, unmapped = set(), []
    for entry in entries:
        if not entry.bits & bit:
            continue
        kind = "user" if entry.kind == "owner" else entry.kind
        names = _names_of(kind, entry.number)
        principal = next((mapping[kind, name] for name in names if (kind, name) in mapping), None)
        if principal is None:
            unmapped.append(f"{kind} {names[-1]}" if kind != "other" else "everybody else")
        else:
            found.add(principal)
    return frozenset(found), tuple(unmapped)


def _names_of(kind: str, number: int) -> tuple[str, ...]:
    """A mapping by number goes before one by name."""
    if kind == "other":
        return (EVERYBODY,)
    try:
        name = pwd.getpwuid(number).pw_name if kind == "user" else grp.getgrgid(number).gr_name
    except (KeyError, OverflowError):
        return (str(number),)
    return str(number), name


def lets_everybody(entries: tuple[PosixEntry, ...], bit: int) -> bool:
    """Whether nobody is kept out, so that a folder narrows nothing. Raises: UnknownListError as `check_no_denial`."""
    check_no_denial(entries, bit)
    return any(entry.kind == "other" and entry.bits & bit for entry in entries)
