"""The demo: a company's handbook of our own words (CC0) and questions with what is expected of each."""

from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
QUESTIONS = Path(__file__).parent / "questions.jsonl"
