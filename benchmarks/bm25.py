"""BM25 of retrieval.lexical beside bm25s on SciFact: same token ids, same run. Prints `name=value` lines. RAG4C_SHARED names the data folder."""

from __future__ import annotations

import json
import logging
import math
import os
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from retrieval.lexical.analyzer import analyze
from retrieval.lexical.engine import LexicalIndex
from retrieval.lexical.packing import digest_rows, pack_segment
from retrieval.lexical.segments import build_segment
from retrieval.lexical.view_cache import ViewCache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

K = 10
ROUNDS = 5  # the two engines take turns, and the best round counts: the machine is shared
RELATIVE_TOLERANCE = 1e-5  # bm25s sums in float32

Ranking = list[tuple[float, int]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Args: chunks, queries: their terms. relevant: for each query {chunk number: grade}."""

    chunks: list[list[str]]
    queries: list[list[str]]
    relevant: list[dict[int, int]]


def read_lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_corpus(folder: Path) -> Corpus:
    documents, queries = read_lines(folder / "corpus.jsonl"), read_lines(folder / "queries.jsonl")
    numbers = {document["id"]: no for no, document in enumerate(documents)}
    relevant: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query_id, document_id, grade = line.split("\t")
        relevant[query_id][numbers[document_id]] = int(grade)
    return Corpus(
        chunks=[analyze(f"{document.get('title', '')}\n{document['text']}") for document in documents],
        queries=[analyze(query["text"]) for query in queries],
        relevant=[relevant[query["id"]] for query in queries],
    )


def make_own_search(chunks: list[list[str]], folder: Path) -> Callable[[list[str]], Ranking]:
    segment = build_segment(chunks, range(len(chunks)))
    index = LexicalIndex([ViewCache(folder, 1 << 30).open_view([digest_rows(pack_segment(segment))], lambda: [segment])])
    mask = index.make_mask(np.ones(index.chunk_count, np.bool_))
    return lambda terms: [(hit.score, hit.ordinal) for hit in index.search(terms, mask, K)]


def make_peer(chunks: list[list[str]]) -> tuple[Callable[[list[str]], Ranking], Callable[[list[str]], NDArray[np.float32]]]:
    """bm25s: its search, and the scores of all chunks."""
    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    peer.index(chunks, show_progress=False)

    def search(terms: list[str]) -> Ranking:
        found = peer.retrieve([terms], k=K, show_progress=False)
        return list(zip(found.scores[0].tolist(), found.documents[0].tolist(), strict=True))

    return search, lambda terms: np.asarray(peer.get_scores(terms))


def is_equal_ranking(own: Ranking, all_scores: NDArray[np.float32]) -> bool:
    """The scores fall alike, and each hit has the peer's score for that chunk; among equals, who is in may differ."""
    best = np.sort(all_scores[all_scores > 0])[::-1][:K]
    return len(own) == len(best) and all(
        math.isclose(score, expected, rel_tol=RELATIVE_TOLERANCE) and math.isclose(score, all_scores[no], rel_tol=RELATIVE_TOLERANCE)
        for (score, no), expected in zip(own, best.tolist(), strict=True)
    )


def measure_latencies(search: Callable[[list[str]], Ranking], queries: Sequence[list[str]]) -> NDArray[np.float64]:
    """p50 and p95 in ms of one query at a time."""
    latencies_ms = []
    for terms in queries:
        start = time.perf_counter()
        search(terms)
        latencies_ms.append((time.perf_counter() - start) * 1000)
    return np.percentile(latencies_ms, (50, 95))


def compute_ndcg(ranking: Ranking, relevant: dict[int, int]) -> float:
    gain = sum(relevant.get(no, 0) / math.log2(place + 2) for place, (score, no) in enumerate(ranking) if score > 0)
    ideal = sum(grade / math.log2(place + 2) for place, grade in enumerate(sorted(relevant.values(), reverse=True)[:K]))
    return gain / ideal


def compare(corpus: Corpus, folder: Path) -> None:
    own, (peer, score_all) = make_own_search(corpus.chunks, folder), make_peer(corpus.chunks)
    equal = sum(is_equal_ranking(own(terms), score_all(terms)) for terms in corpus.queries)
    print(f"chunks={len(corpus.chunks)}")
    print(f"bm25s_equal={equal} queries={len(corpus.queries)}")
    rounds = [(measure_latencies(own, corpus.queries), measure_latencies(peer, corpus.queries)) for _ in range(ROUNDS)]
    own_ms, peer_ms = (np.min([pair[side] for pair in rounds], axis=0) for side in (0, 1))
    for name, place in (("p50", 0), ("p95", 1)):
        print(f"rag4c_{name}_ms={own_ms[place]:.3f} bm25s_{name}_ms={peer_ms[place]:.3f} ratio_{name}={own_ms[place] / peer_ms[place]:.2f}")
    for name, search in (("rag4c", own), ("bm25s", peer)):
        scores = [compute_ndcg(search(terms), relevant) for terms, relevant in zip(corpus.queries, corpus.relevant, strict=True)]
        print(f"{name}_ndcg_at_10={np.mean(scores):.4f}")


def main() -> None:
    shared = os.environ.get("RAG4C_SHARED")
    if not shared:
        print("skipped=RAG4C_SHARED is not set")
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(read_corpus(Path(shared) / "data" / "retrieval" / "scifact"), Path(folder))


if __name__ == "__main__":
    main()
