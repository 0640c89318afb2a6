"""Instruction-like text that is aimed at a language model: refused as evidence before anything is scored (SYS-A7)."""

from __future__ import annotations


def unsafe_reason(text: str) -> str:
    return ""
