"""Writes the files of an export into its folder, each whole or not at all, and the same bytes every time."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from compliance import rules
from compliance.rules import WrittenFile
from rag4c.kernel.canonical import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OWN_FILES: Final = ("VERIFY.md", "verify_export.py")
HERE: Final = Path(__file__).parent
ZIP_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows: the same files give the same archive
SEPARATOR: Final = "\r\n"


def write_file(folder: Path, name: str, parts: Iterable[bytes]) -> WrittenFile:
    """Through a draft that is renamed, so that a crash leaves no half of a file under its name."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft, digest, size = path.with_name(f".{path.name}.new"), hashlib.sha256(), 0
    with draft.open("wb") as stream:
        for part in parts:
            stream.write(part)
            digest.update(part)
            size += len(part)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)
    return WrittenFile(name, size, digest.hexdigest())


def copy_own_files(folder: Path) -> list[WrittenFile]:
    """The page that says how to check, and the verifier."""
    return [write_file(folder, name, [(HERE / name).read_bytes()]) for name in OWN_FILES]


def write_views(folder: Path, views: Iterable[str], events: list[str]) -> list[WrittenFile]:
    """Args: views: of `csv`, `ocsf`. events: names of the finished event files, in order."""
    makers = {"csv": ("events.csv", _csv_lines), "ocsf": ("events.ocsf.jsonl", _ocsf_lines)}
    return [write_file(folder, makers[view][0], makers[view][1](folder, events)) for view in sorted(views)]


def _iter_events(folder: Path, names: list[str]) -> Iterator[tuple[int, str, dict[str, object]]]:
    for name in names:
        with (folder / name).open("rb") as stream:
            for line in stream:
                fields = json.loads(line)
                yield fields["seq"], fields["hash"], json.loads(fields["canonical"])


def _csv_lines(folder: Path, names: list[str]) -> Iterator[bytes]:
    yield rules.csv_head().encode()
    for seq, hash_, event in _iter_events(folder, names):
        yield rules.csv_line(seq, hash_, event).encode()


def _ocsf_lines(folder: Path, names: list[str]) -> Iterator[bytes]:
    for seq, _, event in _iter_events(folder, names):
        yield canonical_json(rules.ocsf_event(seq, event)) + b"\n"


def write_zip(folder: Path, names: Iterable[str]) -> Path:
    """The archive beside the folder, with the files in the order of their names."""
    path = folder.with_suffix(".zip")
    draft = path.with_name(f".{path.name}.new")
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(names):
            info = zipfile.ZipInfo(f"{folder.name}/{name}", ZIP_DATE)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            with (folder / name).open("rb") as source, archive.open(info, "w") as target:
                while part := source.read(1 << 20):
                    target.write(part)
    draft.replace(path)
    return path
