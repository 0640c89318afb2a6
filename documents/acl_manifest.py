"""`.rag4c-acl.json`, a list of readers beside the documents: strict, and closed where it cannot be understood (SYS-G5, GOV-B6). Pure.

    {"format": "rag4c-acl/1", "rules": [
        {"path": "pay/bonus.md", "readers": ["user:alice"], "sensitivity": "restricted", "purpose": "payroll"},
        {"glob": "pay/**", "readers": ["group:hr"], "sensitivity": "confidential"}]}

Paths are relative to the file's folder. An exact path goes before globs, of globs the first that matches counts. `*` and `?` stay within a name,
`**` stands for any folders. What makes a rule's place unclear breaks the whole file; what is wrong beside the place denies the files of that rule.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from documents.identity import normalize_relative_path
from rag4c.kernel.errors import Invalid
from rag4c.kernel.grant import Sensitivity

if TYPE_CHECKING:
    from collections.abc import Sequence

MANIFEST_NAME: Final = ".rag4c-acl.json"
FORMAT: Final = "rag4c-acl/1"
MAX_BYTES: Final = 1 << 20  # a rule takes about 100 bytes
MAX_RULES: Final = 10_000
MAX_GLOBS: Final = 1_000  # each is tried on each file
MAX_READERS: Final = 500
MAX_PURPOSE: Final = 40  # the column's
BROKEN: Final = "acl_manifest_broken"
RULE_INVALID: Final = "acl_rule_invalid"
_KEYS: Final = frozenset({"path", "glob", "readers", "sensitivity", "purpose"})
_LEVELS: Final = {level.name.lower(): level for level in Sensitivity}


@dataclass(frozen=True, slots=True)
class ManifestRule:
    """Who reads the files of one place. fault: a sentence about what is wrong with the rule; its files are read by nobody."""

    readers: tuple[str, ...] = ()
    sensitivity: Sensitivity = Sensitivity.INTERNAL
    purpose: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class AclManifest:
    """A manifest as read. fault: a sentence about why nothing in it counts."""

    exact: dict[str, ManifestRule]
    globs: tuple[tuple[tuple[str, ...], ManifestRule], ...]
    fault: str = ""

    def find_rule(self, path: str) -> ManifestRule | None:
        """The rule for a path relative to the manifest's folder, in NFC; None when it says nothing about it."""
        if path in self.exact:
            return self.exact[path]
        parts = tuple(path.split("/"))
        return next((rule for pattern, rule in self.globs if matches_glob(pattern, parts)), None)


class _BrokenError(ValueError):
    """Why the whole manifest does not count."""


def read_manifest(data: bytes) -> AclManifest:
    """The manifest in these bytes; broken ones say why in `fault` and never raise."""
    try:
        return _read(data)
    except _BrokenError as error:
        return AclManifest({}, (), str(error))
    except Invalid as error:
        return AclManifest({}, (), f"A place in it is no path below its folder. {error.message}")
    except RecursionError:
        return AclManifest({}, (), "It is nested too deeply.")
    except ValueError:  # no JSON, no UTF-8, a number of too many digits
        return AclManifest({}, (), "It is not JSON in UTF-8.")


def _read(data: bytes) -> AclManifest:
    if len(data) > MAX_BYTES:
        raise _BrokenError(f"It has more than {MAX_BYTES:,} bytes.")
    value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_refuse_constant)
    if not isinstance(value, dict) or set(value) != {"format", "rules"} or value["format"] != FORMAT:
        raise _BrokenError(f'It is an object of exactly "format": "{FORMAT}" and "rules".')
    rules = value["rules"]
    if not isinstance(rules, list) or len(rules) > MAX_RULES:
        raise _BrokenError(f'"rules" is a list of at most {MAX_RULES:,} rules.')
    exact: dict[str, ManifestRule] = {}
    globs: list[tuple[tuple[str, ...], ManifestRule]] = []
    for rule in rules:
        place, is_glob = _read_place(rule)
        if is_glob:
            globs.append((tuple(place.split("/")), _read_rule(rule)))
        elif place in exact:
            raise _BrokenError(f"Two rules are about one path: {place[:200]}.")
        else:
            exact[place] = _read_rule(rule)
    if len(globs) > MAX_GLOBS:
        raise _BrokenError(f"It has more than {MAX_GLOBS:,} globs.")
    return AclManifest(exact, tuple(globs))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise _BrokenError("A key stands twice in one object.")
    return dict(pairs)


def _refuse_constant(_name: str) -> Any:
    raise _BrokenError("It holds a number that JSON does not know.")


def _read_place(rule: Any) -> tuple[str, bool]:
    if not isinstance(rule, dict) or ("path" in rule) == ("glob" in rule):
        raise _BrokenError('A rule has either a "path" or a "glob".')
    place = rule.get("path", rule.get("glob"))
    if not isinstance(place, str):
        raise _BrokenError("A path or glob is a text.")
    return normalize_relative_path(place), "glob" in rule


def _read_rule(rule: dict[str, Any]) -> ManifestRule:
    """The rest of a rule, whose place is clear."""
    if unknown := sorted(set(rule) - _KEYS):
        return ManifestRule(fault=f"Unknown key: {unknown[0][:60]!r}.")
    readers = rule.get("readers")
    if not isinstance(readers, list) or len(readers) > MAX_READERS or not all(isinstance(word, str) for word in readers):
        return ManifestRule(fault=f'"readers" is a list of at most {MAX_READERS} texts.')
    level, purpose = rule.get("sensitivity", "internal"), rule.get("purpose", "")
    if not isinstance(level, str) or level not in _LEVELS:
        return ManifestRule(fault=f'"sensitivity" is one of {", ".join(_LEVELS)}.')
    if not isinstance(purpose, str) or len(purpose) > MAX_PURPOSE or not purpose.isprintable():
        return ManifestRule(fault=f'"purpose" is a text of at most {MAX_PURPOSE} characters.')
    if (_LEVELS[level] is Sensitivity.RESTRICTED) != bool(purpose.strip()):
        return ManifestRule(fault='"purpose" is named for restricted files, and for these only.')
    return ManifestRule(tuple(readers), _LEVELS[level], purpose)


def matches_glob(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the segments of a path match; time grows with the product of the lengths, whatever the pattern."""
    reachable = {0}  # how many parts the pattern so far can have used up
    for segment in pattern:
        if segment == "**":
            reachable = set(range(min(reachable), len(parts) + 1)) if reachable else set()
        else:
            reachable = {at + 1 for at in reachable if at < len(parts) and _matches_name(segment, parts[at])}
    return len(parts) in reachable


@lru_cache(maxsize=65_536)
def _matches_name(pattern: str, name: str) -> bool:
    """`*` and `?` within one name: two pointers, going back to the last `*` only."""
    at = start = mark = 0
    star = -1
    while at < len(name):
        if mark < len(pattern) and pattern[mark] == "*":
            star, start, mark = mark, at, mark + 1
        elif mark < len(pattern) and pattern[mark] in ("?", name[at]):
            at, mark = at + 1, mark + 1
        elif star >= 0:
            start += 1
            at, mark = start, star + 1
        else:
            return False
    return all(rest == "*" for rest in pattern[mark:])
