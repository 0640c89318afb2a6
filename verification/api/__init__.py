"""What other apps and the surfaces may call of verification."""

from verification.api.answering import answer_question
from verification.api.contract import AnswerView, CitationView, CitedDocument, ClaimView, ConflictSide, LifelineStep, LifelineView, SourceView
from verification.api.lifeline import read_lifeline
from verification.api.reading import list_answers, list_answers_citing, read_answer, read_cited_document

__all__ = [
    "AnswerView",
    "CitationView",
    "CitedDocument",
    "ClaimView",
    "ConflictSide",
    "LifelineStep",
    "LifelineView",
    "SourceView",
    "answer_question",
    "list_answers",
    "list_answers_citing",
    "read_answer",
    "read_cited_document",
    "read_lifeline",
]
