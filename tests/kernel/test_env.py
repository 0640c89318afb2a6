"""Every setting is declared once, typed, in range, and secrets are never shown."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag4c.kernel import env
from rag4c.kernel.errors import Invalid

RANGED = [variable for variable in env.VARIABLES if variable.kind == "int"]


@pytest.mark.parametrize("variable", RANGED, ids=lambda variable: variable.name)
def test_a_number_is_taken_in_its_range_only(variable, monkeypatch):
    for value in (variable.low, variable.high):
        monkeypatch.setenv(variable.name, str(value))
        assert env.read_int(variable.name) == value
    for text in (str(variable.low - 1), str(variable.high + 1), "x", "1.5", "--5", "5-", " 5", "1e3", "0x10"):
        monkeypatch.setenv(variable.name, text)
        with pytest.raises(Invalid) as caught:
            env.read_int(variable.name)
        assert caught.value.code == "setting_invalid"
        assert variable.name in caught.value.message
        assert str(variable.high) in caught.value.message
    monkeypatch.delenv(variable.name)
    assert env.read_int(variable.name) == int(variable.default)


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12))
def test_no_text_breaks_the_reading_of_a_number(text):
    before = os.environ.get("RAG4C_WORKERS")
    os.environ["RAG4C_WORKERS"] = text
    try:
        assert 1 <= env.read_int("RAG4C_WORKERS") <= 64
    except Invalid as error:
        assert error.code == "setting_invalid"
    finally:
        os.environ.pop("RAG4C_WORKERS")
        if before is not None:
            os.environ["RAG4C_WORKERS"] = before


def test_a_number_without_a_range_takes_any(monkeypatch):
    monkeypatch.setitem(env._BY_NAME, "RAG4C_FREE", env.Variable("RAG4C_FREE", "int", "7", "Free."))
    monkeypatch.setenv("RAG4C_FREE", "-1234567")
    assert env.read_int("RAG4C_FREE") == -1234567


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("TRUE", True), ("yes", True), ("on", True), ("0", False), ("False", False), ("no", False), ("off", False)]
)
def test_a_switch_knows_its_words(text, value, monkeypatch):
    monkeypatch.setenv("RAG4C_SECURE_COOKIES", text)
    assert env.read_bool("RAG4C_SECURE_COOKIES") is value


def test_a_switch_refuses_other_words(monkeypatch):
    monkeypatch.setenv("RAG4C_SECURE_COOKIES", "maybe")
    with pytest.raises(Invalid, match="RAG4C_SECURE_COOKIES must be 1 or 0"):
        env.read_bool("RAG4C_SECURE_COOKIES")
    monkeypatch.delenv("RAG4C_SECURE_COOKIES")
    assert env.read_bool("RAG4C_SECURE_COOKIES") is False


def test_an_empty_value_means_the_default(monkeypatch):
    monkeypatch.setenv("RAG4C_HOST", "")
    assert env.read_str("RAG4C_HOST") == "127.0.0.1"


def test_an_undeclared_name_is_a_bug(monkeypatch):
    monkeypatch.setenv("RAG4C_UNHEARD_OF", "")
    with pytest.raises(KeyError):
        env.read_str("RAG4C_UNHEARD_OF")


def test_paths_are_absolute_and_know_the_home_folder(monkeypatch):
    monkeypatch.setenv("RAG4C_HOME", "some/where")
    assert env.home_dir() == Path.cwd() / "some" / "where"
    monkeypatch.setenv("RAG4C_MODEL_DIR", "~/models")
    assert env.read_path("RAG4C_MODEL_DIR") == Path.home() / "models"
    monkeypatch.delenv("RAG4C_MODEL_DIR")
    assert env.read_path("RAG4C_MODEL_DIR") is None


def test_a_secret_is_never_shown(monkeypatch):
    canary = "canary-6f1f"
    for variable in env.VARIABLES:
        monkeypatch.setenv(variable.name, canary if variable.kind == "secret" else variable.default)
    rows = env.describe()
    assert canary not in repr(rows)
    assert {row["value"] for row, variable in zip(rows, env.VARIABLES, strict=True) if variable.kind == "secret"} == {"********"}


def test_the_table_says_what_is_set_and_what_is_not(monkeypatch):
    for variable in env.VARIABLES:
        monkeypatch.delenv(variable.name, raising=False)
    monkeypatch.setenv("RAG4C_PORT", "9000")
    rows = {row["name"]: row for row in env.describe()}
    assert rows["RAG4C_PORT"] == {
        "name": "RAG4C_PORT",
        "value": "9000",
        "source": "set",
        "help": "Port that the web server binds; 0 takes a free one.",
    }
    assert (rows["RAG4C_HOST"]["value"], rows["RAG4C_HOST"]["source"]) == ("127.0.0.1", "default")
    assert rows["RAG4C_SECRET_KEY"]["value"] == ""


def test_every_variable_is_declared_once_with_a_sentence():
    names = [variable.name for variable in env.VARIABLES]
    assert len(names) == len(set(names))
    for variable in env.VARIABLES:
        assert re.fullmatch(r"RAG4C_[A-Z_]+", variable.name)
        assert variable.kind in {"str", "int", "bool", "path", "secret"}
        assert variable.help.endswith(".") or "…" in variable.help or variable.help.endswith(")")
        assert (variable.low is not None and variable.high is not None) == (variable.kind == "int")
    assert all(variable.kind == "secret" for variable in env.VARIABLES if "PASSWORD" in variable.name or "SECRET" in variable.name)


def test_our_variables_are_read_in_this_module_only():
    """Others may set them for the processes that they start, and read those of libraries."""
    from tests.architecture.sources import all_sources

    reads = re.compile(r"os\.(?:environ\.get|getenv)\((?!\"OMP_)|os\.environ\[(?!\"OMP_)[^\]]+\](?!\s*=)")
    readers = {source.path for source in all_sources() if reads.search(source.text)}
    assert readers == {"rag4c/kernel/env.py", "rag4c/kernel/failpoints.py"}


def test_every_variable_that_the_code_names_is_declared():
    from tests.architecture.sources import all_sources

    declared = {variable.name for variable in env.VARIABLES}
    named = {name for source in all_sources() for name in re.findall(r"\"(RAG4C_[A-Z_]*[A-Z])\"", source.text)}
    assert named - declared == set()
