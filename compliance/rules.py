"""What an export holds and how it is written: queries, lines, the manifest, and the views for spreadsheets and SIEMs. Pure."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from rag4c.kernel.canonical import canonical_json, digest_of

FORMAT: Final = "rag4c.audit-export.1"
LINES_PER_FILE: Final = 10_000
RISKY: Final = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would take such a cell for a formula
CSV_HEAD: Final = ("seq", "at", "code", "actor", "channel", "subject_kind", "subject_id", "data", "hash")
VIEWS: Final = ("csv", "ocsf")


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Which events are wanted; empty fields ask for nothing. Ids and codes only. since, until: ISO 8601, until is exclusive."""

    code: str = ""
    actor: str = ""
    channel: str = ""
    subject_kind: str = ""
    subject_id: str = ""
    since: str = ""
    until: str = ""

    def wanted(self) -> dict[str, str]:
        """The fields that ask for something, as the manifest holds them."""
        return {item.name: value for item in fields(self) if (value := getattr(self, item.name))}

    def sha256(self) -> str:
        return digest_of(self.wanted())


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A finished file of the export."""

    name: str
    size_bytes: int
    sha256: str


def event_line(seq: int, hash_: bytes, canonical: bytes) -> bytes:
    return canonical_json({"seq": seq, "hash": hash_.hex(), "canonical": canonical.decode()}) + b"\n"


def seal_line(seq: int, prev: bytes, hash_: bytes) -> bytes:
    return canonical_json({"seq": seq, "prev": prev.hex(), "hash": hash_.hex()}) + b"\n"


def events_name(number: int) -> str:
    return f"events-{number:05}.jsonl"


def make_manifest(head: dict[str, Any], files: list[WrittenFile]) -> bytes:
    """The bytes of manifest.json. Args: head: format, tenant, query, from_seq, to_seq, count, first_prev, last_hash, prev_export_sha256."""
    listed = [{"name": item.name, "bytes": item.size_bytes, "sha256": item.sha256} for item in sorted(files, key=lambda item: item.name)]
    return canonical_json({**head, "format": FORMAT, "files": listed})


def escape_cell(text: str) -> str:
    """A text that no spreadsheet runs."""
    return f"'{text}" if text.startswith(RISKY) else text


def csv_line(seq: int, hash_hex: str, event: dict[str, Any]) -> str:
    kind, key = event["subject"]
    data = json.dumps(event["data"], sort_keys=True, ensure_ascii=False)
    cells = [str(seq), event["at"], event["code"], event["actor"], event["channel"], kind, key, data, hash_hex]
    return _write_csv([escape_cell(cell) for cell in cells])


def csv_head() -> str:
    return _write_csv(list(CSV_HEAD))


def _write_csv(cells: list[str]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\r\n").writerow(cells)
    return stream.getvalue()


_SCHEMA: Final[dict[str, Any]] = json.loads((Path(__file__).parent / "ocsf_schema.json").read_text(encoding="utf-8"))
_VERBS: Final = {"created": 1, "added": 1, "read": 2, "deleted": 4, "tombstoned": 4}
ENTITY, ACCOUNT, ACCESS, OTHER = 3004, 3001, 3005, 99
_ACCOUNT: Final = {"user.created": 1, "user.password_changed": 3, "user.deactivated": 5}
_ACCESS: Final = {"role.granted": 1, "role.revoked": 2}


def ocsf_event(seq: int, event: dict[str, Any]) -> dict[str, Any]:
    """An event as the Open Cybersecurity Schema Framework 1.3 names it; ids stay ids."""
    code, (kind, key) = event["code"], event["subject"]
    about: dict[str, Any]
    if code in _ACCOUNT:
        class_uid, activity, about = ACCOUNT, _ACCOUNT[code], {"user": {"uid": key}}
    elif code in _ACCESS:
        class_uid, activity, about = ACCESS, _ACCESS[code], {"user": {"uid": key}, "privileges": [str(event["data"].get("role", ""))]}
    else:
        class_uid, activity, about = ENTITY, _VERBS.get(code.rsplit(".", 1)[-1], OTHER), {"entity": {"type": kind, "uid": key}}
    schema = _SCHEMA["classes"][str(class_uid)]
    return {
        "activity_id": activity,
        "actor": {"user": {"uid": event["actor"]}},
        "category_uid": schema["category_uid"],
        "class_uid": class_uid,
        "message": code,
        "metadata": {
            "log_name": "ledger",
            "product": {"name": "RAG4C", "vendor_name": "RAG4C"},
            "sequence": seq,
            "tenant_uid": event["tenant"],
            "uid": event["id"],
            "version": _SCHEMA["version"],
        },
        "severity_id": 3 if code.endswith(".refused") else 1,
        "status_id": 2 if code.endswith(".refused") else 1,
        "time": int(datetime.fromisoformat(event["at"]).timestamp() * 1000),
        "type_uid": class_uid * 100 + activity,
        "unmapped": {"channel": event["channel"], "data": event["data"]},
        **about,
    }


def find_ocsf_faults(value: dict[str, Any]) -> list[str]:
    """What our schema file finds wrong: class, activity, type number, required fields and their kinds. Empty: valid."""
    schema = _SCHEMA["classes"].get(str(value.get("class_uid")))
    if schema is None:
        return ["class_uid"]
    faults = [path for path, kind in {**_SCHEMA["required"], **schema["required"]}.items() if not _has(value, path, kind)]
    if str(value.get("activity_id")) not in schema["activities"]:
        faults.append("activity_id")
    if value.get("type_uid") != value["class_uid"] * 100 + value.get("activity_id", 0):
        faults.append("type_uid")
    return faults + (["category_uid"] if value.get("category_uid") != schema["category_uid"] else [])


_KINDS: Final[dict[str, type]] = {"integer": int, "string": str, "object": dict, "array": list}


def _has(value: Any, path: str, kind: str) -> bool:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return isinstance(value, _KINDS[kind]) and not isinstance(value, bool) and value != ""
