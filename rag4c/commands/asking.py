"""`ask`, `search`: as a person, with exactly their grant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag4c.commands.base import add_command, emit, open_platform, person_actor

if TYPE_CHECKING:
    import argparse

    from verification.api import AnswerView


def add_commands(commands: Any) -> None:
    ask = add_command(commands, "ask", run_ask, "ask a question; exit code 1 when there is no answer", person=True)
    search = add_command(commands, "search", run_search, "show the passages that a question finds", person=True)
    search.add_argument("-k", type=int, default=10)
    for parser in (ask, search):
        parser.add_argument("question")
        parser.add_argument("--kb", help="one knowledge base (default: all of the workspace)")
        parser.add_argument("--workspace", default="main")
        parser.add_argument("--channel", default="live")
    ask.add_argument("--purpose", default="")


def run_ask(arguments: argparse.Namespace) -> int:
    with open_platform():
        from documents import api as documents
        from verification import api as verification

        actor = person_actor(arguments)
        bases = [documents.find_knowledge_base(actor=actor, slug=arguments.kb).id] if arguments.kb else []
        answer = verification.answer_question(
            actor=actor,
            question=arguments.question,
            workspace=arguments.workspace,
            knowledge_bases=bases,
            channel=arguments.channel,
            purpose=arguments.purpose,
        )
    emit(arguments, answer, answer_lines(answer))
    return 0 if answer.status in {"answered", "partial", "answered_unverified"} else 1


def answer_lines(answer: AnswerView) -> list[str]:
    lines = [answer.answer] if answer.answer else []
    if answer.reason:
        lines.append(f"No answer: {answer.reason}" + "".join(f" {key}={value}" for key, value in answer.reason_detail.items()))
    lines += [f"[{row.n}] {row.document} {row.locator} ({row.current_state})  {' '.join(row.quote.split())}" for row in answer.citations]
    lines.append(f"status={answer.status} scope={answer.support_scope} checked={answer.same_key_sources_checked} answer={answer.answer_id}")
    return lines


def run_search(arguments: argparse.Namespace) -> int:
    with open_platform():
        from documents import api as documents
        from retrieval import api as retrieval
        from tenants import api as tenants

        actor = person_actor(arguments)
        workspace = tenants.find_workspace(actor=actor, key=arguments.workspace)
        bases = documents.list_knowledge_bases(actor=actor, workspace_id=workspace)
        chosen = [base.id for base in bases if not arguments.kb or base.slug == arguments.kb]
        hits = retrieval.search(actor=actor, question=arguments.question, knowledge_base_ids=chosen, channel=arguments.channel, k=arguments.k)
    rows = [{"document": hit.evidence.path, "locator": hit.evidence.locator, "scores": hit.scores, "text": hit.evidence.text} for hit in hits]
    emit(
        arguments, rows, [f"{row['document']} {row['locator']} {_scores(row['scores'])}  {' '.join(str(row['text']).split())[:120]}" for row in rows]
    )
    return 0 if rows else 1


def _scores(scores: Any) -> str:
    return " ".join(f"{name}={value:.4f}" for name, value in sorted(scores.items()))
