"""Walking a source folder: regular files by name order, links never followed, everything else refused with its code (SYS-A2)."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from documents.identity import is_ignored_name, normalize_relative_path
from rag4c.kernel.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FoundFile", "RefusedPath", "Walk", "read_stable", "walk_folder"]
READ_ATTEMPTS: Final = 3
MAX_DEPTH: Final = 32


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file. path: relative, NFC, with forward slashes."""

    path: str
    absolute: Path
    size_bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class RefusedPath:
    """A path that is no document, with its code."""

    path: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Walk:
    """What a folder holds, both lists by path."""

    files: tuple[FoundFile, ...]
    refused: tuple[RefusedPath, ...]


def walk_folder(root: Path) -> Walk:
    """All regular files below `root`. Refusal codes: symlink, special_file, name_not_utf8, name_too_long, bad_name, case_twin, unicode_twin, too_deep."""
    files: list[FoundFile] = []
    refused: list[RefusedPath] = []
    for entry in _list_entries(root, root, 0):
        (files if isinstance(entry, FoundFile) else refused).append(entry)  # type: ignore[arg-type]  # narrowed by the condition
    kept, twins = _split_twins(files)
    return Walk(tuple(sorted(kept, key=lambda file: file.path)), tuple(sorted([*refused, *twins], key=lambda path: path.path)))


def _list_entries(folder: Path, root: Path, depth: int) -> Iterator[FoundFile | RefusedPath]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda item: item.name):
            if is_ignored_name(entry.name):
                continue
            shown = os.fsencode(os.path.relpath(entry.path, root)).decode("utf-8", "replace")
            if entry.is_symlink():
                yield RefusedPath(shown, "symlink", "Links are not followed. Put the file itself into the folder.")
            elif entry.is_dir(follow_symlinks=False):
                if depth >= MAX_DEPTH:
                    yield RefusedPath(shown, "too_deep", f"Folders are nested more than {MAX_DEPTH} deep.")
                else:
                    yield from _list_entries(Path(entry.path), root, depth + 1)
            else:
                yield _judge(entry, shown, root)


def _judge(entry: os.DirEntry[str], shown: str, root: Path) -> FoundFile | RefusedPath:
    status = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        return RefusedPath(shown, "special_file", "Only regular files can be documents.")
    try:
        path = normalize_relative_path(os.path.relpath(entry.path, root))
    except Invalid as error:
        return RefusedPath(shown, error.code, error.message)
    return FoundFile(path, Path(entry.path), status.st_size, status.st_mtime_ns)


def _split_twins(files: list[FoundFile]) -> tuple[list[FoundFile], list[RefusedPath]]:
    """Paths that differ only in case or in Unicode form would be one document on another machine: all of them are refused."""
    groups: dict[str, list[FoundFile]] = defaultdict(list)
    for file in files:
        groups[unicodedata.normalize("NFC", file.path).casefold()].append(file)
    kept, twins = [], []
    for group in groups.values():
        if len(group) == 1:
            kept.append(group[0])
            continue
        is_same_name = len({file.path for file in group}) == 1
        code, what = ("unicode_twin", "Unicode form") if is_same_name else ("case_twin", "upper and lower case")
        twins += [RefusedPath(file.path, code, f"Another file has the same name but for its {what}. Rename one of them.") for file in group]
    return kept, twins


def read_stable(path: Path) -> bytes:
    """The bytes of a file that does not change while it is read.

    Raises: Invalid("file_changing") when it changed three times, Invalid("file_unreadable").
    """
    for _ in range(READ_ATTEMPTS):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise Invalid("file_unreadable", "The file cannot be opened by the server. Check its permissions.") from error
        with os.fdopen(descriptor, "rb") as stream:
            before = os.fstat(descriptor)
            data = stream.read()
            after = os.fstat(descriptor)
        if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and len(data) == after.st_size:
            return data
    raise Invalid("file_changing", "The file changes while it is read. It is left for the next sync.")
