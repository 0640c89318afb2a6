from __future__ import annotations

from dataclasses import replace

import pytest

from rag4c.kernel.canonical import canonical_json
from rag4c.kernel.errors import Invalid
from retrieval.context.compose import EvidencePack, Insufficient, compose
from retrieval.context.policy import route
from retrieval.context.replay import measure_manifest, replay
from retrieval.context.settings import Budget, PackSettings, Threshold

from .builders import GLOBEX, POLICY, candidate_of, grant_of, outcome_of, outcomes_of, permission_of, question_of
from .golden_files import matches_golden
from .test_render import mixed_candidates


def composed(*candidates, settings=POLICY, validations=None, count_tokens=None):
    grant = grant_of()
    given = outcomes_of(*candidates) if validations is None else validations
    return compose(question_of(grant), grant, candidates, given, settings, count_tokens)


def golden_plan(name, result):
    """The plan as a person reads it: kinds and reasons in both orders."""
    body = result.manifest.body
    kinds = {(one["position"], one["block_id"]): f"{one['kind']} {'+'.join(one['source_ids'])}" for one in body["blocks"]}
    plan = {
        "outcome": body["outcome"],
        "sizes": {**body["sizes"], "used": body["plan"]["used"], "limit": body["plan"]["limit"], "unit": body["plan"]["unit"]},
        "decisions": [[kinds[one["position"], one["block_id"]], one["reason"], one["size_with_it"]] for one in body["plan"]["decisions"]],
        "prompt_order": [kinds[one["position"], one["block_id"]] for one in body["plan"]["included"]],
        "drops": [[one["gate"], one["reason"], one["position"]] for one in (*body["drops"], *body["rejected_context"])],
    }
    lines = [f"{key}: {canonical_json(value).decode()}" for key, value in plan.items() if not isinstance(value, list)]
    for key, value in plan.items():
        if isinstance(value, list):
            lines += [f"{key}:", *(f"  {canonical_json(one).decode()}" for one in value)]
    return matches_golden(f"plan_{name}.txt", "\n".join(lines) + "\n")


def test_SYS_C6_primary_plan():
    assert golden_plan("primary", composed(*mixed_candidates()))


def test_SYS_C6_tight_plan():
    result = composed(*mixed_candidates(), settings=PackSettings(policy_rev="tight", budget=Budget(limit=100)))
    assert golden_plan("tight", result)
    assert measure_manifest(result.manifest).budget_violations == 0


def test_SYS_C6_negative_plan_holds_only_the_required_blocks():
    result = composed()
    assert isinstance(result, Insufficient)
    assert result.reason == "no_evidence"
    assert {one["reason"] for one in result.manifest.body["plan"]["decisions"]} == {"required"}
    assert golden_plan("negative", result)


def test_pack_keeps_the_candidates_and_their_order():
    pack = composed(candidate_of(name="a"), candidate_of("Carry-over ends in March.", name="b"))
    assert isinstance(pack, EvidencePack)
    assert [(item.n, item.candidate.chunk_id, item.why) for item in pack.evidence] == [(1, "chunk-a", "rag:80"), (2, "chunk-b", "rag:79")]
    assert [one.kind for one in pack.blocks] == ["base_rules", "query_grant", "evidence_contract", "work_mode", "rag", "rag"]
    assert pack.blocks[4].content == "Leave is 25 days a year."


WEAK = {"scores": {"dense_cosine": 0.1}}


@pytest.mark.parametrize(
    ("candidate", "change", "reason"),
    [
        (candidate_of(permission=permission_of(tenant_id=GLOBEX)), {}, "no_evidence"),
        (candidate_of(unsafe_reason="instruction_like"), {}, "no_evidence"),
        (candidate_of(**WEAK), {}, "low_retrieval"),
        (candidate_of(), {"live": False}, "source_changed"),
        (candidate_of(), {"settings_digest": "other"}, "chunk_settings_changed"),
        (candidate_of("x" * 12_001), {}, "prompt_budget"),
        (candidate_of("Alice prefers trains.", kind="memory"), {}, "no_evidence"),
    ],
)
def test_reason_says_which_gate_the_evidence_reached(candidate, change, reason):
    settings = PackSettings(policy_rev="p", thresholds=(Threshold("dense_cosine", 0.5),))
    result = composed(candidate, settings=settings, validations={candidate.chunk_id: outcome_of(candidate, **change)})
    assert isinstance(result, Insufficient)
    assert result.reason == reason
    assert replay(result.manifest) is None


def test_lenient_policy_with_nothing_left_still_says_that_a_source_changed():
    candidate = candidate_of()
    settings = PackSettings(policy_rev="p", stale="drop")
    assert composed(candidate, settings=settings, validations={}).reason == "source_changed"


def test_refused_answer_shows_no_evidence_at_all():
    good, stale = candidate_of(), candidate_of("Leave is 20 days.", name="old")
    result = composed(good, stale, validations=outcomes_of(good))
    assert result.reason == "source_changed"
    assert result.manifest.body["evidence"] == []


def test_required_blocks_over_budget_are_a_reason_of_their_own():
    result = composed(candidate_of(), settings=PackSettings(policy_rev="p", budget=Budget(required_limit=10)))
    assert (result.reason, result.manifest.body["plan"]) == ("prompt_budget", None)
    assert result.manifest.body["sizes"]["required_size"] > 10
    assert replay(result.manifest) is None
    assert measure_manifest(result.manifest).required_retention == 0


def test_budget_in_tokens_counts_the_whole_prompt():
    def count_words(text):
        return len(text.split())

    candidates = [candidate_of(f"Rule {at} " + "word " * 30, name=f"n{at}") for at in range(5)]
    whole = count_words(composed(*candidates[:3]).prompt)
    pack = composed(
        *candidates, settings=PackSettings(policy_rev="p", budget=Budget(limit=whole + 5, unit="tokens", reserved_output=5)), count_tokens=count_words
    )
    assert len(pack.evidence) == 3
    assert count_words(pack.prompt) == pack.manifest.body["plan"]["used"] == whole
    assert replay(pack.manifest) is None
    assert measure_manifest(pack.manifest).budget_violations == 0


def test_required_blocks_over_a_token_budget_replay_too():
    result = composed(candidate_of(), settings=PackSettings(policy_rev="p", budget=Budget(limit=5, unit="tokens_upper_bound")))
    assert result.reason == "prompt_budget"
    assert replay(result.manifest) is None


def test_budget_in_tokens_without_a_counter_is_refused():
    with pytest.raises(Invalid, match="token_counter"):
        composed(candidate_of(), settings=PackSettings(policy_rev="p", budget=Budget(unit="tokens")))


def test_upper_bound_of_tokens_is_flagged_in_the_manifest():
    pack = composed(candidate_of(), settings=PackSettings(policy_rev="p", budget=Budget(unit="tokens_upper_bound")))
    assert pack.manifest.body["plan"]["unit"] == "tokens_upper_bound"


def test_what_the_router_refused_stays_in_the_manifest():
    grant = grant_of()
    query = question_of(grant)
    routed = route([candidate_of(name="a", permission=permission_of(tenant_id=GLOBEX)), candidate_of()], grant, query)
    pack = compose(query, grant, routed, outcomes_of(candidate_of()), POLICY)
    assert pack.manifest.body["routing"] == {
        "routed_by": "caller",
        "router": [{"position": 0, "chunk_id": "chunk-a", "stage": "router", "code": "foreign_tenant"}],
    }
    assert pack.manifest.body["composer"] == []
    assert replay(pack.manifest) is None


def test_R04_place_of_a_refused_twin_never_shows():
    hidden = candidate_of(name="hidden", permission=permission_of(tenant_id=GLOBEX))
    same_chunk_elsewhere = replace(hidden, chunk_id="chunk-shown", path="secret/plan.md")
    shown = candidate_of(name="shown")
    pack = composed(hidden, same_chunk_elsewhere, candidate_of(name="twin"), shown)
    assert "secret" not in pack.prompt
    assert [source.path for item in pack.evidence for source in item.sources] == ["handbook/twin.md", "handbook/shown.md"]


def test_hidden_candidates_change_no_byte_of_the_prompt():
    hidden = [candidate_of(f"Secret {at}.", name=f"s{at}", permission=permission_of(tenant_id=GLOBEX)) for at in range(3)]
    shown = [candidate_of(name="a"), candidate_of("Carry-over ends in March.", name="b")]
    with_them = composed(hidden[0], shown[0], hidden[1], shown[1], hidden[2])
    assert with_them.prompt == composed(*shown).prompt
