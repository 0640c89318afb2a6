"""Builders of grants, candidates and outcomes; every value is fixed, so that golden files hold."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime

from rag4c.kernel.canonical import sha256_hex
from rag4c.kernel.grant import EVERYONE, Grant, Sensitivity
from retrieval.context.blocks import BlockRecord, Candidate, Permission, dedupe_key_of, record_of
from retrieval.context.gates import ValidationOutcome
from retrieval.context.policy import ask, grant_digest
from retrieval.context.settings import PackSettings

ACME = uuid.UUID("00000000-0000-7000-8000-00000000ac3e")
GLOBEX = uuid.UUID("00000000-0000-7000-8000-0000000910be")
ALICE = uuid.UUID("00000000-0000-7000-8000-0000000a11ce")
BOB = uuid.UUID("00000000-0000-7000-8000-000000000b0b")
OFFICE = uuid.UUID("00000000-0000-7000-8000-0000000ff1ce")
ASKED_AT = datetime(2025, 3, 14, 9, 26, 53, tzinfo=UTC)
SETTINGS_DIGEST = sha256_hex("chunk settings 1")
POLICY = PackSettings(policy_rev="policy-1")


def grant_of(user=ALICE, **changes) -> Grant:
    """A staff grant at Acme."""
    base = Grant(tenant_id=ACME, user_id=user, principals=frozenset({EVERYONE, f"user:{user}"}), clearance=Sensitivity.INTERNAL)
    return replace(base, **changes)


def question_of(grant: Grant, text: str = "How many days of leave?"):
    """The query object under this grant."""
    return ask(text, grant, asked_at=ASKED_AT, language="en")


def permission_of(**changes) -> Permission:
    """Open to everyone at Acme."""
    return replace(Permission(tenant_id=ACME, principals=frozenset({EVERYONE}), acl_sha256=sha256_hex("everyone")), **changes)


def candidate_of(
    text: str = "Leave is 25 days a year.", *, name: str = "leave", grant: Grant | None = None, permission: Permission | None = None, **changes
):
    """A live, safe chunk with consistent digests; `name` gives its ids and path."""
    base = Candidate(
        chunk_id=f"chunk-{name}",
        revision_id=f"rev-{name}",
        document_id=f"doc-{name}",
        path=f"handbook/{name}.md",
        locator="L3-L6",
        span_start=10,
        span_end=10 + max(len(text), 1),
        text=text,
        text_sha256=sha256_hex(text),
        document_sha256=sha256_hex(f"original of {name}"),
        permission=permission or permission_of(),
        grant_sha256=grant_digest(grant or grant_of()),
        heading_path=("Staff", "Leave"),
        scores={"dense_cosine": 0.82},
        chunk_settings_digest=SETTINGS_DIGEST,
    )
    return replace(base, **changes)


def outcome_of(candidate: Candidate, **changes) -> ValidationOutcome:
    """The store still holds what the candidate says."""
    return replace(
        ValidationOutcome(
            current_text_sha256=candidate.text_sha256, document_sha256=candidate.document_sha256, live=True, settings_digest=SETTINGS_DIGEST
        ),
        **changes,
    )


def outcomes_of(*candidates: Candidate) -> dict[str, ValidationOutcome]:
    """Valid outcomes for all."""
    return {candidate.chunk_id: outcome_of(candidate) for candidate in candidates}


def record(candidate: Candidate | None = None, position: int = 0, **changes):
    """The record that gates read."""
    return replace(record_of(candidate or candidate_of(), position), **changes)


def block(name: str, size: int = 1, *, position: int = 0, kind: str = "rag", priority: int = 80, required: bool = False, **changes) -> BlockRecord:
    """A block record without a candidate."""
    base = BlockRecord(
        position=position,
        block_id=name,
        kind=kind,
        provenance=f"doc-{name}@rev#L1",
        document_id=f"doc-{name}",
        source_ids=(f"chunk-{name}",),
        presentation_priority=priority,
        budget_priority=priority,
        required=required,
        dedupe_key=dedupe_key_of(name),
        size_code_points=size,
    )
    return replace(base, **changes)
