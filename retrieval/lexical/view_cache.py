"""One byte-bounded folder of view files a host. Every file can be made again from the segments, so none is ever repaired."""

from __future__ import annotations

import os
import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from rag4c.kernel.canonical import digest_of
from rag4c.kernel.clock import now
from rag4c.kernel.errors import Unavailable
from retrieval.lexical.segments import join_postings
from retrieval.lexical.views import VIEW_FORMAT, View, read_segment_digests, write_view

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from retrieval.lexical.segments import Segment

_SUFFIX = ".view"
_ABANDONED_AFTER = timedelta(hours=1)  # writing the view of a million chunks takes about two seconds


class ViewCache:
    """Opens views by the digests of their segments, and makes those that are missing or damaged.

    Args: folder: private to the service; made if absent. max_bytes: of all view files; the least recently opened go first.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder, self._max_bytes = folder, max_bytes
        self._lock = threading.Lock()
        self._writing: dict[str, threading.Lock] = {}
        self._open: dict[str, View] = {}
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._remove_abandoned()

    def open_view(self, segment_digests: Sequence[str], load: Callable[[], Sequence[Segment]]) -> View:
        """The view of these segments, in this order.

        A file that another process has unlinked is not served again from memory, so that a purge reaches every process of the host.

        Args: load: reads the segments in the same order; called only when there is no usable file.
        Raises: Unavailable("lexical_cache_too_small") when the view alone exceeds max_bytes.
        """
        name = digest_of([VIEW_FORMAT, *segment_digests])
        path = self._folder / f"{name}{_SUFFIX}"
        with self._lock:
            writing = self._writing.setdefault(name, threading.Lock())
        with writing:
            view = self._reopen(name, path, segment_digests) or self._make(path, segment_digests, load)
            with self._lock:
                self._open[name] = view
        return view

    def forget_segments(self, segment_digests: Collection[str]) -> int:
        """Unlink every view made from any of these segments, and let go of it here; returns how many files went.

        Who still holds a View can read it: purge waits for each worker's acknowledgement besides.
        """
        removed = 0
        for path in self._folder.glob(f"*{_SUFFIX}"):
            if not _is_made_from(path, segment_digests):
                continue
            path.unlink(missing_ok=True)
            removed += 1
        with self._lock:
            self._open = {name: view for name, view in self._open.items() if not set(segment_digests).intersection(view.segment_digests)}
        return removed

    def _reopen(self, name: str, path: Path, segment_digests: Sequence[str]) -> View | None:
        try:
            os.utime(path)
        except FileNotFoundError:
            return None
        view = self._open.get(name)
        if view is not None:
            return view
        try:
            view = View(path)
        except Unavailable:
            return None
        except FileNotFoundError:  # another process evicted it since
            return None
        return view if view.segment_digests == tuple(segment_digests) else None

    def _make(self, path: Path, segment_digests: Sequence[str], load: Callable[[], Sequence[Segment]]) -> View:
        write_view(path, join_postings(load()), segment_digests)
        view = View(path)
        size_bytes = path.stat().st_size
        if size_bytes > self._max_bytes:
            path.unlink(missing_ok=True)
            raise Unavailable(
                "lexical_cache_too_small",
                "One lexical view is larger than the whole view cache; raise the size of the cache.",
                {"view_bytes": size_bytes, "max_bytes": self._max_bytes},
            )
        self._evict(keep=path)
        return view

    def _evict(self, keep: Path) -> None:
        files = sorted(self._list_files(), key=lambda file: (file[0] == keep, file[1]))
        total_bytes = sum(size_bytes for _, _, size_bytes in files)
        for path, _, size_bytes in files:
            if total_bytes <= self._max_bytes:
                return
            path.unlink(missing_ok=True)
            with self._lock:
                self._open.pop(path.stem, None)
            total_bytes -= size_bytes

    def _list_files(self) -> list[tuple[Path, int, int]]:
        """Path, time of last opening in ns, and size of each view file."""
        files = []
        for path in self._folder.glob(f"*{_SUFFIX}"):
            try:
                stat = path.stat()
            except FileNotFoundError:  # another process evicted it since
                continue
            files.append((path, stat.st_mtime_ns, stat.st_size))
        return files

    def _remove_abandoned(self) -> None:
        """Temporary files of processes that ended while writing."""
        oldest = (now() - _ABANDONED_AFTER).timestamp()
        for path in self._folder.glob(f"*{_SUFFIX}.*.tmp"):
            try:
                is_abandoned = path.stat().st_mtime < oldest
            except FileNotFoundError:  # its writer renamed it since
                continue
            if is_abandoned:
                path.unlink(missing_ok=True)


def _is_made_from(path: Path, segment_digests: Collection[str]) -> bool:
    """True for a damaged file too: nobody can say what is in it."""
    try:
        return bool(set(segment_digests).intersection(read_segment_digests(path)))
    except Unavailable:
        return True
    except FileNotFoundError:
        return False
