"""What a database holds, told without ids and times, so that a run with a crash can be compared with one without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.reliability.lab import Lab

SYNCED = {
    "sources": "SELECT key, generation FROM documents_datasource ORDER BY 1",
    "documents": "SELECT path, state, tombstone_generation FROM documents_document ORDER BY 1",
    "revisions": "SELECT d.path, r.number, r.content_sha256 FROM documents_revision r JOIN documents_document d ON d.id = r.document_id ORDER BY 1, 2",
    "jobs": "SELECT d.path, r.number, count(*) FROM documents_ingestjob j JOIN documents_revision r ON r.id = j.revision_id "
    "JOIN documents_document d ON d.id = r.document_id GROUP BY 1, 2 ORDER BY 1, 2",
}
DRAFTED = {
    "counters": "SELECT last_seq FROM retrieval_manifestcounter",
    "manifests": "SELECT seq, item_count FROM retrieval_manifest ORDER BY 1",
    "published": "SELECT d.path, r.number, i.from_seq, i.to_seq FROM retrieval_publisheditem i JOIN documents_revision r ON r.id = i.revision_id "
    "JOIN documents_document d ON d.id = i.document_id ORDER BY 1, 2, 3",
}
RELEASED = {
    "channels": "SELECT c.name, c.rev, m.seq FROM retrieval_channel c LEFT JOIN retrieval_manifest m ON m.id = c.manifest_id ORDER BY 1",
    "releases": "SELECT c.name, l.channel_rev, m.seq FROM retrieval_release l JOIN retrieval_channel c ON c.id = l.channel_id "
    "JOIN retrieval_manifest m ON m.id = l.manifest_id ORDER BY 1, 2",
}
INDEXED = {
    "states": "SELECT d.path, r.number, j.state, j.chunks_total, j.lease_until IS NULL FROM documents_ingestjob j JOIN documents_revision r "
    "ON r.id = j.revision_id JOIN documents_document d ON d.id = r.document_id ORDER BY 1, 2",
    "parses": "SELECT r.content_sha256, p.text_sha256, (SELECT count(*) FROM documents_element e WHERE e.parse_id = p.id), "
    "(SELECT count(*) FROM documents_fact f WHERE f.parse_id = p.id) FROM documents_parseattempt p JOIN documents_revision r ON r.id = p.revision_id "
    "ORDER BY 1, 2",
    "chunks": "SELECT r.content_sha256, c.ordinal, c.locator, c.chunk_version_id FROM documents_revisionchunk c "
    "JOIN documents_revision r ON r.id = c.revision_id ORDER BY 1, 2",
    "versions": "SELECT id FROM documents_chunkversion ORDER BY 1",
    "heads": "SELECT d.path, r.number FROM documents_document d LEFT JOIN documents_revision r ON r.id = d.head_id ORDER BY 1",
    "deliveries": "SELECT code, handler, state, count(*) FROM ledger_delivery GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    "events": "SELECT code, count(*), count(DISTINCT subject_id) FROM ledger_event WHERE code <> 'source.synced' AND code NOT LIKE 'answer.%%' "
    "GROUP BY 1 ORDER BY 1",
}
# each must give no rows
NEVER = {
    "job completed more or less than once": "SELECT j.id FROM documents_ingestjob j WHERE j.state = 'completed' AND 1 <> (SELECT count(*) "
    "FROM ledger_event e WHERE e.code = 'revision.completed' AND e.subject_id = j.revision_id::text)",
    "revision with two jobs for one settings": "SELECT revision_id FROM documents_ingestjob GROUP BY revision_id, settings_digest HAVING count(*) > 1",
    "chunks differ from the job's count": "SELECT j.id FROM documents_ingestjob j WHERE j.state = 'completed' AND j.chunks_total <> (SELECT count(*) "
    "FROM documents_revisionchunk c WHERE c.revision_id = j.revision_id AND c.settings_digest = j.settings_digest)",
    "place stored twice": "SELECT revision_id FROM documents_revisionchunk GROUP BY revision_id, settings_digest, ordinal HAVING count(*) > 1",
    "gap in the numbers of manifests": "SELECT last_seq FROM retrieval_manifestcounter c WHERE last_seq <> (SELECT count(*) FROM retrieval_manifest m "
    "WHERE m.knowledge_base_id = c.knowledge_base_id) OR last_seq <> (SELECT max(seq) FROM retrieval_manifest m "
    "WHERE m.knowledge_base_id = c.knowledge_base_id)",
    "channel rev without its release": "SELECT c.id FROM retrieval_channel c WHERE c.rev <> (SELECT count(*) FROM retrieval_release l WHERE l.channel_id = c.id)",
    "answer without its event": "SELECT a.id FROM verification_answerrecord a WHERE 1 <> (SELECT count(*) FROM ledger_event e "
    "WHERE e.code IN ('answer.given', 'answer.withheld') AND e.subject_id = a.id::text)",
    "event of an answer that is not there": "SELECT e.id FROM ledger_event e WHERE e.subject_kind = 'answer' AND NOT EXISTS (SELECT 1 "
    "FROM verification_answerrecord a WHERE a.id::text = e.subject_id)",
    "served item that is not completed": "SELECT i.id FROM retrieval_publisheditem i WHERE NOT EXISTS (SELECT 1 FROM documents_ingestjob j "
    "WHERE j.revision_id = i.revision_id AND j.state = 'completed')",
}
VECTORS = "SELECT table_name FROM retrieval_embeddingspace"


def read(lab: Lab, database: str, *parts: dict[str, str]) -> dict[str, Any]:
    """Rows of these parts by name; the vectors' chunk versions too when the index is among them."""
    rows = {name: lab.query(database, statement) for part in parts for name, statement in part.items()}
    if INDEXED in parts:
        (table,) = (row[0] for row in lab.query(database, VECTORS))
        rows["vectors"] = lab.query(database, f"SELECT chunk_version_id FROM {table} ORDER BY 1")
    return rows


def find_violations(lab: Lab, database: str) -> list[str]:
    """What may never be, during a recovery or after it."""
    return [name for name, statement in NEVER.items() if lab.query(database, statement)]


def differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    return [f"{name}: {found[name]} instead of {expected[name]}" for name in expected if found[name] != expected[name]]
