"""The project keeps its own lint rules, and each rule sees the breach that it is for."""

from __future__ import annotations

import pytest

from tests.architecture.sources import all_sources, load_script

lint = load_script("lint_rules")

LONG = "def long():\n" + "    pass\n" * 40
BREACHES = {
    "file-too-long": ("documents/x.py", "x = 1\n" * 401),
    "function-too-long": ("documents/x.py", LONG),
    "objects-all": ("documents/x.py", "rows = Document.objects.all()\n"),
    "broad-except": ("documents/x.py", "try:\n    pass\nexcept (ValueError, Exception):\n    pass\n"),
    "signal": ("documents/x.py", "from django.db.models.signals import post_save\n"),
    "model-save": ("documents/models.py", "class A:\n    def save(self):\n        pass\n"),
    "clock-or-random": ("documents/x.py", "at = datetime.datetime.now()\n"),
    "yield-in-scope": ("documents/x.py", "def stream(grant):\n    with scope(grant):\n        for row in rows:\n            yield row\n"),
    "api-docstring": ("documents/api/x.py", "def read_it(*, actor):\n    return 1\n"),
    "api-actor": ("documents/api/x.py", 'def write_it(*, name):\n    """Writes."""\n    Document.objects.filter(pk=1).update(name=name)\n'),
    "machine-place": ("documents/x.py", 'M = Machine("m", ("a",), ())\n'),
    "app-door": ("documents/x.py", "from tenants.models import User\n"),
}
FINE = {
    "a function of 40 lines": ("documents/x.py", "def long():\n" + "    pass\n" * 39),
    "a filter": ("documents/x.py", "rows = Document.objects.filter(pk=1).all()\n"),
    "the ledger may read all": ("rag4c/ledger/x.py", "rows = Event.objects.all()\n"),
    "cleaning up and raising again": ("documents/x.py", "try:\n    pass\nexcept BaseException:\n    stop()\n    raise\n"),
    "a yield after the scope": ("documents/x.py", "def stream(grant):\n    with scope(grant):\n        rows = list(read())\n    yield from rows\n"),
    "a generator inside a function that opens a scope": (
        "documents/x.py",
        "def f(g):\n    with scope(g):\n        def inner():\n            yield 1\n",
    ),
    "a private writer": ("documents/api/x.py", "def _write():\n    Document.objects.create()\n"),
    "durations": ("documents/x.py", "import time\nstarted = time.monotonic()\n"),
    "the door of another app": ("documents/x.py", "from tenants import api as tenants\nfrom tenants.api import AclSpec\n"),
    "types of another app": ("documents/x.py", "if TYPE_CHECKING:\n    from tenants.models import User\n"),
}


def codes_of(path, text):
    return {problem.code for problem in lint.find_problems([lint.parse_source(path, text)])}


@pytest.mark.parametrize("code", sorted(BREACHES))
def test_the_rule_sees_its_breach(code):
    assert codes_of(*BREACHES[code]) == {code}


@pytest.mark.parametrize("case", sorted(FINE))
def test_the_rules_leave_alone(case):
    assert codes_of(*FINE[case]) == set()


def test_every_rule_has_a_breach_here():
    assert len(lint.RULES) == len({rule.__name__ for rule in lint.RULES}) <= len(BREACHES)


def test_the_project_keeps_its_rules():
    assert len(all_sources()) >= 150
    assert [str(problem) for problem in lint.find_problems(all_sources())] == []


def test_the_listed_exceptions_are_still_needed():
    paths = {source.path for source in all_sources()}
    assert {*lint.BROAD_EXCEPT_RIMS, *lint.SIGNAL_FILES, *lint.CLOCK_FILES} <= paths


def test_a_dead_link_is_seen(tmp_path):
    links = load_script("check_links")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "b.md").write_text("# The Title, twice\n\n## `code` & more\n", encoding="utf-8")
    (tmp_path / "a.md").write_text(
        "[ok](docs/b.md) [ok](docs/b.md#the-title-twice) [ok](#here) [ok](https://example.org/x) `[code](gone.md)`\n\n# Here\n"
        "[gone](docs/c.md)\n[gone](docs/b.md#nowhere) ![picture](shot.png)\n```\n[code](gone.md)\n```\n",
        encoding="utf-8",
    )
    found = [problem for path in links.find_documents(tmp_path) for problem in links.check_document(path, tmp_path)]
    assert found == ["a.md:4: docs/c.md does not exist", "a.md:5: docs/b.md#nowhere names no heading", "a.md:5: shot.png does not exist"]


def test_no_link_in_the_projects_documents_is_dead():
    links = load_script("check_links")
    assert [problem for path in links.find_documents(links.ROOT) for problem in links.check_document(path, links.ROOT)] == []
