from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Invalid
from retrieval.context import parts
from retrieval.context.blocks import ContextBlock, Priorities, block_of, block_record_of, record_of, required_block, required_record_of
from retrieval.context.parts import required_blocks

from .builders import ASKED_AT, block, candidate_of, grant_of, record

GOOD = {
    "block_id": "b1", "kind": "rag", "content": "Leave is 25 days.", "provenance": "doc@rev#L3", "source_ids": ("chunk-1",),
    "presentation_priority": 80, "budget_priority": 80, "required": False, "dedupe_key": "k",
}  # fmt: skip


def test_SYS_C3_block_carries_identity_provenance_sources_priorities_and_key():
    assert set(GOOD) == set(ContextBlock.__dataclass_fields__)
    assert asdict(ContextBlock(**GOOD)) == GOOD


@pytest.mark.parametrize("name", ["block_id", "kind", "content", "provenance", "dedupe_key"])
@pytest.mark.parametrize("empty", ["", " \n\t"])
def test_SYS_C3_block_with_an_empty_field_is_refused(name, empty):
    with pytest.raises(Invalid, match=f"block_{name}"):
        ContextBlock(**{**GOOD, name: empty})


@pytest.mark.parametrize("sources", [(), ("",), ("chunk-1", " ")])
def test_SYS_C3_block_without_a_source_is_refused(sources):
    with pytest.raises(Invalid, match="block_source_ids"):
        ContextBlock(**{**GOOD, "source_ids": sources})


@pytest.mark.parametrize("change", [{"kind": "base_rules"}, {"required": True}, {"kind": "poem"}])
def test_SYS_C3_kind_and_required_flag_agree(change):
    with pytest.raises(Invalid, match="block_kind"):
        ContextBlock(**{**GOOD, **change})


@pytest.mark.parametrize(
    "name", ["chunk_id", "revision_id", "document_id", "path", "locator", "text", "text_sha256", "document_sha256", "grant_sha256"]
)
def test_candidate_without_lineage_is_refused(name):
    with pytest.raises(Invalid, match=f"candidate_{name}"):
        replace(candidate_of(), **{name: " "})


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"kind": "base_rules"}, "candidate_kind"),
        ({"span_start": -1}, "candidate_span"),
        ({"span_end": 10}, "candidate_span"),
        ({"scores": {"rerank": float("nan")}}, "candidate_scores"),
        ({"scores": {"rerank": float("inf")}}, "candidate_scores"),
    ],
)
def test_candidate_that_makes_no_sense_is_refused(change, code):
    with pytest.raises(Invalid, match=code):
        candidate_of(**change)


def test_block_ids_follow_content_and_place_only():
    one = candidate_of()
    assert record_of(one, 0).block_id == record_of(replace(one, scores={"dense_cosine": 0.1}), 7).block_id
    others = [candidate_of("Leave is 26 days a year."), candidate_of(name="other"), candidate_of(kind="fact"), candidate_of(revision_id="rev-2")]
    assert len({record_of(each, 0).block_id for each in (one, *others)}) == 5


def test_sizes_are_unicode_code_points():
    assert record_of(candidate_of("年假 25 天 🌴"), 0).size_code_points == 9


def test_default_priorities_are_those_of_the_policy_page():
    numbers = {
        kind: block_record_of(record(candidate_of(kind=kind)), 3, Priorities()).budget_priority
        for kind in ("skill", "fact", "rag", "reflection", "memory")
    }
    assert numbers == {"skill": 90, "fact": 85, "rag": 78, "reflection": 70, "memory": 60}


def test_block_of_a_record_keeps_everything():
    made = block_of(block_record_of(record(), 1, Priorities()), "Leave is 25 days a year.")
    assert (made.provenance, made.source_ids, made.budget_priority) == ("doc-leave@rev-leave#L3-L6", ("chunk-leave",), 80)


def test_required_blocks_are_four_in_fixed_order_and_name_no_person():
    grant = grant_of(allowed_tools=frozenset({"unit\nconverter", "calculator"}), allow_network=True, as_of=ASKED_AT, task_family="")
    made = required_blocks(grant)
    assert [each.kind for each in made] == ["base_rules", "query_grant", "evidence_contract", "work_mode"]
    assert "Task: none. Tools: calculator, unit converter. Network: allowed. Evidence as of: 2025-03-14T09:26:53+00:00." in made[1].content
    assert str(grant.user_id) not in "".join(each.content for each in made)
    assert required_record_of(made[0]).size_code_points == len(made[0].content)


def test_required_block_id_changes_with_wording_and_version():
    ids = {required_block("work_mode", text, version=version, priority=1).block_id for text in ("a", "b") for version in ("v1", "v2")}
    assert len(ids) == 4
    assert block("x").source_ids == ("chunk-x",)


def test_SYS_E10_wording_changes_only_with_a_new_version():
    wording = [value for name, value in sorted(vars(parts).items()) if name.isupper() and name != "PARTS_VERSION" and isinstance(value, str)]
    assert (parts.PARTS_VERSION, digest_of(wording)) == ("context_v1", "2507a524b3fb6d60091fdc0b9748f58ac2da15604fee2eeff185392957619dce")
