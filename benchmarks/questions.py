"""Question sets of our own (benchmarks/sets) through the whole product; prints name=value lines and, on the error stream, what came out wrong.

A hit: an answer that cites an expected document with a span that overlaps the gold quote. usage: python -m benchmarks.questions [set …]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.platform import temporary_platform
from rag4c.demo import CORPUS
from rag4c.demo.overlap import overlaps

SETS = Path(__file__).parent / "sets"
ANSWERED = ("answered", "partial", "answered_unverified")


def main(names: list[str]) -> int:
    folders = [SETS / name for name in names] or sorted(path for path in SETS.iterdir() if path.is_dir())
    with temporary_platform() as kit:
        for folder in folders:
            held = " held_out=1" if (folder / "HELD_OUT").exists() else ""
            ask_all(kit, folder.name + held, folder / "docs", folder / "questions.jsonl")
        for folder in folders:
            ask_all(kit, f"{folder.name}/demo-paraphrases", CORPUS, folder / "demo-paraphrases.jsonl")
    return 0


def ask_all(kit: Any, name: str, docs: Path, path: Path) -> None:
    questions = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    kit.publish(docs, questions, slug=docs.parent.name)
    counts = dict.fromkeys(("hit", "wrong", "refused", "hallucinated", "false_conflict", "conflict_found", "conflict_answered"), 0)
    totals = dict.fromkeys(("answerable", "unanswerable", "conflict"), 0)
    for question in questions:
        answer = kit.ask(question["question"])
        kind = kind_of(question["expect"])
        totals[kind] += 1
        outcome = judge(kind, question["expect"], answer)
        counts[outcome] = counts.get(outcome, 0) + 1
        if outcome in {"wrong", "hallucinated", "false_conflict", "conflict_answered"}:
            print(f"{name} {question['id']} {outcome} confidence={answer.confidence} {question['question']}", file=sys.stderr)
    shown = " ".join(f"{key}={value}" for key, value in counts.items())
    print(f"set={name} {' '.join(f'{kind}={total}' for kind, total in totals.items())} {shown}")


def kind_of(expect: dict[str, Any]) -> str:
    if expect["status"] == "answered":
        return "answerable"
    return "conflict" if expect["reason"] == "conflicting_evidence" else "unanswerable"


def judge(kind: str, expect: dict[str, Any], answer: Any) -> str:
    said = answer.status in ANSWERED
    if kind == "unanswerable":
        return "hallucinated" if said else "right_refusal"
    if kind == "conflict":
        return "conflict_answered" if said else "conflict_found" if answer.reason == "conflicting_evidence" else "conflict_missed"
    if not said:
        return "false_conflict" if answer.reason == "conflicting_evidence" else "refused"
    cited = [(row.document, row.quote) for row in answer.citations]
    is_hit = any(document == gold["document"] and overlaps(quote, gold["quote"]) for gold in expect["sources"] for document, quote in cited)
    return "hit" if is_hit else "wrong"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
