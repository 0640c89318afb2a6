"""What other apps may call of the ledger."""

from rag4c.ledger.api.checkpoints import (
    checkpoint_file,
    find_kept_tenants,
    public_key_path,
    read_checkpoint_file,
    rotate_signing_key,
    write_checkpoint,
)
from rag4c.ledger.api.reading import SealedEvent, SignedFile, list_checkpoints, list_key_rotations, list_stubs, read_sealed, sign_bytes
from rag4c.ledger.api.recording import FIRST_RETRY_S, MAX_ATTEMPTS, deliver, events_of, find_due_deliveries, record
from rag4c.ledger.api.sealing import (
    DELAYED_S,
    SealLag,
    Waiting,
    find_unchecked_chains,
    find_waiting,
    read_seal_lag,
    report_delay,
    seal_all,
    seal_tenant,
)
from rag4c.ledger.api.verifying import AuditVerdict, verify_audit

__all__ = [
    "DELAYED_S",
    "FIRST_RETRY_S",
    "MAX_ATTEMPTS",
    "AuditVerdict",
    "SealLag",
    "SealedEvent",
    "SignedFile",
    "Waiting",
    "checkpoint_file",
    "deliver",
    "events_of",
    "find_due_deliveries",
    "find_kept_tenants",
    "find_unchecked_chains",
    "find_waiting",
    "list_checkpoints",
    "list_key_rotations",
    "list_stubs",
    "public_key_path",
    "read_checkpoint_file",
    "read_seal_lag",
    "read_sealed",
    "record",
    "report_delay",
    "rotate_signing_key",
    "seal_all",
    "seal_tenant",
    "sign_bytes",
    "verify_audit",
    "write_checkpoint",
]
