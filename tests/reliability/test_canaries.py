"""Seeded bugs: each patch in `canaries/` breaks one rule in a copy of the tree, and the tests that it names must turn red there.

A patch begins with `rule:`, `bug:` and one or more `red:` lines, each a test's id; the rest is a unified diff against the product.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rag4c.kernel.env import PROJECT_DIR

FOLDER = Path(__file__).parent / "canaries"
MIN_CANARIES = 29  # a lane that shrinks fails
LIMIT_S = 600
INHERITED = ("HOME", "LANG", "PATH", "TMPDIR", "RAG4C_MODEL_DIR")  # a copy starts services of its own, so nothing of this run's may reach it


@dataclass(frozen=True, slots=True)
class Canary:
    """A seeded bug. red: ids of the tests that must fail with it."""

    path: Path
    rule: str
    bug: str
    red: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path.stem


def read_canary(path: Path) -> Canary:
    head = [line.split(": ", 1) for line in path.read_text(encoding="utf-8").split("\n\n", 1)[0].splitlines()]
    fields = {name: [value for other, value in head if other == name] for name, _ in head}
    assert set(fields) == {"rule", "bug", "red"}, f"{path.name} needs the lines rule, bug and red"
    return Canary(path, fields["rule"][0], fields["bug"][0], tuple(fields["red"]))


CANARIES = [read_canary(path) for path in sorted(FOLDER.glob("*.patch"))]


def copy_tree(target: Path) -> Path:
    """What git knows of the tree, and what it would add."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=PROJECT_DIR, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (PROJECT_DIR / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(PROJECT_DIR / name, target / name)
    return target


def apply_patch(tree: Path, canary: Canary, *words: str) -> str:
    """What git says against it; empty when it applies."""
    env = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)}  # inside a repository `git apply` would take paths for that one's
    done = subprocess.run(["git", "apply", *words, str(canary.path)], cwd=tree, env=env, check=False, capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else ""


def find_outcomes(report: Path) -> dict[str, str]:
    """Test id -> `passed`, `failure`, `error` or `skipped`, from a JUnit report."""
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314  # written by our own run
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        found[f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"] = kinds.pop() if kinds else "passed"
    return found


def run_tests(tree: Path, ids: list[str]) -> tuple[int, dict[str, str], str]:
    """Exit code, outcome of each test, and the last of what was printed."""
    report = tree / "report.xml"
    env = {name: os.environ[name] for name in INHERITED if name in os.environ}
    words = ["-q", "-p", "no:randomly", "-m", "", f"--junitxml={report}", *ids]
    command = [sys.executable, "-m", "pytest", *words]
    done = subprocess.run(command, cwd=tree, env=env, check=False, capture_output=True, text=True, timeout=LIMIT_S)
    return done.returncode, find_outcomes(report) if report.exists() else {}, (done.stdout + done.stderr)[-2000:]


def outcomes_of(outcomes: dict[str, str], test_id: str) -> set[str]:
    """An id without parameters stands for all of them."""
    return {outcome for name, outcome in outcomes.items() if name == test_id or name.startswith(f"{test_id}[")}


def why_missed(canary: Canary, root: Path) -> str:
    """Why the bug was not caught by the tests that it names; empty when each of them failed."""
    tree = copy_tree(root / canary.name)
    try:
        if refused := apply_patch(tree, canary):
            return f"does not apply: {refused}"
        code, outcomes, said = run_tests(tree, list(canary.red))
    except subprocess.TimeoutExpired:
        return f"not decided in {LIMIT_S} s"
    finally:
        shutil.rmtree(tree, ignore_errors=True)
    green = [test_id for test_id in canary.red if "failure" not in outcomes_of(outcomes, test_id)]
    if code == 1 and not green and "error" not in outcomes.values():
        return ""
    return f"exit {code}, still green: {green}, outcomes {sorted(set(outcomes.values()))}\n{said}"


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: canary.name)
def test_every_canary_applies_and_names_tests_that_are_there(canary):
    assert apply_patch(PROJECT_DIR, canary, "--check") == ""
    for test_id in canary.red:
        path, name = test_id.split("[")[0].split("::")
        tree = ast.parse((PROJECT_DIR / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert not path.startswith("tests/reliability/test_canaries")


def test_the_numbers_of_canaries_have_no_gap():
    assert [canary.name.split("-")[0] for canary in CANARIES] == [f"{number:02}" for number in range(1, len(CANARIES) + 1)]
    assert len(CANARIES) >= MIN_CANARIES


@pytest.mark.slow
def test_every_seeded_bug_is_caught(tmp_path, capsys):
    ids = sorted({test_id for canary in CANARIES for test_id in canary.red})
    code, outcomes, said = run_tests(copy_tree(tmp_path / "unpatched"), ids)
    assert (code, set(outcomes.values())) == (0, {"passed"}), said
    missed = {canary.name: why for canary in CANARIES if (why := why_missed(canary, tmp_path))}
    with capsys.disabled():
        print(f"\ncanaries={len(CANARIES)} caught={len(CANARIES) - len(missed)}")
    assert missed == {}
