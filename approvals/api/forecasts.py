"""Who would have to approve this, and why a request has not run yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from approvals import guarded, rules
from approvals.api.moves import SENTENCES
from approvals.api.policies import VOTE
from approvals.api.reading import require_readable
from approvals.api.situations import read_links, read_situation
from approvals.contract import Obstacle, PersonForecast, Simulation, StageForecast
from approvals.models import Absence
from approvals.queries import database_now
from rag4c.kernel.errors import Denied
from rag4c.kernel.grant import EVERYONE
from rag4c.scope import gate
from rag4c.scope.manager import scope
from tenants import api as tenants

if TYPE_CHECKING:
    import uuid
    from collections.abc import Collection, Iterable
    from datetime import datetime

    from approvals.api.situations import Situation
    from approvals.models import Stage
    from rag4c.kernel.grant import Actor

__all__ = ["simulate", "why_blocked"]


def simulate(*, actor: Actor, action: str, requester_id: uuid.UUID | None = None, gains: Collection[uuid.UUID] = ()) -> Simulation:
    """Who would have to approve this action if `requester_id` asked now. Nothing is written.

    Args: requester_id: the actor when None. gains: people who would gain, so that they do not count either (GOV-A3).
    Raises: Denied("not_allowed"), Absent("action").
    """
    if actor.kind != "system" and not actor.grant.permissions & {"approval.read", "policy.manage"}:
        raise Denied("not_allowed", "Your roles do not allow this.", {"permission": "approval.read"})
    gate.find_action(action)
    with scope(actor.grant):
        policy = guarded.policy_in_force(action)
        if policy is None:
            return Simulation(action, "no_policy", 0, ())
        if policy.mode == "none":
            return Simulation(action, "runs", policy.rev, ())
        requester = requester_id or actor.user_id
        excluded = frozenset(gains) | (frozenset({requester}) if requester else frozenset())
        forecasts = _forecast(actor.tenant_id, list(policy.stages.order_by("number")), excluded)
    fits = bool(forecasts) and all(forecast.is_fillable for forecast in forecasts)
    return Simulation(action, "waits" if fits else "blocked", policy.rev, forecasts)


def _forecast(tenant_id: uuid.UUID, stages: list[Stage], excluded: frozenset[uuid.UUID]) -> tuple[StageForecast, ...]:
    now = database_now()
    principals = {name for stage in stages for name in (*stage.approvers, *stage.escalation)}
    holders = tenants.list_holders(tenant_id=tenant_id, principals=principals, permission=VOTE)
    pools = [rules.Pool(_union(holders, stage.approvers) - excluded, _union(holders, stage.escalation) - excluded) for stage in stages]
    stage_rules = [rules.StageRule(stage.mode, stage.quorum if stage.mode == "quorum" else 1, stage.veto) for stage in stages]
    poll = rules.Poll(tuple(stage_rules), tuple(pools), holders[EVERYONE], excluded, (), tuple(read_links(now)))
    short = rules.find_shortfall(poll, now)
    shown = _people(tenant_id, {person for pool in pools for person in pool.base | pool.extra}, now, excluded)
    return tuple(
        StageForecast(
            stage.number,
            stage.mode,
            rules.tally_stage(poll, n).needed,
            stage.veto,
            stage.ttl_s // 3600,
            _pick(shown, pools[n - 1].base),
            _pick(shown, pools[n - 1].extra - pools[n - 1].base),
            short is None or n < short,
        )
        for n, stage in enumerate(stages, start=1)
    )


def _union(holders: dict[str, frozenset[uuid.UUID]], principals: Iterable[str]) -> frozenset[uuid.UUID]:
    return frozenset().union(*(holders[principal] for principal in principals))


def _people(tenant_id: uuid.UUID, user_ids: Collection[uuid.UUID], now: datetime, excluded: frozenset[uuid.UUID]) -> dict[uuid.UUID, PersonForecast]:
    """Names, absences that cover now, and delegates whose vote would count."""
    links = {link.delegator: link.delegate for link in read_links(now) if link.is_active(now) and link.delegate not in excluded}
    names = tenants.name_people(tenant_id=tenant_id, user_ids={*user_ids, *links.values()})
    away: dict[uuid.UUID, datetime] = dict(
        Absence.objects.filter(user_id__in=user_ids, valid_from__lte=now, valid_to__gt=now, ended_at__isnull=True).values_list("user_id", "valid_to")
    )
    return {key: PersonForecast(key, names.get(key, str(key)), away.get(key), names.get(links[key], "") if key in links else "") for key in user_ids}


def _pick(shown: dict[uuid.UUID, PersonForecast], people: Iterable[uuid.UUID]) -> tuple[PersonForecast, ...]:
    return tuple(sorted((shown[key] for key in people), key=lambda person: person.name))


def why_blocked(*, actor: Actor, request_id: uuid.UUID) -> list[Obstacle]:
    """Why a request has not run, for the requester and for those who decide; nothing when it has. Raises: Absent("approval")."""
    with scope(actor.grant):
        request = require_readable(actor, request_id)
        situation = read_situation(request)
        standing = situation.standing
        if standing == "executed":
            return []
        if standing in {"pending", "blocked"}:
            return _explain_waiting(situation, standing)
    message = request.fault_message or _(SENTENCES[standing])
    return [Obstacle(request.fault_code or f"request_{standing}", message)]


def _explain_waiting(situation: Situation, standing: str) -> list[Obstacle]:
    request, poll, now = situation.request, situation.poll, situation.now
    tally = rules.tally_stage(poll, request.stage)
    people = _people(request.tenant_id, tally.remaining & _asked_now(situation), now, poll.excluded)
    names = ", ".join(_say_person(person) for person in sorted(people.values(), key=lambda person: person.name))
    where = {"stage": request.stage, "stages": len(situation.stages), "n": tally.needed - tally.approvals}
    waits = _("Stage %(stage)d of %(stages)d needs %(n)d more; these people may vote: %(names)s.") % {**where, "names": names or _("nobody")}
    found = [Obstacle("waits_for_votes", waits)]
    if standing == "blocked":
        stage = rules.find_shortfall(poll, now)
        sentence = _("Stage %d cannot be filled by the people who are there. Ask a tenant admin to name another approver.") % (stage or request.stage)
        found.insert(0, Obstacle("stage_unfillable", sentence))
    if poll.excluded & (poll.pools[request.stage - 1].base | poll.pools[request.stage - 1].extra):
        found.append(Obstacle("requester_excluded", _("Who asked or gains is among the approvers and does not count.")))
    if situation.clock.escalates_at and not situation.clock.is_escalated:
        found.append(Obstacle("escalates_later", _("More approvers are added at %s.") % f"{situation.clock.escalates_at:%Y-%m-%d %H:%M} UTC"))
    return found


def _asked_now(situation: Situation) -> frozenset[uuid.UUID]:
    pool = situation.poll.pools[situation.request.stage - 1]
    return pool.base | pool.extra if situation.clock.is_escalated else pool.base


def _say_person(person: PersonForecast) -> str:
    notes = [_("away until %s") % f"{person.away_until:%Y-%m-%d}"] if person.away_until else []
    notes += [_("delegate: %s") % person.delegate] if person.delegate else []
    return f"{person.name} ({'; '.join(notes)})" if notes else person.name
