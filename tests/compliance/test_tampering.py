"""Every way to change an export, in every file, has its exit code: 2 altered, 3 gap, 4 signature, 5 contradicts a checkpoint."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from compliance import rules
from compliance.rules import AuditQuery
from compliance.verify_export import ALTERED, CHECKPOINT, GAP, SIGNATURE, WHOLE
from rag4c.kernel.canonical import canonical_json
from rag4c.ledger import chain, keys


@pytest.fixture
def folder(audit, monkeypatch):
    """Three checkpoints, several files of events, both views."""
    monkeypatch.setattr(rules, "LINES_PER_FILE", 4)
    monkeypatch.setattr("compliance.api.exporting.PAGE", 3)
    for _ in range(3):
        audit.record(2, word="one two", n=7)
        audit.seal()
        folder = audit.export(views=frozenset(rules.VIEWS))
    return folder


class Bench:
    """Copies of one export, each changed once and verified."""

    def __init__(self, folder, verify):
        self.folder, self.verify, self.wrong, self.tried = folder, verify, [], 0
        self.files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        self.copy = folder.with_name("changed")

    def expect(self, code, what, *words, resign=False, **_):
        """`what` is (name, bytes or None) pairs; resign: by somebody who holds the signing key and fixes the manifest."""
        shutil.rmtree(self.copy, ignore_errors=True)
        files = {**self.files, **dict(what)}
        files = {name: data for name, data in files.items() if data is not None}
        if resign:
            files = with_new_manifest(files)
        for name, data in files.items():
            path = self.copy / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        found = self.verify(self.copy, *words)
        self.tried += 1
        if found != code:
            self.wrong.append((found, code, [name for name, _ in what], resign, what[0][1][:200] if what and what[0][1] else None))

    def both(self, code, what, **options):
        """The same by a stranger, who leaves the manifest as it is, and by an insider who signs a new one."""
        self.expect(code, what, **options)
        self.expect(code, what, resign=True, **options)

    def done(self, at_least):
        assert self.wrong == []
        assert self.tried >= at_least


@pytest.fixture
def bench(folder, verify):
    made = Bench(folder, verify)
    made.expect(WHOLE, [])
    made.expect(WHOLE, [], resign=True)
    return made


def with_new_manifest(files, **fields):
    manifest = {**json.loads(files["manifest.json"]), **fields}
    listed = [name for name in files if name not in {"manifest.json", "manifest.sig"}]
    manifest["files"] = [{"name": name, "bytes": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()} for name in sorted(listed)]
    data = canonical_json(manifest)
    return {**files, "manifest.json": data, "manifest.sig": keys.load_signer().sign(data)}


def lines_of(data):
    return data.splitlines(keepends=True)


def dump(value):
    return canonical_json(value) + b"\n"


def other(value):
    """A value of the same kind that is another one."""
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return [*value, "x"]
    if isinstance(value, dict):
        return {**value, "x": 1}
    text = str(value)
    return ("0" if text[:1] != "0" else "1") + text[1:]


def changed_lines(fields):
    """Each field of a line changed, left out and given another kind, and one field more."""
    for name, value in fields.items():
        yield {**fields, name: other(value)}
        yield {key: item for key, item in fields.items() if key != name}
        yield {**fields, name: [value]}
    if "seq" in fields:
        yield {**fields, "seq": fields["seq"] + 10**6}
        yield {**fields, "seq": str(fields["seq"])}
    yield {**fields, "more": 1}


LINE_FILES = ("events-00001.jsonl", "events-00002.jsonl", "seals.jsonl")


def test_GOV_U9_every_field_of_every_line_is_bound(bench):
    for name in LINE_FILES:
        lines = lines_of(bench.files[name])
        for at, line in enumerate(lines):
            for fields in changed_lines(json.loads(line)):
                bench.both(ALTERED, [(name, b"".join([*lines[:at], dump(fields), *lines[at + 1 :]]))])
            bench.both(ALTERED, [(name, b"".join([*lines[:at], b" " + line, *lines[at + 1 :]]))])
            bench.both(ALTERED, [(name, b"".join([*lines[:at], b"no json\n", *lines[at + 1 :]]))])
    bench.done(400)


def test_GOV_U9_every_field_of_every_event_is_bound(bench):
    for name in LINE_FILES[:2]:
        lines = lines_of(bench.files[name])
        for at, line in enumerate(lines):
            fields = json.loads(line)
            event = json.loads(fields["canonical"])
            for key, value in event.items():
                changed = canonical_json({**event, key: other(value)}).decode()
                bench.both(ALTERED, [(name, b"".join([*lines[:at], dump({**fields, "canonical": changed}), *lines[at + 1 :]]))])
            # the line's own hash made to fit does not help
            fitting = chain.leaf_hash(bytes(32), changed.encode()).hex()
            bench.both(ALTERED, [(name, b"".join([*lines[:at], dump({**fields, "canonical": changed, "hash": fitting}), *lines[at + 1 :]]))])
    bench.done(120)


def test_GOV_U1_every_dropped_doubled_and_swapped_line_is_found(bench):
    for name in LINE_FILES:
        lines = lines_of(bench.files[name])
        for at in range(len(lines)):
            bench.both(GAP, [(name, b"".join(lines[:at] + lines[at + 1 :]))])
            bench.both(ALTERED, [(name, b"".join([*lines[: at + 1], *lines[at:]]))])
        for at in range(len(lines) - 1):
            bench.both(ALTERED, [(name, b"".join([*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]))])
    bench.done(80)


def test_GOV_U1_every_truncation_is_a_gap(bench):
    for name in LINE_FILES:
        data = bench.files[name]
        ends = {at + 1 for at, byte in enumerate(data) if byte == 10} - {len(data)}
        for size in sorted({0, len(data) - 1, *ends, *range(1, len(data), 61)}):
            bench.both(GAP, [(name, data[:size])])
        bench.both(GAP, [(name, None)]) if name == "seals.jsonl" else bench.expect(GAP, [(name, None)])
    bench.done(100)


def test_events_moved_between_files_are_found(bench):
    first, second = (lines_of(bench.files[name]) for name in LINE_FILES[:2])
    bench.expect(ALTERED, [("events-00001.jsonl", b"".join(first[:-1])), ("events-00002.jsonl", b"".join([first[-1], *second]))])
    bench.both(ALTERED, [("events-00001.jsonl", b"".join(second)), ("events-00002.jsonl", b"".join(first))])
    bench.done(3)


def test_GOV_U8_every_field_of_every_checkpoint_is_signed(bench):
    names = [name for name in bench.files if name.startswith("checkpoints/")]
    stranger = Ed25519PrivateKey.generate()
    for name in names:
        fields = json.loads(bench.files[name])
        for key, value in fields.items():
            bench.both(SIGNATURE, [(name, canonical_json({**fields, key: other(value)}))])
            bench.both(SIGNATURE, [(name, canonical_json({item: part for item, part in fields.items() if item != key}))])
        body = {key: value for key, value in fields.items() if key != "signature"} | {"key": keys.key_id_of(stranger.public_key())}
        forged = {**body, "signature": stranger.sign(chain.checkpoint_digest(canonical_json(body))).hex()}
        bench.both(SIGNATURE, [(name, canonical_json(forged))])
        bench.both(SIGNATURE, [(name, bench.files[name][:-9])])
        bench.both(SIGNATURE, [(name, b"")])
        bench.both(CHECKPOINT, [(name, None)])
    for left, right in itertools.pairwise(names):
        bench.both(CHECKPOINT, [(left, bench.files[right]), (right, bench.files[left])])
    bench.done(100)


def test_every_field_of_the_manifest_and_every_byte_of_its_signature_is_signed(bench):
    manifest = json.loads(bench.files["manifest.json"])
    for key, value in manifest.items():
        bench.expect(SIGNATURE, [("manifest.json", canonical_json({**manifest, key: other(value)}))])
        bench.expect(SIGNATURE, [("manifest.json", canonical_json({name: item for name, item in manifest.items() if name != key}))])
    for at, entry in enumerate(manifest["files"]):
        for key, value in entry.items():
            files = [*manifest["files"][:at], {**entry, key: other(value)}, *manifest["files"][at + 1 :]]
            bench.expect(SIGNATURE, [("manifest.json", canonical_json({**manifest, "files": files}))])
    for size in range(0, len(bench.files["manifest.json"]), 97):
        bench.expect(SIGNATURE, [("manifest.json", bench.files["manifest.json"][:size])])
    signature = bench.files["manifest.sig"]
    for at in range(64):
        bench.expect(SIGNATURE, [("manifest.sig", signature[:at] + bytes([signature[at] ^ 1]) + signature[at + 1 :])])
        bench.expect(SIGNATURE, [("manifest.sig", signature[:at])])
    for name in ("manifest.json", "manifest.sig"):
        bench.expect(SIGNATURE, [(name, None)])
    bench.done(180)


def test_what_a_signed_manifest_says_must_be_so(bench):
    """Somebody with the key signs a manifest that says something else than the folder holds."""
    manifest = json.loads(bench.files["manifest.json"])
    says = [({"count": manifest["count"] + 1}, ALTERED), ({"from_seq": 2}, ALTERED), ({"to_seq": manifest["to_seq"] + 1}, GAP),
            ({"first_prev": "1" * 64}, ALTERED), ({"last_hash": "1" * 64}, ALTERED), ({"tenant": "x"}, CHECKPOINT)]  # fmt: skip
    for fields, code in says:
        changed = with_new_manifest(bench.files, **fields)
        bench.expect(code, [(name, changed[name]) for name in ("manifest.json", "manifest.sig")])
    bench.done(8)


def test_views_pages_and_the_verifier_itself_are_listed_with_their_digests(bench):
    for name in ("events.csv", "events.ocsf.jsonl", "VERIFY.md", "verify_export.py"):
        bench.expect(ALTERED, [(name, bench.files[name] + b" ")])
        bench.expect(ALTERED, [(name, bench.files[name][:-1])])
        bench.expect(ALTERED, [(name, bench.files[name].replace(b"a", b"b", 1))])
        bench.expect(ALTERED, [(name, None)])
    for name in ("more.txt", "checkpoints/000000000099.json", "events-00099.jsonl", ".hidden"):
        bench.expect(ALTERED, [(name, b"{}")])
    bench.done(20)


def rewritten_tail(files, from_seq, *, with_checkpoints):
    """Events from a number on say something else, and the chain is computed anew; checkpoints are signed anew by whoever holds the key."""
    seals, hashes, prev = [], {}, None
    events = {fields["seq"]: fields for name in files if name.startswith("events-0") for fields in map(json.loads, lines_of(files[name]))}
    for line in lines_of(files["seals.jsonl"]):
        fields = json.loads(line)
        prev = fields["prev"] if prev is None else prev
        event = events[fields["seq"]]
        if fields["seq"] >= from_seq:
            event["canonical"] = event["canonical"].replace("one two", "one six")
        hash_ = chain.leaf_hash(bytes.fromhex(prev), event["canonical"].encode()).hex()
        seals.append(dump({"seq": fields["seq"], "prev": prev, "hash": hash_}))
        event["hash"] = hashes[fields["seq"]] = prev = hash_
    made = {**files, "seals.jsonl": b"".join(seals)}
    for name in [name for name in files if name.startswith("events-0")]:
        made[name] = b"".join(dump(events[json.loads(line)["seq"]]) for line in lines_of(files[name]))
    return with_new_checkpoints(made, hashes) if with_checkpoints else made, prev


def with_new_checkpoints(files, hashes):
    prev, signer = chain.NO_CHECKPOINT, keys.load_signer()
    for name in sorted(name for name in files if name.startswith("checkpoints/")):
        fields = json.loads(files[name])
        leaves = [bytes.fromhex(hashes[seq]) for seq in range(fields["from_seq"], fields["seq"] + 1)]
        body = {key: value for key, value in fields.items() if key != "signature"}
        body |= {"hash": hashes[fields["seq"]], "root": chain.merkle_root(leaves).hex(), "prev": prev}
        digest = chain.checkpoint_digest(canonical_json(body))
        files[name], prev = canonical_json({**body, "signature": signer.sign(digest).hex()}), digest.hex()
    return files


def test_GOV_U8_a_rewritten_tail_contradicts_the_checkpoints(bench):
    last = json.loads(bench.files["manifest.json"])["to_seq"]
    for from_seq in range(last - 6, last + 1):
        files, head = rewritten_tail(bench.files, from_seq, with_checkpoints=False)
        if files["seals.jsonl"] == bench.files["seals.jsonl"]:
            continue  # nothing in that event could be changed
        bench.expect(ALTERED, list(files.items()))  # the manifest's last hash is the old one
        changed = with_new_manifest(files, last_hash=head)
        bench.expect(SIGNATURE, [*files.items(), ("manifest.json", changed["manifest.json"])])
        bench.expect(CHECKPOINT, list(changed.items()))
    bench.done(10)


def test_GOV_U8_only_a_checkpoint_kept_elsewhere_shows_a_chain_that_the_key_holder_wrote_anew(bench, tmp_path):
    last = json.loads(bench.files["manifest.json"])["to_seq"]
    files, head = rewritten_tail(bench.files, last - 6, with_checkpoints=True)
    assert files["seals.jsonl"] != bench.files["seals.jsonl"]
    changed = list(with_new_manifest(files, last_hash=head).items())
    bench.expect(WHOLE, changed)  # and the verifier says that it compared no checkpoint of the auditor's
    kept = tmp_path / "kept.json"
    for name in sorted(name for name in bench.files if name.startswith("checkpoints/0")):
        kept.write_bytes(bench.files[name])
        is_touched = bench.files[name] != files[name]
        bench.expect(CHECKPOINT if is_touched else WHOLE, changed, "--checkpoint", kept)
        bench.expect(WHOLE, [], "--checkpoint", kept)
    bench.done(8)


def test_a_kept_checkpoint_must_itself_be_signed_of_this_tenant_and_within(bench, tmp_path, audit):
    name = sorted(name for name in bench.files if name.startswith("checkpoints/0"))[0]
    fields, kept = json.loads(bench.files[name]), tmp_path / "kept.json"
    kept.write_bytes(canonical_json({**fields, "hash": other(fields["hash"])}))
    bench.expect(SIGNATURE, [], "--checkpoint", kept)
    body = {key: value for key, value in fields.items() if key != "signature"}
    for change in ({"tenant": "x"}, {"seq": 10**6}, {"at": "2026"}, {"hash": "1" * 64}):
        made = canonical_json({**body, **change})
        kept.write_bytes(canonical_json({**body, **change, "signature": keys.load_signer().sign(chain.checkpoint_digest(made)).hex()}))
        bench.expect(CHECKPOINT, [], "--checkpoint", kept)
    bench.expect(CHECKPOINT, [], "--checkpoint", tmp_path / "absent.json")
    bench.done(8)


def test_GOV_U11_an_export_over_a_rotation_is_whole_for_either_key_and_for_no_other(audit, verify, tmp_path):
    from rag4c.ledger import api as ledger

    old = tmp_path / "old.pem"
    old.write_bytes(keys.public_key_path().read_bytes())
    audit.record(2)
    audit.seal()
    audit.export()
    ledger.rotate_signing_key(actor=audit.kit.alice)
    audit.record(2)
    audit.seal()
    folder = audit.export()
    assert [path.name for path in folder.glob("checkpoints/rotation-*.json")] == ["rotation-0002.json"]
    assert (verify(folder), verify(folder, key=old)) == (WHOLE, WHOLE)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    from cryptography.hazmat.primitives import serialization

    public = Ed25519PrivateKey.generate().public_key()
    (foreign / "k.pem").write_bytes(public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    assert verify(folder, key=foreign / "k.pem") == SIGNATURE
    bench = Bench(folder, verify)
    statement = json.loads(bench.files["checkpoints/rotation-0002.json"])
    for key, value in statement.items():
        bench.both(SIGNATURE, [("checkpoints/rotation-0002.json", canonical_json({**statement, key: other(value)}))])
    bench.both(SIGNATURE, [("checkpoints/rotation-0002.json", None)])
    bench.done(12)


def test_a_filtered_export_is_bound_line_by_line_too(audit, verify):
    for code in ("thing.kept", "thing.left", "thing.kept", "thing.left", "thing.kept"):
        audit.record(2, code=code, word="one two")
    audit.seal()
    bench = Bench(audit.export(query=AuditQuery(code="thing.kept")), verify)
    bench.expect(WHOLE, [])
    name = "events-00001.jsonl"
    lines = lines_of(bench.files[name])
    for at, line in enumerate(lines):
        for fields in changed_lines(json.loads(line)):
            bench.both(ALTERED, [(name, b"".join([*lines[:at], dump(fields), *lines[at + 1 :]]))])
        bench.both(GAP, [(name, b"".join(lines[:at] + lines[at + 1 :]))])
    seals = lines_of(bench.files["seals.jsonl"])
    for at, line in enumerate(seals):  # also of what was left out: the signed root binds each hash
        fields = json.loads(line)
        forged = {**fields, "hash": other(fields["hash"])}
        follows = [dump({**json.loads(seals[at + 1]), "prev": forged["hash"]})] if at + 1 < len(seals) else []
        bench.expect(ALTERED, [("seals.jsonl", b"".join([*seals[:at], dump(forged), *seals[at + 1 :]]))])
        found = CHECKPOINT if follows and not is_shown(lines, fields["seq"], fields["seq"] + 1) else ALTERED
        bench.expect(found, [("seals.jsonl", b"".join([*seals[:at], dump(forged), *follows, *seals[at + 2 :]]))], resign=True)
    bench.done(100)


def is_shown(lines, *numbers):
    return bool({json.loads(line)["seq"] for line in lines} & set(numbers))
