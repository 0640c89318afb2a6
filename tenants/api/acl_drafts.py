"""How a change of readers is worked out: from lines to the steps of each subject, and to the payload that is shown, hashed and approved."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Q

from rag4c.kernel.canonical import digest_of
from tenants.acl import DENY_ALL, AclSpec, AclSteps, split_change
from tenants.api.access import spec_of
from tenants.api.acl_people import gains_between, load_directory
from tenants.models import AclAssignment

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable, Sequence

NAMES_SHOWN: Final = 20  # the digest covers all of them


@dataclass(frozen=True, slots=True)
class AclLine:
    """One subject, and who shall read it.

    Args: label: how people know it. origin: where the set is from (AclAssignment.origin). old: who reads now, for a subject without a set of
    its own. ends: the subject's own set is closed; `new` says what applies then.
    """

    subject_kind: str
    subject_id: uuid.UUID
    label: str
    new: AclSpec
    origin: str = "set"
    old: AclSpec | None = None
    ends: bool = False

    @property
    def key(self) -> tuple[str, uuid.UUID]:
        """What a set is assigned to."""
        return self.subject_kind, self.subject_id


@dataclass(frozen=True, slots=True)
class Draft:
    """A line with the interval that holds now, and the two steps from there."""

    line: AclLine
    current: AclAssignment | None
    steps: AclSteps


def find_assignments(keys: Iterable[tuple[str, uuid.UUID]]) -> dict[tuple[str, uuid.UUID], AclAssignment]:
    """The open intervals of subjects, with their sets; one query a kind."""
    by_kind: dict[str, list[uuid.UUID]] = defaultdict(list)
    for kind, key in keys:
        by_kind[kind].append(key)
    found: dict[tuple[str, uuid.UUID], AclAssignment] = {}
    for kind, ids in by_kind.items():
        rows = AclAssignment.objects.filter(Q(subject_kind=kind), subject_id__in=ids, valid_to__isnull=True).select_related("acl")
        found |= {(kind, row.subject_id): row for row in rows}
    return found


def draft_lines(lines: Sequence[AclLine]) -> list[Draft]:
    """The steps of each line from what holds now. Inside the lock on the tenant's access revision."""
    current = find_assignments(line.key for line in lines)
    drafts = []
    for line in lines:
        row = current.get(line.key)
        old = spec_of(row.acl) if row else line.old or DENY_ALL
        drafts.append(Draft(line, row, split_change(old, line.new)))
    return drafts


def spec_json(acl: AclSpec) -> dict[str, Any]:
    """A set as it stands in a payload."""
    return {"principals": sorted(acl.principals), "sensitivity": int(acl.sensitivity), "purpose": acl.purpose}


def read_spec(value: dict[str, Any]) -> AclSpec:
    """The set that `spec_json` wrote."""
    from rag4c.kernel.grant import Sensitivity

    return AclSpec(frozenset(value["principals"]), Sensitivity(value["sensitivity"]), value["purpose"])


def digest_of_lines(drafts: Iterable[Draft]) -> str:
    """Which subjects get which sets, whatever the order: two proposals with one digest want the same."""
    rows = [[*map(str, draft.line.key), draft.steps.interim.digest, draft.steps.new.digest, draft.line.ends] for draft in drafts]
    return digest_of(sorted(rows))


def build_payload(change_set_id: uuid.UUID, base_acl_rev: int, drafts: Sequence[Draft]) -> dict[str, Any]:
    """Exactly what approval lets happen, and beside it what has been taken away already (GOV-B1, B3)."""
    granting = [draft for draft in drafts if draft.steps.grants]
    groups = _group((draft.steps.interim, draft.steps.new, draft) for draft in granting)
    return {
        "change_set": str(change_set_id),
        "base_acl_rev": base_acl_rev,
        "lines_sha256": digest_of_lines(granting),
        "grants": groups,
        "revoked_already": _group((draft.steps.old, draft.steps.interim, draft) for draft in drafts if draft.steps.revokes),
        **read_gainers(groups),
    }


def _group(moves: Iterable[tuple[AclSpec, AclSpec, Draft]]) -> list[dict[str, Any]]:
    """Subjects with the same way are told together: how many of each kind, the first names, and a digest over all."""
    by_way: dict[tuple[AclSpec, AclSpec], list[AclLine]] = defaultdict(list)
    for source, target, draft in moves:
        by_way[source, target].append(draft.line)
    groups = []
    for (source, target), lines in by_way.items():
        kinds = sorted({line.subject_kind for line in lines})
        groups.append(
            {
                "from": spec_json(source),
                "to": spec_json(target),
                "counts": {kind: sum(line.subject_kind == kind for line in lines) for kind in kinds},
                "names": sorted(line.label for line in lines)[:NAMES_SHOWN],
                "subjects_sha256": digest_of(sorted(f"{line.subject_kind}:{line.subject_id}" for line in lines)),
            }
        )
    return sorted(groups, key=digest_of)


def read_gainers(groups: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Members of every principal that gains, and the people who could not read before; read again when the change is applied.

    everyone: a set of `tenant:*` is among them; its people are not listed.
    """
    ways = [(read_spec(group["from"]), read_spec(group["to"])) for group in groups]
    directory = load_directory(name for source, target in ways for name in source.principals | target.principals)
    gaining: set[uuid.UUID] = set().union(*(gains_between(source, target, directory) for source, target in ways))
    named = sorted({name for _, target in ways for name in target.principals})
    return {
        "members": {name: sorted(map(str, directory.members[name])) for name in named if name in directory.members},
        "gains": sorted(map(str, gaining)),
        "everyone": any("tenant:*" in target.principals for _, target in ways),
    }
