"""`rag4c demo`: ingest a folder through the real workers, ask every question, compare status, reason, document and span."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rag4c.commands.base import progress, say
from rag4c.demo import CORPUS, QUESTIONS
from rag4c.demo.overlap import fold, overlaps
from rag4c.demo.publish import publish_folder
from rag4c.demo.seed import demo_actor
from rag4c.kernel.canonical import sha256_hex
from tenants import api as tenants
from verification import api as verification

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from verification.api import AnswerView

ANSWERED: Final = ("answered", "partial", "answered_unverified")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question, what came, and what is wrong with it (empty when right)."""

    question: dict[str, Any]
    answer: AnswerView
    fault: str


def run(arguments: argparse.Namespace, people: list[str]) -> int:
    """Exit code 0 only when every question came out as expected."""
    folder = (arguments.docs or CORPUS).absolute()
    questions = [json.loads(line) for line in (arguments.questions or QUESTIONS).read_text(encoding="utf-8").splitlines() if line.strip()]
    host = demo_actor()
    slug = "handbook" if folder == CORPUS else f"demo-{sha256_hex(str(folder))[:8]}"
    base_id = publish_folder(host, slug, folder)
    asker = tenants.actor_for_user(tenant_id=host.tenant_id, user_id=tenants.find_user(actor=host, username=people[-1]), channel="cli")
    outcomes = []
    started = time.monotonic()
    for number, question in enumerate(questions, start=1):
        progress(f"asking {number} of {len(questions)}")
        answer = verification.answer_question(actor=asker, question=question["question"], knowledge_bases=[base_id])
        outcomes.append(Outcome(question, answer, judge(question["expect"], answer)))
    progress("")
    if arguments.output_dir:
        _write(arguments.output_dir, outcomes)
    return _report(outcomes, time.monotonic() - started)


def judge(expect: dict[str, Any], answer: AnswerView) -> str:
    """What is wrong with an answer, in words; empty when it is as expected."""
    if expect["status"] == "answered":
        if answer.status not in ANSWERED:
            return f"{answer.status}: {answer.reason} instead of an answer"
        return _judge_sources(expect, answer)
    if answer.status != expect["status"]:
        return f"{answer.status} instead of {expect['status']}"
    reasons = expect["reason"] if isinstance(expect["reason"], list) else [expect["reason"]]
    if answer.reason not in reasons:
        return f"reason {answer.reason} instead of {' or '.join(reasons)}"
    return _judge_sides(expect, answer) if answer.reason == "conflicting_evidence" else ""


def _judge_sources(expect: dict[str, Any], answer: AnswerView) -> str:
    cited = [(citation.document, citation.quote) for citation in answer.citations]
    for source in expect["sources"]:
        if not any(document == source["document"] and overlaps(quote, source["quote"]) for document, quote in cited):
            return f"cites {sorted({document for document, _ in cited})} and not {source['document']} at the expected words"
    missing = [part for part in expect.get("contains", []) if fold(part) not in fold(answer.answer)]
    return f"does not say {missing}" if missing else ""


def _judge_sides(expect: dict[str, Any], answer: AnswerView) -> str:
    cited = {side.document for side in answer.conflict}
    missing = sorted({source["document"] for source in expect["sources"]} - cited)
    return f"the side of {missing} is missing" if missing else ""


def _write(folder: Path, outcomes: list[Outcome]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "answers.jsonl").open("w", encoding="utf-8") as stream:
        for outcome in outcomes:
            row = {
                "id": outcome.question["id"],
                "kind": outcome.question.get("kind"),
                "status": outcome.answer.status,
                "reason": outcome.answer.reason,
                "answer": outcome.answer.answer,
                "confidence": outcome.answer.confidence,
                "citations": [{"document": row.document, "quote": row.quote} for row in outcome.answer.citations],
                "fault": outcome.fault,
            }
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def _report(outcomes: list[Outcome], seconds: float) -> int:
    kinds = Counter(outcome.question.get("kind", "") for outcome in outcomes)
    right = Counter(outcome.question.get("kind", "") for outcome in outcomes if not outcome.fault)
    for outcome in outcomes:
        if outcome.fault:
            say(f"WRONG {outcome.question['id']} [{outcome.question.get('kind', '')}] {outcome.question['question']}: {outcome.fault}")
    for kind, total in sorted(kinds.items()):
        say(f"{kind}={right[kind]}/{total}")
    say(f"right={sum(right.values())}/{len(outcomes)} seconds={seconds:.1f}")
    return 0 if sum(right.values()) == len(outcomes) else 1
