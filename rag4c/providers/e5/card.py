"""The converted model's folder and its card, `model.json`: which files with which digests make up the model."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from rag4c.kernel.canonical import canonical_json, digest_of
from rag4c.kernel.errors import Absent, Invalid

if TYPE_CHECKING:
    from pathlib import Path

MODEL_NAME = "multilingual-e5-small"
FOLDER_NAME = "e5-small"
CONVERTER_VERSION = 1
CARD_FILE, ENCODER_FILE, WORDS_FILE, PIECES_FILE = "model.json", "model.onnx", "words.npy", "pieces.npz"
MODEL_FILES = (ENCODER_FILE, WORDS_FILE, PIECES_FILE)
CONVERT_COMMAND = "python -m rag4c.providers.e5.convert"


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What was converted from what. min_cosine: the worst agreement with the original over the fixed texts."""

    model: str
    converter_version: int
    tokenizer_version: int
    weights_sha256: str
    files: dict[str, str]
    dims: int
    max_tokens: int
    min_cosine: float

    @property
    def model_sha256(self) -> str:
        """Digest over the digests of all files."""
        return digest_of(self.files)


def write_card(folder: Path, card: ModelCard) -> None:
    """Write the card; the conversion does so last."""
    (folder / CARD_FILE).write_bytes(canonical_json(asdict(card)))


def read_card(folder: Path) -> ModelCard:
    """The card of a converted model.

    Raises: Absent("model_missing") with the command that makes it; Invalid("model_broken") when the card cannot be read or is of another version.
    """
    try:
        values = json.loads((folder / CARD_FILE).read_bytes())
    except FileNotFoundError as error:
        raise Absent("model_missing", f"The embedding model is not converted yet: run `{CONVERT_COMMAND}`.", {"folder": str(folder)}) from error
    except ValueError as error:
        raise _broken(CARD_FILE) from error
    try:
        card = ModelCard(**values)
    except TypeError as error:
        raise _broken(CARD_FILE) from error
    if card.converter_version != CONVERTER_VERSION or set(card.files) != set(MODEL_FILES):
        raise _broken(CARD_FILE)
    return card


def check_files(folder: Path, card: ModelCard) -> None:
    """Compare every file with the card. Raises: Invalid("model_broken") naming the file."""
    for name, expected in card.files.items():
        path = folder / name
        if not path.is_file() or hash_file(path) != expected:
            raise _broken(name)


def hash_file(path: Path) -> str:
    """sha256 of a file, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _broken(file: str) -> Invalid:
    return Invalid("model_broken", f"A file of the converted model is not what its card says: run `{CONVERT_COMMAND}` again.", {"file": file})
