"""What other apps may call of retrieval."""

from retrieval.api.evidence import Gathered, Projection, WideHit, gather, read_projections, readable_documents, search
from retrieval.api.indexing import index_job
from retrieval.api.policies import RetrievalPolicy, policy_digest, retrieval_policy_in_force
from retrieval.api.publication import (
    ChannelMove,
    DraftedManifest,
    create_channels,
    draft_manifest,
    end_takedown,
    list_releases,
    release,
    rollback,
    take_down,
)
from retrieval.api.searching import ScoredChunk, search_visible
from retrieval.api.visible import ServedBase, VisibleSet, visible_set
from retrieval.context.compose import EvidenceItem, EvidencePack, Insufficient

__all__ = [
    "ChannelMove",
    "DraftedManifest",
    "EvidenceItem",
    "EvidencePack",
    "Gathered",
    "Insufficient",
    "Projection",
    "RetrievalPolicy",
    "ScoredChunk",
    "ServedBase",
    "VisibleSet",
    "WideHit",
    "create_channels",
    "draft_manifest",
    "end_takedown",
    "gather",
    "index_job",
    "list_releases",
    "policy_digest",
    "read_projections",
    "readable_documents",
    "release",
    "retrieval_policy_in_force",
    "rollback",
    "search",
    "search_visible",
    "take_down",
    "visible_set",
]
