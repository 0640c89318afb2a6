"""Public handbook documents and their questions (RAG4C_SHARED/data/handbook) through the whole product; prints name=value lines.

A hit: an answer that cites the right document with a span that overlaps the gold quote. Only Markdown and HTML documents are read.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.platform import temporary_platform

READ = (".md", ".html", ".txt")
ANSWERED = ("answered", "partial", "answered_unverified")


def main() -> int:
    shared = os.environ.get("RAG4C_SHARED")
    if not shared:
        print("skipped=RAG4C_SHARED is not set")
        return 0
    data = Path(shared) / "data" / "handbook"
    folder = Path(tempfile.mkdtemp(prefix="handbook-"))
    for source in sorted((data / "docs").iterdir()):
        if source.suffix in READ:
            shutil.copy(source, folder / source.name)
    questions = [json.loads(line) for line in (data / "questions.jsonl").read_text(encoding="utf-8").splitlines() if line.strip()]
    with temporary_platform() as kit:
        rows = [(question, kit.ask(question["question"])) for question in kit.publish(folder, questions)]
    shutil.rmtree(folder)
    report(rows)
    return 0


def is_readable(question: dict[str, Any]) -> bool:
    return all(source["doc"].endswith(READ) for source in question["sources"])


def report(rows: list[tuple[dict[str, Any], Any]]) -> None:
    from rag4c.demo.overlap import overlaps

    hits = wrong = refused = hallucinated = found = false_conflicts = 0
    answerable = [row for row in rows if row[0]["kind"] == "answerable" and is_readable(row[0])]
    unanswerable = [row for row in rows if row[0]["kind"] == "unanswerable"]
    conflicts = [row for row in rows if row[0]["kind"] == "conflict"]
    for question, answer in answerable:
        cited = [(row.document, row.quote) for row in answer.citations]
        is_hit = any(
            source["doc"].endswith("/" + document) and overlaps(quote, source["quote"]) for source in question["sources"] for document, quote in cited
        )
        said = answer.status in ANSWERED
        hits += said and is_hit
        wrong += said and not is_hit
        refused += not said
        false_conflicts += answer.reason == "conflicting_evidence"
        print(f"{question['id']} {'HIT' if said and is_hit else 'WRONG' if said else answer.reason} confidence={answer.confidence}", file=sys.stderr)
    for question, answer in unanswerable:
        hallucinated += answer.status in ANSWERED
        print(f"{question['id']} {'HALLUCINATED' if answer.status in ANSWERED else answer.reason} confidence={answer.confidence}", file=sys.stderr)
    for question, answer in conflicts:
        found += answer.reason == "conflicting_evidence"
        print(f"{question['id']} {answer.status} {answer.reason}", file=sys.stderr)
    total = len(answerable) + len(unanswerable)
    print(f"hit={hits}/{len(answerable)} share={hits / len(answerable):.3f}")
    print(f"wrong={wrong} hallucinated={hallucinated} of={total} share={(wrong + hallucinated) / total:.3f}")
    print(f"refused={refused} false_conflicts={false_conflicts}")
    print(f"conflict_found={found}/{len(conflicts)}")


if __name__ == "__main__":
    sys.exit(main())
