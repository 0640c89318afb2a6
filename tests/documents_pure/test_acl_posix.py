"""Owner, group, mode and POSIX ACL entries (acl(5)), and who of ours they are (SYS-G5, GOV-B6)."""

from __future__ import annotations

import os
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.acl_posix import (
    READ,
    TRAVERSE,
    PosixEntry,
    UnknownListError,
    decode_entries,
    entries_of_mode,
    find_principals,
    lets_everybody,
    read_entries,
)

USER_OBJ, USER, GROUP_OBJ, GROUP, MASK, OTHER, NOBODY = 1, 2, 4, 8, 16, 32, 0xFFFFFFFF
MAPPING = {
    ("user", "1000"): "user:alice",
    ("user", "1001"): "user:bob",
    ("group", "2000"): "group:hr",
    ("group", "2001"): "group:it",
    ("other", "*"): "tenant:*",
}


def packed(*rows):
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)


def readers(mode, uid=1000, gid=2000, mapping=MAPPING):
    return find_principals(entries_of_mode(mode, uid, gid), READ, mapping)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [(0o640, {"user:alice", "group:hr"}), (0o600, {"user:alice"}), (0o644, {"user:alice", "group:hr", "tenant:*"}), (0o000, set()), (0o200, set())],
)
def test_SYS_G5_mode_bits(mode, expected):
    assert readers(mode) == (frozenset(expected), ())


def test_GOV_B6_whoever_is_not_mapped_reads_nothing():
    assert readers(0o640, uid=4_000_000, gid=2000) == (frozenset({"group:hr"}), ("user 4000000",))
    assert readers(0o644, 4_000_001, 4_000_002, {}) == (frozenset(), ("user 4000001", "group 4000002", "everybody else"))


@pytest.mark.parametrize("mode", [0o040, 0o004, 0o044, 0o604])
def test_GOV_B6_entry_that_refuses_whom_another_would_let_in_is_read_as_nobody(mode):
    with pytest.raises(UnknownListError):
        readers(mode)


def test_SYS_G5_names_of_the_system_map_too_and_numbers_go_first():
    assert find_principals(entries_of_mode(0o400, 0, 0), READ, {("user", "root"): "user:alice"})[0] == {"user:alice"}
    both = {("user", "root"): "user:alice", ("user", "0"): "user:bob"}
    assert find_principals(entries_of_mode(0o400, 0, 0), READ, both)[0] == {"user:bob"}


def test_SYS_G5_named_entries_are_cut_by_the_mask():
    data = packed((USER_OBJ, 6, NOBODY), (USER, 6, 1001), (GROUP_OBJ, 6, NOBODY), (GROUP, 4, 2001), (MASK, 4, NOBODY), (OTHER, 0, NOBODY))
    entries = decode_entries(data, 1000, 2000)
    assert find_principals(entries, READ, MAPPING)[0] == {"user:alice", "user:bob", "group:hr", "group:it"}
    masked = decode_entries(packed((USER_OBJ, 6, NOBODY), (USER, 6, 1001), (GROUP_OBJ, 6, NOBODY), (MASK, 0, NOBODY), (OTHER, 0, NOBODY)), 1000, 2000)
    assert find_principals(masked, READ, MAPPING)[0] == {"user:alice"}


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\x02\x00\x00\x00", struct.pack("<I", 1), packed((USER_OBJ, 6, NOBODY)), packed((USER_OBJ, 6, NOBODY)) + b"\x00",
        packed((USER_OBJ, 6, 0), (GROUP_OBJ, 4, 0), (OTHER, 0, 0), (OTHER, 4, 0)), packed((USER_OBJ, 6, 0), (GROUP_OBJ, 4, 0), (OTHER, 0, 0), (64, 4, 0)),
    ],
)  # fmt: skip
def test_GOV_B6_lists_that_cannot_be_read_are_unknown(data):
    with pytest.raises(UnknownListError):
        decode_entries(data, 1000, 2000)


def posix_lets(entries, uid, gids):
    """acl(5), access check algorithm: the most specific entry decides; of group entries any that lets in."""
    if next(entry for entry in entries if entry.kind == "owner").number == uid:
        return bool(next(entry for entry in entries if entry.kind == "owner").bits & READ)
    for entry in entries:
        if entry.kind == "user" and entry.number == uid:
            return bool(entry.bits & READ)
    groups = [entry for entry in entries if entry.kind == "group" and entry.number in gids]
    if groups:
        return any(entry.bits & READ for entry in groups)
    return any(entry.kind == "other" and entry.bits & READ for entry in entries)


bits = st.sampled_from([0, 4])
lists = st.builds(
    lambda owner, group, other, users, groups: (
        PosixEntry("owner", 1000, owner), PosixEntry("group", 2000, group), PosixEntry("other", -1, other),
        *(PosixEntry("user", 1001, bit) for bit in users), *(PosixEntry("group", 2001, bit) for bit in groups)),
    bits, bits, bits, st.lists(bits, max_size=1), st.lists(bits, max_size=1),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    lists, st.sampled_from([1000, 1001, 1002]), st.frozensets(st.sampled_from([2000, 2001, 2002])), st.frozensets(st.sampled_from(sorted(MAPPING)))
)
def test_GOV_B6_nobody_reads_here_whom_the_system_would_refuse(entries, uid, gids, mapped):
    try:
        principals, _ = find_principals(entries, READ, {key: MAPPING[key] for key in mapped})
    except UnknownListError:
        return
    held = {MAPPING.get(("user", str(uid)))} | {MAPPING.get(("group", str(gid))) for gid in gids} | {"tenant:*"}
    assert posix_lets(entries, uid, gids) or not principals & held


def test_folder_that_everybody_may_pass_narrows_nothing():
    assert lets_everybody(entries_of_mode(0o755, 0, 0), TRAVERSE)
    assert not lets_everybody(entries_of_mode(0o750, 0, 0), TRAVERSE)
    with pytest.raises(UnknownListError):
        lets_everybody(entries_of_mode(0o705, 0, 0), TRAVERSE)


def test_SYS_G5_entries_of_real_files(tmp_path):
    file = tmp_path / "leave.md"
    file.write_text("x")
    file.chmod(0o640)
    assert read_entries(file) == entries_of_mode(0o640, os.getuid(), os.getgid())
    (tmp_path / "link").symlink_to(file)
    os.mkfifo(tmp_path / "pipe")
    for bad in ("link", "pipe", "gone"):
        with pytest.raises(UnknownListError):
            read_entries(tmp_path / bad)
