"""Checks an audit export on a machine that knows nothing of who made it: Python 3.11 and the package `cryptography` are enough.

    python verify_export.py FOLDER --key PUBLIC_KEY.pem [--checkpoint KEPT.json]

Every hash is computed again; nothing in the folder is believed because the folder says so. Exit codes: 0 whole, 1 cannot be checked,
2 altered, 3 something is missing (gap), 4 a signature is not good, 5 contradicts a signed checkpoint. The first that is found decides; signatures
of the manifest and of keys are looked at first, then gaps and content, then checkpoints, then the digests of files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WHOLE, CANNOT, ALTERED, GAP, SIGNATURE, CHECKPOINT = 0, 1, 2, 3, 4, 5
WORDS: Final = {WHOLE: "whole", CANNOT: "cannot be checked", ALTERED: "altered", GAP: "gap", SIGNATURE: "signature", CHECKPOINT: "checkpoint"}
FORMAT: Final = "rag4c.audit-export.1"
LEAF, NODE, CHECKPOINT_TAG, STATEMENT = b"\x01", b"\x02", b"\x03", b"\x04"
NOTHING: Final = "0" * 64
UNCOMPARED: Final = "No checkpoint of your own was compared: whoever holds the signing key could have written the chain anew."
OWN: Final = {"manifest.json", "manifest.sig"}
EVENT_FIELDS: Final = {"seq": int, "hash": str, "canonical": str}
SEAL_FIELDS: Final = {"seq": int, "prev": str, "hash": str}
FILE_FIELDS: Final = {"name": str, "bytes": int, "sha256": str}
TEXTS: Final = ("format", "tenant", "first_prev", "last_hash", "prev_export_sha256")
MANIFEST_FIELDS: Final = dict.fromkeys(TEXTS, str) | dict.fromkeys(("from_seq", "to_seq", "count"), int) | {"query": dict, "files": list}
CHECKPOINT_FIELDS: Final = {**dict.fromkeys(("format", "tenant", "hash", "root", "prev", "at", "key"), str), "from_seq": int, "seq": int}


class Refused(Exception):
    """The export is not what was exported; `code` is the exit code."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Tree:
    """RFC 6962's root over hashes that come one by one, with the prefix 0x02 for nodes."""

    def __init__(self) -> None:
        self.peaks: list[tuple[int, bytes]] = []

    def add(self, leaf: bytes) -> None:
        size, node = 1, leaf
        while self.peaks and self.peaks[-1][0] == size:
            node, size = sha256(NODE + self.peaks.pop()[1] + node), size * 2
        self.peaks.append((size, node))

    def root(self) -> str:
        node = self.peaks[-1][1]
        for _, left in reversed(self.peaks[:-1]):
            node = sha256(NODE + left + node)
        return node.hex()


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def canonical(value: Any) -> bytes:
    """As RFC 8785 writes objects of text and whole numbers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def read_bytes(path: Path, code: int) -> bytes:
    if not path.is_file() or path.is_symlink():
        raise Refused(code, f"{path.name} is missing")
    return path.read_bytes()


def read_object(data: bytes, name: str, code: int) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError:
        value = None
    if not isinstance(value, dict) or canonical(value) != data:
        raise Refused(code, f"{name} is not what was written")
    return value


def load_key(path: Path) -> Ed25519PublicKey:
    try:
        key = serialization.load_pem_public_key(path.read_bytes())
    except (OSError, ValueError) as error:
        raise Refused(CANNOT, f"{path} is no public key in PEM form") from error
    if not isinstance(key, Ed25519PublicKey):
        raise Refused(CANNOT, f"{path} is no Ed25519 key")
    return key


def raw(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def key_id(key: Ed25519PublicKey) -> str:
    return sha256(raw(key)).hex()[:16]


def is_signed(key: Ed25519PublicKey, message: bytes, signature: bytes) -> bool:
    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def unhex(text: Any) -> bytes:
    return bytes.fromhex(text) if isinstance(text, str) and re.fullmatch("([0-9a-f]{2})*", text) else b""


def load_keys(folder: Path, given: Ed25519PublicKey) -> dict[str, Ed25519PublicKey]:
    """The given key and those that it vouches for: each rotation is signed by the old key and by the new one."""
    keys, statements = {key_id(given): given}, []
    for path in sorted(folder.glob("checkpoints/rotation-*.json")):
        statements.append(check_rotation(read_object(path.read_bytes(), path.name, SIGNATURE), path.name))
    for pair in [*statements, *reversed(statements)]:  # forth from an old key, back from a new one
        if any(key_id(key) in keys for key in pair):
            keys.update({key_id(key): key for key in pair})
    return keys


def check_rotation(statement: dict[str, Any], name: str) -> tuple[Ed25519PublicKey, Ed25519PublicKey]:
    old_signature, new_signature = unhex(statement.pop("signature", "")), unhex(statement.pop("countersignature", ""))
    try:
        old, new = (Ed25519PublicKey.from_public_bytes(unhex(statement[side])) for side in ("old", "new"))
    except (KeyError, ValueError) as error:
        raise Refused(SIGNATURE, f"{name} names no keys") from error
    digest = sha256(STATEMENT + canonical(statement))
    if not (is_signed(old, digest, old_signature) and is_signed(new, digest, new_signature)):
        raise Refused(SIGNATURE, f"{name} is not signed by both keys")
    return old, new


def read_manifest(folder: Path, keys: Iterable[Ed25519PublicKey]) -> dict[str, Any]:
    data, signature = read_bytes(folder / "manifest.json", SIGNATURE), read_bytes(folder / "manifest.sig", SIGNATURE)
    if not any(is_signed(key, data, signature) for key in keys):
        raise Refused(SIGNATURE, "manifest.json is not signed by this key")
    manifest = read_object(data, "manifest.json", ALTERED)
    if manifest.get("format") != FORMAT:
        raise Refused(CANNOT, f"this verifier reads {FORMAT}")
    if kinds_of(manifest) != MANIFEST_FIELDS or any(not is_entry(entry) for entry in manifest["files"]):
        raise Refused(ALTERED, "manifest.json has other fields")
    return manifest


def kinds_of(value: dict[str, Any]) -> dict[str, type]:
    return {name: type(item) for name, item in value.items()}


def is_entry(entry: Any) -> bool:
    """A file of this folder with its digest, and no path that leads out of it."""
    return isinstance(entry, dict) and kinds_of(entry) == FILE_FIELDS and not {"", ".", ".."} & set(entry["name"].split("/"))


def read_signed(path: Path, keys: dict[str, Ed25519PublicKey], tag: bytes) -> tuple[dict[str, Any], str]:
    """A checkpoint or stub without its signature, and its digest."""
    body = read_object(read_bytes(path, CHECKPOINT), path.name, SIGNATURE)
    signature = unhex(body.pop("signature", ""))
    digest = sha256(tag + canonical(body))
    key = keys.get(str(body.get("key")))
    if key is None or not is_signed(key, digest, signature):
        raise Refused(SIGNATURE, f"{path.name} is not signed by a key that leads to the given one")
    return body, digest.hex()


def iter_lines(path: Path, fields: dict[str, type]) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        raise Refused(GAP, f"{path.name} is missing")
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                raise Refused(GAP, f"{path.name} ends in the middle of line {number}")
            value = read_object(line[:-1], f"{path.name} line {number}", ALTERED)
            if kinds_of(value) != fields:
                raise Refused(ALTERED, f"{path.name} line {number} has other fields")
            yield value


def iter_events(folder: Path, names: list[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        yield from iter_lines(folder / name, EVENT_FIELDS)


def check_numbers(found: list[int], wanted: list[int], what: str) -> None:
    """Doubled, foreign or reordered numbers were altered; numbers that are not there are a gap."""
    known = set(wanted)
    if len(set(found)) != len(found):
        raise Refused(ALTERED, f"{what}: #{next(seq for seq in found if found.count(seq) > 1)} stands twice")
    if strange := [seq for seq in found if seq not in known]:
        raise Refused(ALTERED, f"{what}: #{strange[0]} does not belong here")
    if missing := sorted(known - set(found)):
        raise Refused(GAP, f"{what}: #{missing[0]} is missing ({len(missing)} in all)")
    if found != wanted:
        raise Refused(ALTERED, f"{what}: the lines are in another order")


def check_events_listed(manifest: dict[str, Any], found: list[int], pruned: set[int]) -> None:
    span = range(manifest["from_seq"], manifest["to_seq"] + 1)
    if not manifest["query"]:
        check_numbers(found, [seq for seq in span if seq not in pruned], "events")
    elif len(found) < manifest["count"]:
        raise Refused(GAP, f"events: {manifest['count'] - len(found)} are missing")
    else:
        check_numbers(found, sorted(set(found) & set(span)), "events")
    if len(found) != manifest["count"]:
        raise Refused(ALTERED, f"events: {len(found)} instead of {manifest['count']}")


@dataclass
class Signed:
    """What the folder holds in signatures: checkpoints with their digests in order, and ranges of pruned numbers."""

    checkpoints: list[tuple[dict[str, Any], str]]
    stubs: list[dict[str, Any]]

    @property
    def pruned(self) -> set[int]:
        return {seq for stub in self.stubs for first, last in stub["ranges"] for seq in range(first, last + 1)}


def walk_chain(folder: Path, manifest: dict[str, Any], names: list[str], ends: set[Any]) -> dict[int, tuple[str, str]]:
    """Every seal in order, every event at its seal; number -> (hash, root since the checkpoint before) at each of `ends`."""
    events, tree, seen = iter_events(folder, names), Tree(), {}
    prev, event = manifest["first_prev"], next(events, None)
    for seal in iter_lines(folder / "seals.jsonl", SEAL_FIELDS):
        seq, hash_ = seal["seq"], seal["hash"]
        if seal["prev"] != prev or len(unhex(hash_)) != 32:
            raise Refused(ALTERED, f"seal #{seq} does not follow the one before")
        if event is not None and event["seq"] == seq:
            if event["hash"] != hash_ or sha256(LEAF + unhex(prev) + event["canonical"].encode()).hex() != hash_:
                raise Refused(ALTERED, f"event #{seq} is not what was sealed")
            event = next(events, None)
        tree.add(unhex(hash_))
        prev = hash_
        if seq in ends:
            seen[seq] = (hash_, tree.root())
            tree = Tree()
    if prev != manifest["last_hash"]:
        raise Refused(ALTERED, "the chain ends in another hash than the manifest says")
    return seen


def check_checkpoints(manifest: dict[str, Any], signed: Signed, seen: dict[int, tuple[str, str]]) -> None:
    after, prev = manifest["from_seq"] - 1, NOTHING if manifest["from_seq"] == 1 else None
    for body, digest in signed.checkpoints:
        name = f"the checkpoint at #{body.get('seq')}"
        if kinds_of(body) != CHECKPOINT_FIELDS:
            raise Refused(CHECKPOINT, f"{name} has other fields")
        if body.get("tenant") != manifest["tenant"]:
            raise Refused(CHECKPOINT, f"{name} is of another tenant")
        if body.get("from_seq") != after + 1 or (prev is not None and body.get("prev") != prev):
            raise Refused(CHECKPOINT, f"{name} does not follow the one before")
        if seen.get(body["seq"]) != (body["hash"], body["root"]):
            raise Refused(CHECKPOINT, f"{name} was signed over another chain")
        after, prev = body["seq"], digest
    if after != manifest["to_seq"]:
        raise Refused(CHECKPOINT, f"no checkpoint confirms the chain after #{after}")


def check_kept(manifest: dict[str, Any], kept: tuple[dict[str, Any], str], signed: Signed, folder: Path) -> None:
    """A checkpoint that the auditor kept from elsewhere decides over everything in the folder."""
    body, digest = kept
    if kinds_of(body) != CHECKPOINT_FIELDS or body["tenant"] != manifest["tenant"]:
        raise Refused(CHECKPOINT, "the kept checkpoint is of another tenant")
    seq = body["seq"]
    if seq == manifest["from_seq"] - 1:
        found, says = manifest["first_prev"], "the export begins after another hash"
    elif manifest["from_seq"] <= seq <= manifest["to_seq"]:
        found = next((seal["hash"] for seal in iter_lines(folder / "seals.jsonl", SEAL_FIELDS) if seal["seq"] == seq), "")
        says = f"the chain at #{seq} is another one than was signed then"
    else:
        raise Refused(
            CHECKPOINT, f"the kept checkpoint at #{seq} lies outside #{manifest['from_seq']} to #{manifest['to_seq']}; ask for an export with it"
        )
    same = [other for other in signed.checkpoints if other[0]["seq"] == seq]
    if found != body["hash"] or any(other != digest for _, other in same):
        raise Refused(CHECKPOINT, says)


def check_stubs(folder: Path, signed: Signed) -> None:
    """The root of a pruned part, where the export holds all its seals."""
    for stub in signed.stubs:
        wanted = {seq for first, last in stub["ranges"] for seq in range(first, last + 1)}
        tree, found = Tree(), 0
        for seal in iter_lines(folder / "seals.jsonl", SEAL_FIELDS):
            if seal["seq"] in wanted:
                tree.add(unhex(seal["hash"]))
                found += 1
        if found == len(wanted) and tree.root() != stub["root"]:
            raise Refused(CHECKPOINT, f"the stub of {stub['name']} was signed over other seals")


def missing_code(name: str) -> int:
    if name.startswith("checkpoints/"):
        return SIGNATURE if name.startswith("checkpoints/rotation-") else CHECKPOINT
    return GAP if name == "seals.jsonl" or name.startswith("events-") else ALTERED


def check_files(folder: Path, manifest: dict[str, Any]) -> None:
    """Nothing listed is missing, nothing is there that is not listed."""
    listed = {entry["name"] for entry in manifest["files"]}
    for name in sorted(listed):
        if not (folder / name).is_file():
            raise Refused(missing_code(name), f"{name} is missing")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    if strange := sorted(there - listed - OWN):
        raise Refused(ALTERED, f"{strange[0]} does not belong to the export")


def check_digests(folder: Path, manifest: dict[str, Any]) -> None:
    for entry in manifest["files"]:
        digest, size = hashlib.sha256(), 0
        with (folder / entry["name"]).open("rb") as stream:
            while part := stream.read(1 << 20):
                digest.update(part)
                size += len(part)
        if (size, digest.hexdigest()) != (entry["bytes"], entry["sha256"]):
            raise Refused(ALTERED, f"{entry['name']} is not the file that was exported")


def read_all_signed(folder: Path, manifest: dict[str, Any], keys: dict[str, Ed25519PublicKey]) -> Signed:
    names = sorted(entry["name"] for entry in manifest["files"] if entry["name"].startswith("checkpoints/"))
    stubs = [read_signed(folder / name, keys, STATEMENT)[0] for name in names if name.startswith("checkpoints/stub-")]
    return Signed([read_signed(folder / name, keys, CHECKPOINT_TAG) for name in names if name[12:13].isdigit()], stubs)


def verify(folder: Path, key_path: Path, checkpoint_path: Path | None = None) -> dict[str, Any]:
    """What was checked, in numbers. Raises: Refused with the exit code."""
    if not folder.is_dir():
        raise Refused(CANNOT, f"{folder} is no folder")
    keys = load_keys(folder, load_key(key_path))
    manifest = read_manifest(folder, keys.values())
    check_files(folder, manifest)
    names = sorted(entry["name"] for entry in manifest["files"] if entry["name"].startswith("events-"))
    span = list(range(manifest["from_seq"], manifest["to_seq"] + 1))
    check_numbers([seal["seq"] for seal in iter_lines(folder / "seals.jsonl", SEAL_FIELDS)], span, "seals")
    found = [event["seq"] for event in iter_events(folder, names)]
    signed = read_all_signed(folder, manifest, keys)
    check_events_listed(manifest, found, signed.pruned)
    seen = walk_chain(folder, manifest, names, {body.get("seq") for body, _ in signed.checkpoints})
    check_checkpoints(manifest, signed, seen)
    check_stubs(folder, signed)
    if checkpoint_path is not None:
        check_kept(manifest, read_signed(checkpoint_path, keys, CHECKPOINT_TAG), signed, folder)
    check_digests(folder, manifest)
    counts = {"events": len(found), "left_out": len(span) - len(found), "checkpoints": len(signed.checkpoints)}
    return {"tenant": manifest["tenant"], "from_seq": span[0], "to_seq": span[-1], **counts}


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        """Exit code 2 means altered here, so wrong words are 1."""
        self.print_usage(sys.stderr)
        self.exit(CANNOT, f"{message}\n")


def main(words: list[str] | None = None) -> int:
    parser = Parser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--key", type=Path, required=True, help="the public key, had from elsewhere than this folder")
    parser.add_argument("--checkpoint", type=Path, help="a checkpoint that you kept: it shows a chain that was written anew")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args(words)
    try:
        seen = verify(arguments.folder, arguments.key, arguments.checkpoint)
    except Refused as error:
        return tell(arguments.json, error.code, {"message": str(error)}, [str(error)])
    span = "tenant {tenant}: #{from_seq} to #{to_seq}, {events} events, {left_out} left out, {checkpoints} checkpoints".format_map(seen)
    return tell(arguments.json, WHOLE, seen | {"compared": bool(arguments.checkpoint)}, [span] if arguments.checkpoint else [span, UNCOMPARED])


def tell(is_json: bool, code: int, data: dict[str, Any], lines: list[str]) -> int:  # noqa: FBT001
    said = json.dumps({"code": code, "verdict": WORDS[code], **data}) if is_json else "\n".join([WORDS[code].upper(), *lines])
    (sys.stdout if code == WHOLE or is_json else sys.stderr).write(said + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
