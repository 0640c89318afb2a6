"""What crosses the door of approvals: frozen values, no rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import uuid
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class StageSpec:
    """A stage as people define it. approvers, escalation: `user:<id>`, `group:<id>` or `role:<code>`. quorum: read by mode `quorum` only."""

    approvers: tuple[str, ...]
    mode: str = "quorum"
    quorum: int = 1
    veto: bool = True
    ttl_hours: int = 72
    escalation: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As it stands in the payload that people approve."""
        return {
            "approvers": list(self.approvers),
            "mode": self.mode,
            "quorum": self.quorum,
            "veto": self.veto,
            "ttl_hours": self.ttl_hours,
            "escalation": list(self.escalation),
        }


def read_stage(data: Any) -> StageSpec:
    """From JSON. Raises: KeyError, TypeError, ValueError for what is no stage."""
    spec = StageSpec(
        tuple(map(str, data["approvers"])),
        str(data["mode"]),
        int(data["quorum"]),
        bool(data["veto"]),
        int(data["ttl_hours"]),
        tuple(map(str, data["escalation"])),
    )
    if set(data) != set(spec.to_json()):
        raise ValueError("a stage has other fields")
    return spec


@dataclass(frozen=True, slots=True)
class RequestView:
    """One request as a list shows it. standing: the state, or `blocked`, `expired`, `superseded` when derived. needs_me: the reader may vote now."""

    id: uuid.UUID
    action: str
    subject_kind: str
    subject_id: str
    payload_sha256: str
    requested_by: str
    requester_name: str
    reason: str
    submitted_at: datetime
    standing: str
    stage: int
    stages: int
    expires_at: datetime | None
    needs_me: bool


@dataclass(frozen=True, slots=True)
class VoteView:
    """A vote with both identities. counts: whether it counts now."""

    stage: int
    voter: str
    on_behalf_of: str
    approves: bool
    comment: str
    cast_at: datetime
    counts: bool


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a request has not run. code: stable. sentence: for people."""

    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class PersonForecast:
    """Somebody who could vote. away_until: of an absence that covers now. delegate: who may vote in their place."""

    id: uuid.UUID
    name: str
    away_until: datetime | None = None
    delegate: str = ""


@dataclass(frozen=True, slots=True)
class StageForecast:
    """Who would have to approve in one stage. is_fillable: enough people are there, each voting once over all stages."""

    number: int
    mode: str
    needed: int
    veto: bool
    ttl_hours: int
    people: tuple[PersonForecast, ...]
    escalation: tuple[PersonForecast, ...]
    is_fillable: bool


@dataclass(frozen=True, slots=True)
class Simulation:
    """What would happen to a request. outcome: `runs` at once, `no_policy`, `blocked`, or `waits` for the stages."""

    action: str
    outcome: str
    policy_rev: int
    stages: tuple[StageForecast, ...]
