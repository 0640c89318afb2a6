"""The project's own code as the tests of its shape read it: syntax trees, not running code."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rag4c.kernel.env import PROJECT_DIR

if TYPE_CHECKING:
    from types import ModuleType

FORMATTED = re.compile(r"\{(\w+)\}")
STEPS = ("parsing", "splitting", "indexing")  # what {step} in a failpoint's name stands for


@cache
def load_script(name: str) -> ModuleType:
    """A module of `.ci`, which is no package."""
    spec = importlib.util.spec_from_file_location(f"ci_{name}", PROJECT_DIR / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@cache
def all_sources() -> list:
    return load_script("lint_rules").read_sources()


@dataclass(frozen=True, slots=True)
class Failpoint:
    name: str
    place: str


def failpoints() -> list[Failpoint]:
    """Every `fp("…")` of the product; a formatted {step} counts once for each step."""
    lint, found = load_script("lint_rules"), []
    for source in all_sources():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and lint.dotted(node.func).split(".")[-1] == "fp" and node.args:
                place = f"{source.path}:{node.lineno}"
                found += [Failpoint(name, place) for name in _names_of(node.args[0])]
    return found


def _names_of(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant):
        return [node.value]
    text = ast.unparse(node)[2:-1]  # f'ingest.{step}.claim.before'
    return [FORMATTED.sub(step, text) for step in STEPS]


def called_names(function: ast.AST) -> set[str]:
    """Dotted names of what a function calls, its inner functions included."""
    lint = load_script("lint_rules")
    return {lint.dotted(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)} - {""}
