"""Fits the numbers of verification/rules/extract_weights.py on development sets and prints what they reach.

usage: RAG4C_SHARED=<folder> python -m benchmarks.fit_answerability [--print-weights]
Logistic regression with one allowed sign per feature. English: the development half of SQuAD 2, and its answerable questions with the paragraph
withheld. Chinese: that of CMRC and, half as heavy in sum, company questions of our own (the demo's and those under benchmarks/sets), each once with and
once without its document. Figures are out of fold, five folds by paragraph; test halves and held-out sets are not read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import bm25s
import numpy as np

from documents import chunking
from documents.parsing.registry import parse_bytes
from rag4c.demo import CORPUS, QUESTIONS
from rag4c.demo.overlap import overlaps
from rag4c.providers.registry import get_embedder
from verification.rules.contract import Passage, Scores
from verification.rules.extract import answer_values, rank_sentences
from verification.rules.extract_model import logit_of
from verification.rules.extract_weights import RANK_WEIGHTS
from verification.rules.lexicon_words import read_words
from verification.rules.question import read_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CHINESE_SIGNS = {
    "cos": 1, "cos_lead": 1, "margin": 1, "type": 1, "type_missing": -1, "cov_rest": 1, "cov_ctx": 1, "worst_near": -1, "opposite": -1, "hard_near": 1,
}  # fmt: skip
SIGNS = {
    "type": 1, "type_near": 1, "cos": 1, "cov_gap": -1, "opposite": -1, "negated_asked": -1, "type_missing": -1, "number_conflict": -1, "hint_near": 1,
    "phrases": 1, "probe_missing": 1, "clause": 1, "statement": 1, "margin": 1,
}  # fmt: skip
RIDGE, STEPS, RATE = 5.0, 1_500, 0.3
FOLDS = 5
CMRC_MASS, COMPANY_MASS = 200, 100  # examples that the two Chinese sources count for; less for CMRC costs more there than it gains at home
TOP_PASSAGES = 8


@dataclass(slots=True)
class Example:
    """The best sentence of one question: its features, whether it is right, whether the question can be answered."""

    values: dict[str, float]
    right: bool
    answerable: bool
    group: str


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights by name, and the bias."""

    names: tuple[str, ...]
    weights: np.ndarray
    bias: float

    def rate(self, examples: list[Example]) -> np.ndarray:
        rated: np.ndarray = to_rows(examples, self.names) @ self.weights + self.bias
        return rated

    def show(self) -> dict[str, float]:
        pairs = zip(self.names, self.weights, strict=True)
        return {"bias": round(self.bias, 4)} | {name: round(float(weight), 4) for name, weight in pairs if weight}


def plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if unicodedata.category(char)[0] in "LN")


def read_rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def take_half(questions: list[dict], split: str) -> list[dict]:
    """The split of the shared protocol: by sha256("dev:" + id)."""
    ordered = sorted(questions, key=lambda row: hashlib.sha256(("dev:" + row["id"]).encode()).hexdigest())
    middle = len(ordered) // 2
    return ordered[:middle] if split == "dev" else ordered[middle:]


def make_embed() -> Callable:
    """The installed embedding, remembered by text."""
    embedder, held = get_embedder(), {}

    def embed(texts, kind):
        missing = [text for text in dict.fromkeys(texts) if (kind, text) not in held]
        if missing:
            rows = embedder.embed_queries(missing) if kind == "query" else embedder.embed_passages(missing)
            held.update({(kind, text): row for text, row in zip(missing, rows, strict=True)})
        return np.stack([held[kind, text] for text in texts])

    return embed


class Base:
    """One set's paragraphs, searched by reciprocal rank fusion (k = 60) of BM25 and the embedding."""

    def __init__(self, passages: list[Passage], embed: Callable) -> None:
        self.passages, self.embed = passages, embed
        texts = ["\n".join((*passage.heading_path, passage.text)) for passage in passages]
        self.matrix = embed(texts, "passage")
        self.index = bm25s.BM25()
        self.index.index([[word.key for word in read_words(text)] or ["_"] for text in texts], show_progress=False)

    def search(self, question: str, count: int) -> list[Passage]:
        dense = self.matrix @ self.embed([question], "query")[0]
        known = [key for key in {word.key for word in read_words(question)} if key in self.index.vocab_dict]
        lexical = self.index.get_scores(known) if known else np.zeros(len(self.passages))
        fused = np.zeros(len(self.passages))
        for scores in (dense, lexical):
            for rank, place in enumerate(np.argsort(-scores)[:200]):
                fused[place] += (scores[place] > 0) / (61 + rank)
        best = np.argsort(-fused)[:count]
        return [
            replace(self.passages[i], n=n, scores=Scores(float(dense[i]), float(lexical[i]), float(fused[i]))) for n, i in enumerate(best, start=1)
        ]


def whole_passages(rows: Iterable[dict]) -> list[Passage]:
    return [Passage(0, row["id"], row["id"], row["id"], row["id"], (), row["text"], 0, "", "") for row in rows]


def chunk_folder(folder: Path) -> list[Passage]:
    """The passages of a folder as the product cuts them."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        for chunk in chunking.split(parse_bytes(path.read_bytes(), name)):
            if not chunk.hidden:
                found.append(Passage(0, f"{name}#{chunk.ordinal}", name, name, name, chunk.heading_path, chunk.text, chunk.span_start, "", ""))
    return found


def collect_company(folder: Path, questions: list[dict], embed: Callable) -> list[Example]:
    """Each question over the whole folder, and each answerable one again without the documents that answer it."""
    whole, examples = Base(chunk_folder(folder), embed), []
    for row in questions:
        sources = {source["document"] for source in row["expect"].get("sources", ())} if row["expect"]["status"] == "answered" else set()
        examples += rate_company(whole, row)
        if sources:
            rest = Base([passage for passage in whole.passages if passage.document not in sources], embed)
            examples += [replace(example, right=False, answerable=False) for example in rate_company(rest, row)]
    return examples


def rate_company(base: Base, row: dict) -> list[Example]:
    reading = read_question(row["question"])
    ranked = rank_sentences(reading, base.search(row["question"], TOP_PASSAGES + 2), base.embed)
    if not ranked:
        return []
    best, answerable = ranked[0][1], row["expect"]["status"] == "answered"
    right = answerable and any(best.passage.document == gold["document"] and overlaps(best.text, gold["quote"]) for gold in row["expect"]["sources"])
    return [Example(answer_values(reading, ranked, best, base.embed), right, answerable, row["question"])]


def company_examples(embed: Callable, lang: str) -> list[Example]:
    sets = Path(__file__).parent / "sets"
    pairs = [(CORPUS, QUESTIONS), *((path.parent / "docs", path) for path in sorted(sets.glob("*/questions.jsonl")))]
    pairs += [(CORPUS, path) for path in sorted(sets.glob("*/demo-paraphrases.jsonl"))]
    found = []
    for folder, path in pairs:
        if not (path.parent / "HELD_OUT").exists():
            found += collect_company(folder, [row for row in read_rows(path) if row["lang"] == lang], embed)
    return found


def collect(base: Base, questions: list[dict], *, withheld: bool = False) -> list[Example]:
    examples = []
    for row in questions:
        gold = [plain(answer) for answer in row["answers"]] if row["answerable"] else []
        passages = base.search(row["question"], TOP_PASSAGES + 2)
        if withheld:
            passages = [p for p in passages if p.document != row["doc"] and not any(answer in plain(p.text) for answer in gold)]
        reading = read_question(row["question"])
        ranked = rank_sentences(reading, passages[:TOP_PASSAGES], base.embed)
        if ranked:
            best = ranked[0][1]
            right = not withheld and any(answer in plain(best.text) for answer in gold)
            group = row.get("doc") or row.get("withheld_doc") or row["id"]
            examples.append(Example(answer_values(reading, ranked, best, base.embed), right, row["answerable"] and not withheld, group))
    return examples


def fit_signed(examples: list[Example], signs: dict[str, int], weights: np.ndarray) -> Fitted:
    """Ridge logistic regression by projected gradient: a weight of the wrong sign is 0. Weights and bias are for raw features."""
    rows, labels, sign = to_rows(examples, signs), np.array([example.right for example in examples], float), np.array(list(signs.values()))
    mean, spread = np.average(rows, axis=0, weights=weights), rows.std(0) + 1e-9
    scaled, chosen, bias = (rows - mean) / spread, np.zeros(rows.shape[1]), 0.0
    for _ in range(STEPS):
        error = weights * (1 / (1 + np.exp(-(scaled @ chosen + bias))) - labels)
        chosen = chosen - RATE * (scaled.T @ error + RIDGE * chosen) / weights.sum()
        bias -= RATE * error.sum() / weights.sum()
        chosen = np.where(chosen * sign < 0, 0, chosen)
    raw = chosen / spread
    return Fitted(tuple(signs), raw, float(bias - mean @ raw))


def to_rows(examples: list[Example], names: Iterable[str]) -> np.ndarray:
    return np.array([[example.values[name] for name in names] for example in examples])


def fold_of(example: Example) -> int:
    return int(hashlib.sha256(example.group.encode()).hexdigest(), 16) % FOLDS


def score_out_of_fold(examples: list[Example], signs: dict[str, int], weights: np.ndarray) -> np.ndarray:
    scores, folds = np.zeros(len(examples)), np.array([fold_of(example) for example in examples])
    for fold in range(FOLDS):
        seen = folds != fold
        fitted = fit_signed([example for example, used in zip(examples, seen, strict=True) if used], signs, weights[seen])
        scores[~seen] = fitted.rate([example for example, used in zip(examples, seen, strict=True) if not used])
    return scores


def right_at(scores: np.ndarray, examples: list[Example], limit: float) -> tuple[float, float]:
    """Share of answerable questions answered rightly at the best cut with at most `limit` hallucination, and the cut."""
    answerable = np.array([example.answerable for example in examples])
    right = np.array([example.right for example in examples])
    best, at = 0.0, float("inf")
    for cut in np.unique(scores):
        said = scores >= cut
        if (said & ~answerable).sum() <= limit * (~answerable).sum() and (said & right).sum() > best * answerable.sum():
            best, at = float((said & right).sum() / answerable.sum()), float(cut)
    return best, at


def auc_of(scores: np.ndarray, right: np.ndarray) -> float:
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(len(scores))
    return float((ranks[right].mean() - (right.sum() - 1) / 2) / (~right).sum())


def report(name: str, scores: np.ndarray, base_scores: np.ndarray, examples: list[Example]) -> None:
    right = np.array([example.right for example in examples])
    rng = np.random.default_rng(1)
    gains = []
    for _ in range(1_000):
        pick = rng.integers(0, len(right), len(right))
        gains.append(auc_of(scores[pick], right[pick]) - auc_of(base_scores[pick], right[pick]))
    low, high = np.percentile(gains, [2.5, 97.5])
    print(f"{name}: n={len(examples)} auc={auc_of(scores, right):.3f} rank_rule_auc={auc_of(base_scores, right):.3f} gain=[{low:.3f}, {high:.3f}]")
    for limit in (0.03, 0.05, 0.10):
        best, cut = right_at(scores, examples, limit)
        print(f"  right_at_{limit:.0%}={best:.3f} cut={cut:.3f} rank_rule={right_at(base_scores, examples, limit)[0]:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print-weights", action="store_true")
    arguments = parser.parse_args()
    data, embed = Path(os.environ["RAG4C_SHARED"]) / "data", make_embed()
    english = take_half(read_rows(data / "answer/squad2-en/questions.jsonl"), "dev")
    base = Base(whole_passages(read_rows(data / "answer/squad2-en/corpus.jsonl")), embed)
    adversarial = collect(base, english)
    both = adversarial + collect(base, [row for row in english if row["answerable"]], withheld=True)
    scores = score_out_of_fold(both, SIGNS, np.ones(len(both)))
    report("squad2-en", scores[: len(adversarial)], rank_logits(adversarial), adversarial)
    fitted = {"en": fit_signed(both, SIGNS, np.ones(len(both)))}
    own = company_examples(embed, "en")
    report("company-en", fitted["en"].rate(own), rank_logits(own), own)

    hidden = set((data / "answer/cmrc-zh/withheld.txt").read_text(encoding="utf-8").split())
    base = Base(whole_passages(row for row in read_rows(data / "retrieval/cmrc-zh/corpus.jsonl") if row["id"] not in hidden), embed)
    public = collect(base, take_half(read_rows(data / "answer/cmrc-zh/end_to_end.jsonl"), "dev"))
    own = company_examples(embed, "zh")
    both, weights = public + own, np.repeat([CMRC_MASS / len(public), COMPANY_MASS / len(own)], [len(public), len(own)])
    scores = score_out_of_fold(both, CHINESE_SIGNS, weights)
    report("cmrc-zh", scores[: len(public)], rank_logits(public), public)
    report("company-zh", scores[len(public) :], rank_logits(own), own)
    fitted["zh"] = fit_signed(both, CHINESE_SIGNS, weights)
    if arguments.print_weights:
        print({lang: model.show() for lang, model in fitted.items()})


def rank_logits(examples: list[Example]) -> np.ndarray:
    return np.array([logit_of(RANK_WEIGHTS, example.values) for example in examples])


if __name__ == "__main__":
    main()
