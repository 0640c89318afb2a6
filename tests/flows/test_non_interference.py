"""Documents outside a grant change no byte of what its holder is answered, apart from the fields that the architecture names (SYS-C1, GOV-T5)."""

from __future__ import annotations

import json
import re

import pytest

from documents import api as documents
from tenants import api as tenants
from tests.builders import Library, make_user, publish
from tests.surfaces.doors import browser_of, fingerprint, program_of

NAMED = frozenset({"answer_id", "links", "lifeline_url", "context_manifest_id", "timings_ms", "asked_at", "request_id"})
TIME = re.compile(rb"<time [^>]*>[^<]*</time>")  # when the channel last moved is told to everybody (ui.md "Ask")
FIELDS = {"Opening hours": "{0}:15 to 17:30", "Phone": "41{0:02}", "Room": "B{0:02}", "Deposit": "{0} EUR", "分机号": "62{0:02}"}
ASKED = (
    "What are the opening hours of desk {0}?",
    "What is the phone of desk {0}?",
    "Which room is desk {0} in?",
    "How much is the deposit at desk {0}?",
    "desk {0}的分机号是多少？",
    "How long does a loan from desk {0} last?",
    "Who may borrow from desk {0}?",
    "Does desk {0} have a fax number?",
)
BESIDE = ("Who wrote the rules of chess?", "番茄怎么种？", "desk", "loan deposit room", "What is the secret of desk 3?")


def write_desk(number: int, shift: int) -> str:
    """A desk with its values; another shift gives other values of the same subject, which would be a conflict if they were seen."""
    lines = [f"desk {number} · {field}: {form.format(number + shift)}" for field, form in FIELDS.items()]
    prose = f"A loan from desk {number} lasts {number + shift + 2} days. Every member with a valid card may borrow from desk {number}."
    return "# Desks\n\n" + "\n\n".join(lines) + f"\n\n{prose}\n"


def list_questions(count: int, desks: int) -> list[str]:
    made = [form.format(number) for number in range(desks) for form in ASKED]
    return [*BESIDE, *made][:count]


def strip_named(value):
    if isinstance(value, dict):
        return {key: strip_named(item) for key, item in value.items() if key not in NAMED}
    return [strip_named(item) for item in value] if isinstance(value, list) else value


def read_all(program, browser, questions):
    """Everything that Bob is told: answers, lists and pages."""
    lists = [fingerprint(program.get(path)) for path in ("/api/sources", "/api/documents", "/api/documents?q=desk")]
    told = (fingerprint(browser.get(path)) for path in ("/", "/help/", "/admin/"))
    pages = [(status, TIME.sub(b"", content)) for status, content, _ in told]
    answers = [program.post("/api/query", json.dumps({"question": question}), content_type="application/json") for question in questions]
    refused = [response.content for response in answers if response.status_code != 200]
    assert refused == []
    return [json.dumps(strip_named(response.json()), sort_keys=True) for response in answers], lists, pages


def add_hidden(library: Library, count: int, desks: int, readers: frozenset[str]) -> None:
    """Documents that say something else of the same desks, in the same base, for other readers."""
    folder = library.folder.parent / f"{library.folder.name}-hidden"
    folder.mkdir()
    source = documents.create_folder_source(
        actor=library.kit.alice, knowledge_base_id=library.base_id, root=folder, acl=tenants.AclSpec(readers), freshness="snapshot", key="hidden"
    )
    hidden = Library(library.kit, folder, library.base_id, source)
    hidden.write({f"secret-{n}.md": write_desk(n % desks, 7 + n) for n in range(count)})
    hidden.sync()
    library.release()


@pytest.mark.parametrize(("hidden", "asked", "desks"), [(12, 24, 3), pytest.param(1_000, 1_000, 125, marks=pytest.mark.slow)])
def test_SYS_C1_documents_outside_the_grant_change_no_byte(acme, hidden, asked, desks):
    make_user(acme.id, "charlie", "member")
    library = publish(acme, {f"desk-{n}.md": write_desk(n, 0) for n in range(desks)})
    questions, program, browser = (
        list_questions(asked, desks),
        program_of(acme.bob),
        browser_of(acme, "charlie"),
    )  # who asked nothing, so that no history is on the page
    before = read_all(program, browser, questions)
    add_hidden(library, hidden, desks, frozenset({f"user:{acme.alice.user_id}"}))
    after = read_all(program, browser, questions)
    changed = [question for question, one, other in zip(questions, before[0], after[0], strict=True) if one != other]
    print(f"hidden={hidden} responses={len(questions)} changed={len(changed)}")
    assert changed == []
    assert before[1:] == after[1:]
    assert sum('"status": "answered"' in told for told in before[0]) >= asked // 3  # otherwise nothing was put to the test
    alice = program_of(acme.alice).post("/api/query", json.dumps({"question": ASKED[0].format(1)}), content_type="application/json").json()
    assert alice["reason"] == "conflicting_evidence"  # who may read them is told of them
