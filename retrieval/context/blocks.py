"""What can enter a prompt: the candidate that was gathered, the block it becomes, and the record of each without its text."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag4c.kernel.canonical import digest_of, sha256_hex
from rag4c.kernel.errors import Invalid
from rag4c.kernel.grant import Sensitivity

if TYPE_CHECKING:
    import uuid
    from collections.abc import Mapping
    from datetime import datetime

EVIDENCE_KINDS = ("rag", "fact")
OPTIONAL_KINDS = (*EVIDENCE_KINDS, "skill", "reflection", "memory")
REQUIRED_KINDS = ("base_rules", "query_grant", "evidence_contract", "work_mode")
_ID_HEX_DIGITS = 32  # as for document ids: 128 bits
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Permission:
    """Who may see an item and under which work; compared with the grant by `policy.policy_denial`.

    Args: principals: of the access control set; empty means unknown, and is denied. workspace_id, user_scope: None means
    the whole tenant. task_family: empty means any. tools: all of them must be allowed. expires_at: aware, None means never.
    """

    tenant_id: uuid.UUID
    principals: frozenset[str] = frozenset()
    sensitivity: Sensitivity = Sensitivity.INTERNAL
    acl_sha256: str = ""
    workspace_id: uuid.UUID | None = None
    user_scope: uuid.UUID | None = None
    task_family: str = ""
    tools: frozenset[str] = frozenset()
    needs_network: bool = False
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SourceRef:
    """One place where a text stands."""

    chunk_id: str
    revision_id: str
    document_id: str
    path: str
    locator: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One gathered item with its text, before the gates.

    Args: grant_sha256: `policy.grant_digest` of the grant it was gathered under. text: exactly what `text_sha256` covers.
    scores: by name, only those that exist (a score of 0 is not a missing one). span_start, span_end: code points in the
    canonical extract. sources: further permitted places of the same text. unsafe_reason: code, empty when safe.
    live: in the manifest that the query reads. chunk_settings_digest: empty when unknown.
    Raises: Invalid("candidate_<field>") for what may not be empty or makes no sense.
    """

    chunk_id: str
    revision_id: str
    document_id: str
    path: str
    locator: str
    span_start: int
    span_end: int
    text: str
    text_sha256: str
    document_sha256: str
    permission: Permission
    grant_sha256: str
    kind: str = "rag"
    heading_path: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    sources: tuple[SourceRef, ...] = ()
    chunk_settings_digest: str = ""
    unsafe_reason: str = ""
    live: bool = True

    def __post_init__(self) -> None:
        for name in ("chunk_id", "revision_id", "document_id", "path", "locator", "text_sha256", "document_sha256", "grant_sha256"):
            _refuse_blank("candidate", name, getattr(self, name))
        _refuse_blank("candidate", "text", self.text)
        if self.kind not in OPTIONAL_KINDS:
            raise Invalid("candidate_kind", "The kind is none that can become a block.", {"kind": self.kind})
        if not 0 <= self.span_start < self.span_end:
            raise Invalid("candidate_span", "A span is not empty and starts at or after 0.", {"chunk": self.chunk_id})
        if not all(math.isfinite(score) for score in self.scores.values()):
            raise Invalid("candidate_scores", "A score is a finite number or is left out.", {"chunk": self.chunk_id})

    @property
    def own_source(self) -> SourceRef:
        """The place that this candidate itself was read from."""
        return SourceRef(self.chunk_id, self.revision_id, self.document_id, self.path, self.locator)


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """What the gates read of a candidate: everything but the text, so that a decision can be stored and replayed without it.

    Args: position: 0-based place in the list handed in. observed_sha256, dedupe_key, size_code_points: taken from the text.
    """

    position: int
    block_id: str
    kind: str
    chunk_id: str
    revision_id: str
    document_id: str
    locator: str
    text_sha256: str
    observed_sha256: str
    document_sha256: str
    dedupe_key: str
    size_code_points: int
    grant_sha256: str
    permission: Permission
    scores: Mapping[str, float]
    source_ids: tuple[str, ...]
    chunk_settings_digest: str
    unsafe_reason: str
    live: bool


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """One whole piece of a prompt (SYS-C3). Of the two orders, presentation decides the place and budget who gets room first.

    Args: priorities: higher goes first. source_ids: chunk ids for evidence, part names for required blocks.
    Raises: Invalid("block_<field>") when anything is empty.
    """

    block_id: str
    kind: str
    content: str
    provenance: str
    source_ids: tuple[str, ...]
    presentation_priority: int
    budget_priority: int
    required: bool
    dedupe_key: str

    def __post_init__(self) -> None:
        for name in ("block_id", "kind", "content", "provenance", "dedupe_key"):
            _refuse_blank("block", name, getattr(self, name))
        if not self.source_ids or not all(source.strip() for source in self.source_ids):
            raise Invalid("block_source_ids", "A block names at least one source.", {"block": self.block_id})
        if self.kind not in (OPTIONAL_KINDS, REQUIRED_KINDS)[self.required]:
            raise Invalid("block_kind", "The kind does not fit the required flag.", {"block": self.block_id, "kind": self.kind})


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """A block without its content: what dedupe, top-k and planner read.

    Args: position: of the candidate it came from, -1 for a required block.
    """

    position: int
    block_id: str
    kind: str
    provenance: str
    document_id: str
    source_ids: tuple[str, ...]
    presentation_priority: int
    budget_priority: int
    required: bool
    dedupe_key: str
    size_code_points: int


@dataclass(frozen=True, slots=True)
class Priorities:
    """Which kind of optional block goes first; a policy row. A retrieved chunk of rank r (1-based) has `rag` minus r."""

    skill: int = 90
    fact: int = 85
    rag: int = 81
    reflection: int = 70
    memory: int = 60


def dedupe_key_of(text: str) -> str:
    """Digest of the text after NFC and with every run of blanks as one space.

    Not NFKC and not case-folded: both can make different statements equal (a raised 2 is not a 2), and the loser's text would be gone.
    """
    return sha256_hex(_BLANKS.sub(" ", unicodedata.normalize("NFC", text)).strip())


def record_of(candidate: Candidate, position: int) -> CandidateRecord:
    """The candidate as the gates and the manifest see it."""
    observed = sha256_hex(candidate.text)
    return CandidateRecord(
        position=position,
        block_id=digest_of(["block", candidate.kind, candidate.chunk_id, candidate.revision_id, observed])[:_ID_HEX_DIGITS],
        kind=candidate.kind,
        chunk_id=candidate.chunk_id,
        revision_id=candidate.revision_id,
        document_id=candidate.document_id,
        locator=candidate.locator,
        text_sha256=candidate.text_sha256,
        observed_sha256=observed,
        document_sha256=candidate.document_sha256,
        dedupe_key=dedupe_key_of(candidate.text),
        size_code_points=len(candidate.text),
        grant_sha256=candidate.grant_sha256,
        permission=candidate.permission,
        scores=dict(candidate.scores),
        source_ids=tuple(dict.fromkeys((candidate.chunk_id, *(source.chunk_id for source in candidate.sources)))),
        chunk_settings_digest=candidate.chunk_settings_digest,
        unsafe_reason=candidate.unsafe_reason,
        live=candidate.live,
    )


def block_record_of(record: CandidateRecord, rank: int, priorities: Priorities) -> BlockRecord:
    """The optional block that a permitted candidate becomes. Args: rank: 1-based among those of its kind."""
    priority = int(getattr(priorities, record.kind)) - (rank if record.kind == "rag" else 0)
    return BlockRecord(
        position=record.position,
        block_id=record.block_id,
        kind=record.kind,
        provenance=f"{record.document_id}@{record.revision_id}#{record.locator}",
        document_id=record.document_id,
        source_ids=record.source_ids,
        presentation_priority=priority,
        budget_priority=priority,
        required=False,
        dedupe_key=record.dedupe_key,
        size_code_points=record.size_code_points,
    )


def required_record_of(block: ContextBlock) -> BlockRecord:
    """The record of a required block, which stands on no document."""
    return BlockRecord(
        position=-1,
        block_id=block.block_id,
        kind=block.kind,
        provenance=block.provenance,
        document_id="",
        source_ids=block.source_ids,
        presentation_priority=block.presentation_priority,
        budget_priority=block.budget_priority,
        required=True,
        dedupe_key=block.dedupe_key,
        size_code_points=len(block.content),
    )


def block_of(record: BlockRecord, content: str) -> ContextBlock:
    """The block of a record, with the content it stands for."""
    return ContextBlock(
        block_id=record.block_id,
        kind=record.kind,
        content=content,
        provenance=record.provenance,
        source_ids=record.source_ids,
        presentation_priority=record.presentation_priority,
        budget_priority=record.budget_priority,
        required=record.required,
        dedupe_key=record.dedupe_key,
    )


def required_block(kind: str, content: str, *, version: str, priority: int) -> ContextBlock:
    """One of the blocks that stand in every prompt; its id follows its content."""
    key = dedupe_key_of(content)
    return ContextBlock(
        block_id=digest_of(["block", kind, version, key])[:_ID_HEX_DIGITS],
        kind=kind,
        content=content,
        provenance=f"{version}:{kind}",
        source_ids=(f"{version}:{kind}",),
        presentation_priority=priority,
        budget_priority=priority,
        required=True,
        dedupe_key=key,
    )


def _refuse_blank(owner: str, name: str, value: str) -> None:
    if not value.strip():
        raise Invalid(f"{owner}_{name}", f"The {name} of a {owner} is empty.")
