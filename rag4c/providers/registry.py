"""Which embedders there are, and one loaded instance of each a process. Nothing is loaded before it is asked for."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag4c.kernel.errors import Absent, Invalid
from rag4c.providers.folders import default_model_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rag4c.providers.protocols import Embedder

DEFAULT_EMBEDDER = "e5-small"
WORKER_THREADS, WEB_THREADS = 1, 2  # workers run side by side; a web request waits for one query vector
MAX_THREADS = 64


@dataclass(frozen=True, slots=True)
class EmbedderEntry:
    """A model on offer.

    Args: max_tokens: of the model, prefix and special tokens included. load: (models folder, threads, batch size) to an embedder.
    """

    name: str
    model: str
    dims: int
    max_tokens: int
    batch_size: int
    normalisation: str
    load: Callable[[Path, int, int], Embedder]


def _load_e5(models_folder: Path, threads: int, batch_size: int) -> Embedder:
    from rag4c.providers.e5.card import FOLDER_NAME
    from rag4c.providers.e5.embedder import E5Embedder

    return E5Embedder(models_folder / FOLDER_NAME, threads=threads, batch_size=batch_size)


EMBEDDERS = {
    entry.name: entry
    for entry in (EmbedderEntry("e5-small", "multilingual-e5-small", dims=384, max_tokens=512, batch_size=32, normalisation="l2", load=_load_e5),)
}


class _Loaded:
    """Instances by process id, name, threads and folder, so that a forked child never gets its parent's."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.embedders: dict[tuple[int, str, int, Path], Embedder] = {}

    def renew_lock(self) -> None:
        """In a child: a thread of the parent may have held the lock at the fork."""
        self.lock = threading.Lock()


_loaded = _Loaded()
os.register_at_fork(after_in_child=_loaded.renew_lock)


def get_embedder(name: str = DEFAULT_EMBEDDER, *, threads: int = WORKER_THREADS) -> Embedder:
    """The embedder of this process; its files are read at the first text.

    Args: threads: that one run may use; `WEB_THREADS` where a person waits.
    Raises: Absent("embedder_unknown" | "model_missing"), Invalid("threads_out_of_range" | "model_broken"). Source: SYS-C8.
    """
    entry = EMBEDDERS.get(name)
    if entry is None:
        raise Absent("embedder_unknown", f"Choose one of: {', '.join(EMBEDDERS)}.", {"name": name})
    if not 1 <= threads <= MAX_THREADS:
        raise Invalid("threads_out_of_range", f"Choose 1 to {MAX_THREADS} threads.", {"threads": threads})
    folder = default_model_folder()
    key = (os.getpid(), name, threads, folder)
    with _loaded.lock:
        if key not in _loaded.embedders:
            _loaded.embedders[key] = _checked(entry, entry.load(folder, threads, entry.batch_size))
        return _loaded.embedders[key]


def _checked(entry: EmbedderEntry, embedder: Embedder) -> Embedder:
    """What a caller planned with must be what it gets."""
    space = embedder.space
    if (space.model, space.dims, space.max_tokens, space.normalisation) != (entry.model, entry.dims, entry.max_tokens, entry.normalisation):
        raise Invalid("model_broken", "The model's files do not fit its registry entry.", {"name": entry.name, "dims": space.dims})
    return embedder
