"""Who a document and a chunk are: ids from content and place, the same on every machine and in every run."""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Invalid, Transient

if TYPE_CHECKING:
    from collections.abc import Iterable

_ID_DIGITS = 32
_MAX_NAME_BYTES = 255
_MAX_PATH_CHARS = 1_000
_DRIVE = re.compile(r"[A-Za-z]:")


class ChunkLike(Protocol):
    """What identifies a chunk within its document."""

    @property
    def content_sha256(self) -> str: ...
    @property
    def index_text_sha256(self) -> str: ...


def document_id(kb_id: str, source_key: str, relative_path: str) -> str:
    """32 hex digits; another knowledge base, source or path is another document. The path is taken in NFC."""
    return digest_of([kb_id, source_key, normalize_relative_path(relative_path)])[:_ID_DIGITS]


def chunk_version_id(document: str, content_sha256: str, index_text_sha256: str, repeat_ordinal: int) -> str:
    """32 hex digits; lines that move leave it alone, a renamed heading changes it."""
    return digest_of([document, content_sha256, index_text_sha256, repeat_ordinal])[:_ID_DIGITS]


def chunk_version_ids(document: str, chunks: Iterable[ChunkLike]) -> tuple[str, ...]:
    """Ids of the chunks of one revision, in order; equal chunks are told apart by their repeat ordinal, from 0."""
    seen: Counter[tuple[str, str]] = Counter()
    ids = []
    for chunk in chunks:
        key = (chunk.content_sha256, chunk.index_text_sha256)
        ids.append(chunk_version_id(document, *key, seen[key]))
        seen[key] += 1
    return tuple(ids)


def normalize_relative_path(path: str) -> str:
    """`path` in NFC with single slashes. Fails closed on what is not a plain path below the source root.

    Raises: Invalid with empty_path, absolute_path, parent_path, ignored_name, name_not_utf8, name_too_long or bad_name.
    """
    if not path or path in {".", "./"}:
        raise Invalid("empty_path", "A document needs a path below its source.")
    if path.startswith(("/", "\\", "~/")) or _DRIVE.match(path):
        raise Invalid("absolute_path", "The path must be relative to the source.")
    if any("\ud800" <= char <= "\udfff" for char in path):
        raise Invalid("name_not_utf8", "The name is not UTF-8. Rename the file.")
    parts = [part for part in unicodedata.normalize("NFC", path).split("/") if part not in {"", "."}]
    for part in parts:
        _check_part(part)
    if len("/".join(parts)) > _MAX_PATH_CHARS * 4:
        raise Invalid("name_too_long", "The path is too long. Move the file up or shorten its folders.")
    return "/".join(parts)


def _check_part(part: str) -> None:
    if part == ".." or part.startswith("..\\") or "\\..\\" in part or part.endswith("\\.."):
        raise Invalid("parent_path", "The path must not leave the source.")
    if "\x00" in part:
        raise Invalid("bad_name", "The name holds a NUL character.")
    if len(part.encode()) > _MAX_NAME_BYTES:
        raise Invalid("name_too_long", f"A name has more than {_MAX_NAME_BYTES} bytes. Shorten it.")
    if is_ignored_name(part):
        raise Invalid("ignored_name", "Dot files and lock files are not documents.")


def is_ignored_name(name: str) -> bool:
    """Dot files and the lock files of office programs: left out, not failures."""
    return name.startswith((".", "~$")) or name in {"Thumbs.db", "desktop.ini"}


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """One name met in a source folder. `code`: why it is refused, "" when it may be read.

    Args: relative_path: NFC; what is not UTF-8 is shown by U+FFFD. flags: name_collision_case. mtime_ns: as the file system says.
    """

    relative_path: str
    path: Path
    size_bytes: int = 0
    mtime_ns: int = 0
    code: str = ""
    flags: tuple[str, ...] = ()


def walk_folder(root: Path) -> tuple[FolderEntry, ...]:
    """All names below `root`, sorted by relative path, no link followed, refused ones with their code.

    Raises: Invalid("source_root") when root is no plain folder or cannot be read.
    """
    if root.is_symlink() or not root.is_dir():
        raise Invalid("source_root", "The source folder is not there, or is a link.")
    entries: list[FolderEntry] = []
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as names:
                found = list(names)
        except OSError as error:
            if folder == root:
                raise Invalid("source_root", "The source folder cannot be read.") from error
            entries.append(FolderEntry(_shown(folder, root), folder, code=_code_of(error)))
            continue
        for name in found:
            if name.is_dir(follow_symlinks=False) and not is_ignored_name(name.name):
                waiting.append(Path(name.path))
            else:
                entries.append(_entry_of(name, root))
    return _mark_twins(sorted(entries, key=lambda entry: (entry.relative_path, os.fsencode(entry.path))))


def _entry_of(name: os.DirEntry[str], root: Path) -> FolderEntry:
    path = Path(name.path)
    shown = _shown(path, root)
    if is_ignored_name(name.name):
        return FolderEntry(shown, path, code="ignored_name")
    if name.is_symlink():
        return FolderEntry(shown, path, code="symlink")
    try:
        info = name.stat(follow_symlinks=False)
        normalize_relative_path(path.relative_to(root).as_posix())
    except OSError as error:
        return FolderEntry(shown, path, code=_code_of(error))
    except Invalid as error:
        return FolderEntry(shown, path, code=error.code)
    code = "" if stat.S_ISREG(info.st_mode) else "not_regular_file"
    if not code and not os.access(path, os.R_OK):
        code = "permission_denied"
    return FolderEntry(shown, path, info.st_size, info.st_mtime_ns, code)


def _shown(path: Path, root: Path) -> str:
    raw = os.fsencode(path.relative_to(root).as_posix())
    return unicodedata.normalize("NFC", raw.decode("utf-8", "replace"))


def _code_of(error: OSError) -> str:
    return {errno.EACCES: "permission_denied", errno.EPERM: "permission_denied", errno.ENAMETOOLONG: "name_too_long"}.get(
        error.errno or 0, "unreadable"
    )


def _mark_twins(entries: list[FolderEntry]) -> tuple[FolderEntry, ...]:
    """Of names that are equal in NFC only the NFC one is a document (they would share one id); a case pair is two documents."""
    kept = {entry.relative_path for entry in entries if not entry.code and _is_nfc(entry)}
    folded = Counter(entry.relative_path.casefold() for entry in entries if not entry.code and _is_nfc(entry))
    marked = []
    for entry in entries:
        if not entry.code and not _is_nfc(entry) and entry.relative_path in kept:
            marked.append(replace(entry, code="name_collision_nfc"))
            continue
        if not entry.code and not _is_nfc(entry):
            kept.add(entry.relative_path)
        has_pair = not entry.code and folded[entry.relative_path.casefold()] > 1
        marked.append(replace(entry, flags=("name_collision_case",)) if has_pair else entry)
    return tuple(marked)


def _is_nfc(entry: FolderEntry) -> bool:
    return entry.path.as_posix().endswith(entry.relative_path)


def read_stable(path: Path, *, attempts: int = 3) -> bytes:
    """The bytes of a regular file that did not change while it was read; a link is never followed.

    Raises: Invalid with symlink, not_regular_file, permission_denied or unreadable; Transient("source_changing").
    """
    for _attempt in range(attempts):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise Invalid("symlink" if error.errno == errno.ELOOP else _code_of(error), "The file cannot be opened.") from error
        with os.fdopen(descriptor, "rb") as source:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise Invalid("not_regular_file", "Only regular files are read.")
            data = source.read()
            if _same(before, os.fstat(descriptor)) and len(data) == before.st_size and _still_names(path, before):
                return data
    raise Transient("source_changing", "The file changes while it is read; the next sync tries again.")


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_ino, one.st_dev, one.st_size, one.st_mtime_ns) == (other.st_ino, other.st_dev, other.st_size, other.st_mtime_ns)


def _still_names(path: Path, info: os.stat_result) -> bool:
    try:
        return _same(info, path.stat(follow_symlinks=False))
    except OSError:
        return False
