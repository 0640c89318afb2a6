"""What other apps may call of documents."""

from documents.api.bases import (
    BaseInfo,
    create_folder_source,
    create_knowledge_base,
    find_knowledge_base,
    find_source,
    list_knowledge_bases,
)
from documents.api.heads import (
    HeadItem,
    Heads,
    IndexText,
    is_job_open,
    list_chunk_ids,
    list_heads,
    list_live,
    list_unfinished,
    lock_document,
    read_index_texts,
    require_knowledge_base,
)
from documents.api.ingest import ChunkToEmbed, chunks_of_job, finish_indexing
from documents.api.jobs import Claim, count_jobs, keep_lease, retry_job
from documents.api.places import SOURCE_IS_TEXT, locate_spans, places_covering
from documents.api.policies import field_synonyms, ingest_policy_digest
from documents.api.reading import (
    DocumentText,
    EvidenceText,
    FactValue,
    Lineage,
    PlaceCheck,
    check_places,
    read_document_text,
    read_evidence,
    read_facts_of,
    read_lineage,
)
from documents.api.status import DocumentInfo, SourceInfo, find_document_id, list_documents, list_failures, list_sources
from documents.api.steps import run_step
from documents.api.subjects import find_document_by_name
from documents.api.sync import Refusal, SyncReport, sync_source

__all__ = [
    "SOURCE_IS_TEXT",
    "BaseInfo",
    "ChunkToEmbed",
    "Claim",
    "DocumentInfo",
    "DocumentText",
    "EvidenceText",
    "FactValue",
    "HeadItem",
    "Heads",
    "IndexText",
    "Lineage",
    "PlaceCheck",
    "Refusal",
    "SourceInfo",
    "SyncReport",
    "check_places",
    "chunks_of_job",
    "count_jobs",
    "create_folder_source",
    "create_knowledge_base",
    "field_synonyms",
    "find_document_by_name",
    "find_document_id",
    "find_knowledge_base",
    "find_source",
    "finish_indexing",
    "ingest_policy_digest",
    "is_job_open",
    "keep_lease",
    "list_chunk_ids",
    "list_documents",
    "list_failures",
    "list_heads",
    "list_knowledge_bases",
    "list_live",
    "list_sources",
    "list_unfinished",
    "locate_spans",
    "lock_document",
    "places_covering",
    "read_document_text",
    "read_evidence",
    "read_facts_of",
    "read_index_texts",
    "read_lineage",
    "require_knowledge_base",
    "retry_job",
    "run_step",
    "sync_source",
]
