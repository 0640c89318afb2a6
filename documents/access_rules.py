"""Pure rules of who reads a file: its own list, else the template of the longest prefix, else the readers of its source (SYS-G5, GOV-B6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from documents.identity import normalize_relative_path

if TYPE_CHECKING:
    from collections.abc import Mapping

ACL_MODES: Final = ("none", "template", "posix", "manifest")
USES_TEMPLATES: Final = frozenset({"template", "manifest"})
USES_READERS: Final = frozenset({"none", "template"})
MISSING: Final = "acl_missing"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OwnAcl(Generic[T]):
    """What the source itself says of one file. fault: why that is unknown; neither: the file has no list of its own."""

    known: T | None = None
    fault: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Choice(Generic[T]):
    """Who reads a file. acl: None means nobody. origin: as AclAssignment.origin. code: why nobody, or ""."""

    origin: str
    acl: T | None
    code: str = ""
    sentence: str = ""


def normalize_prefix(prefix: str) -> str:
    """A folder or file below the source root, without a slash at its ends.

    Raises: Invalid with empty_path, absolute_path, parent_path, ignored_name, name_not_utf8, name_too_long or bad_name.
    """
    return normalize_relative_path(prefix)


def find_template(path: str, templates: Mapping[str, T]) -> T | None:
    """The template whose prefix is the longest; prefixes end where a path segment ends: `hr` is none of `hr-private/x.md`.

    Args: path, and the keys of templates: normalised relative paths.
    """
    while path:
        if path in templates:
            return templates[path]
        path = path.rpartition("/")[0]
    return None


def choose_readers(mode: str, own: OwnAcl[T], template: T | None, readers: T) -> Choice[T]:
    """Which set a file gets. What the source says goes first; when that cannot be known, nobody reads, whatever templates say (GOV-B6)."""
    if own.fault:
        return Choice("denied", None, own.fault, own.sentence)
    if own.known is not None:
        return Choice("own", own.known)
    if mode in USES_TEMPLATES and template is not None:
        return Choice("template", template)
    if mode in USES_READERS:
        return Choice("readers", readers)
    return Choice("denied", None, MISSING, "The source says nothing about this file, and no template covers it. Nobody may read it.")
