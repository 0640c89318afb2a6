"""Writes docs/rules.md, rule -> tests that carry its number: `python .ci/write_rules.py`; with --check it only compares. A rule without a test fails both.

A test is named `test_GOV_A7_…`, after several rules `test_GOV_A1_A12_…`, after a range `test_GOV_A1_to_A12_…`, and `test_GOV_A_…` when it concerns the
whole section.
"""

# scripts, not a package
from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "rules.md"
NAMED: Final = re.compile(r"test_(GOV|SYS)_((?:[A-Z]{1,2}\d*_(?:to_)?)+)")

SECTIONS: Final = {
    "GOV-A": "Approvals",
    "GOV-B": "Changes of readers",
    "GOV-C": "Channels, manifests, releases",
    "GOV-F": "Fences and leases",
    "GOV-T": "Tenants",
    "GOV-U": "Ledger",
    "SYS-A": "Ingestion and retrieval",
    "SYS-B": "Evidence and refusal",
    "SYS-C": "Context",
    "SYS-D": "Facts",
    "SYS-E": "Platform",
    "SYS-G": "What users need besides",
}
RULES: Final = {
    "GOV-A1": "A request ends once, and what it asks for is executed exactly once.",
    "GOV-A2": "The vote of whoever asked never counts, whatever their role; one function decides for every surface.",
    "GOV-A3": "Whoever gains from a change has no vote on it.",
    "GOV-A4": "One person, one vote a request; a delegate and the delegator are one voice.",
    "GOV-A5": "A delegation has dates and depth one, stays in the tenant, never makes the requester a voter; both people are recorded.",
    "GOV-A6": "A stage that nobody can fill blocks; it never counts as approved.",
    "GOV-A7": "Who may vote is checked at the vote and once more at the execution.",
    "GOV-A8": "Another revision of the subject or another payload makes all votes void.",
    "GOV-A9": "A policy that is edited leaves open requests as they are.",
    "GOV-A10": "Escalation adds approvers and never asks for fewer votes.",
    "GOV-A11": "Time limits follow the database's clock and are looked at by vote and execution, not by a sweep alone.",
    "GOV-A12": "Vote, state and event are one commit under the lock of the request's row.",
    "GOV-A13": "Break-glass is a permission of its own, with a reason, an alarm and a second person's review in time.",
    "GOV-B1": "What takes readers away holds at once; what gives waits for its approval.",
    "GOV-B2": "A change set names the state it was made on; on another one it is stale.",
    "GOV-B3": "The diff that is shown is the payload that is hashed; a group is listed with its members.",
    "GOV-B4": "Readers are part of the search and are checked again before text enters a prompt.",
    "GOV-B5": "One transaction never revokes and publishes.",
    "GOV-B6": "Readers that are not known are nobody.",
    "GOV-B7": "Neither rollback, return nor repetition brings an older, wider set of readers back.",
    "GOV-C1": "Manifests are numbered without gaps for each knowledge base, and their bytes never change.",
    "GOV-C2": "A channel moves only from the revision that was read.",
    "GOV-C3": "A release needs every document completed at exactly its revision, and the approval of this very digest.",
    "GOV-C4": "Rolling back is a move forward: a new revision of the channel with an older digest.",
    "GOV-C5": "A question reads one manifest from start to end, and its record names it.",
    "GOV-C6": "A rollback goes only to what can be served now.",
    "GOV-C7": "What a channel, a rollback or a running question refers to is kept.",
    "GOV-C8": "Channels hand on the same digest; nothing is built again.",
    "GOV-C9": "What depends on something is listed before it is retired.",
    "GOV-C10": "A manifest past its date warns or stops by policy.",
    "GOV-C11": "A takedown hides a document from every channel at once.",
    "GOV-C12": "The difference of two manifests, applied to the first, gives the second.",
    "GOV-F1": "A write names the revision that it expects; if it moved, the writer is told.",
    "GOV-F2": "Each claim raises the fence, and results under an older one are refused.",
    "GOV-F3": "Leases run by the database's clock, and a worker stops itself before the end.",
    "GOV-F4": "A sign of life is not enough: the step has to move too.",
    "GOV-F5": "What was read before a lock is read again behind it.",
    "GOV-F6": "What leaves for another store carries document and generation; older ones are swept.",
    "GOV-F7": "Ingestion goes one step forward or to an error; a retry is a new attempt; stuck is derived.",
    "GOV-F8": "A document is completed when its counts were read back.",
    "GOV-F9": "An attempt is written down before the work; after several kills the document is quarantined.",
    "GOV-T1": "The tenant comes from session or token alone.",
    "GOV-T2": "The tenant is set inside the transaction; without it there are no rows.",
    "GOV-T3": "The app owns nothing, and every table of tenants has forced row-level security.",
    "GOV-T4": "Uniqueness and references include the tenant.",
    "GOV-T5": "A foreign id and an absent one are answered alike.",
    "GOV-T6": "Keys of caches, locks, queues, blobs and vectors carry the tenant.",
    "GOV-T7": "Tasks carry ids only.",
    "GOV-T8": "Work across tenants has a named role and is recorded.",
    "GOV-T9": "Views run with the rights of their caller.",
    "GOV-T10": "Counts, searches, errors and exports tell nothing of another tenant either.",
    "GOV-U1": "Seals have no gap and follow (incarnation, transaction, id), below the oldest open transaction.",
    "GOV-U2": "A seal's hash is over the seal before and the event's stored canonical bytes.",
    "GOV-U3": "Leaves, nodes, checkpoints and statements never share a digest.",
    "GOV-U4": "Nothing governed changes without its event.",
    "GOV-U5": "What is rolled back leaves no event; refused attempts are recorded after the rollback.",
    "GOV-U6": "Events hold ids, codes and digests, no text and no personal data.",
    "GOV-U7": "The app may insert and read events and nothing else; triggers refuse the owner too.",
    "GOV-U8": "Signed checkpoints are kept outside Postgres; without a place for them the claim is smaller and says so.",
    "GOV-U9": "A verifier computes every leaf again.",
    "GOV-U10": "How far seals are behind is a figure.",
    "GOV-U11": "A new key is signed by the old one, in an event.",
    "GOV-U12": "Old partitions leave a signed stub that the chain can be verified with.",
    "GOV-U13": "Reading and exporting the ledger are events themselves.",
    "SYS-A1": "Identities of documents and chunks are stable; locators are real lines.",
    "SYS-A2": "Unsafe paths, links, empty files and a changed root fail closed.",
    "SYS-A3": "Chunks are contiguous and never cross a heading.",
    "SYS-A4": "A sync reuses, updates, adds and deletes, and embeds nothing twice.",
    "SYS-A5": "A failed publication leaves the last good state.",
    "SYS-A6": "Exact BM25 that finds nothing when nothing is relevant.",
    "SYS-A7": "Text that gives instructions is refused before it is scored.",
    "SYS-A8": "Documents, spans and chunks are checked just before the prompt.",
    "SYS-A9": "Duplicates go, and a hard budget takes whole blocks.",
    "SYS-A10": "Evidence is written with guard line, numbers, sources and headings.",
    "SYS-A11": "Figures of retrieval on the built-in cases.",
    "SYS-B1": "Cited originals are read and compared again, to the code point.",
    "SYS-B2": "Records of subjects and fields answer with their value.",
    "SYS-B3": "Conflicts are looked for beyond what was ranked and what fitted.",
    "SYS-B4": "Images as evidence are measured, and measured again.",
    "SYS-B5": "An attribute that the evidence does not carry is unsupported.",
    "SYS-B6": "Status and reason are two things, and each reason has its case.",
    "SYS-B7": "A citation carries evidence, source, digest, span and kind of support.",
    "SYS-B8": "Notes about versions outrank nothing by themselves.",
    "SYS-B9": "Every answer says how far its support was looked for.",
    "SYS-C1": "A grant is narrowed only, and decides twice.",
    "SYS-C2": "Memory of others is never routed.",
    "SYS-C3": "Blocks carry identity, sources, priorities and key.",
    "SYS-C4": "What changed between search and composition is stale.",
    "SYS-C5": "Duplicates across channels are settled before the budget.",
    "SYS-C6": "Required blocks first, optional ones whole or not at all.",
    "SYS-C7": "Decisions are kept and replay identically.",
    "SYS-C8": "Planning needs neither model, key nor network.",
    "SYS-D1": "A fact without its origin is refused by the database.",
    "SYS-D2": "Facts from tables of office files, with locators.",
    "SYS-D3": "Structured questions get value, unit and source, or are told that there is none.",
    "SYS-D4": "A source that the model forgot is added.",
    "SYS-D5": "Sources go through the REST surface unchanged.",
    "SYS-D6": "Restricted content stays apart; traces hold ids.",
    "SYS-E1": "Every answer has its lifeline.",
    "SYS-E2": "Markers are checked in three layers before output.",
    "SYS-E3": "Answers without markers get their citations afterwards, or stay visibly without.",
    "SYS-E4": "The third layer runs full, sampled or not at all; not run is not passed.",
    "SYS-E5": "Two thresholds abstain, fitted beforehand.",
    "SYS-E6": "Hybrid retrieval with rank fusion.",
    "SYS-E7": "Other ways to ask the same question, off by default.",
    "SYS-E8": "Retrieval over a graph and over sentence windows.",
    "SYS-E9": "A registry of providers, local by default.",
    "SYS-E10": "Prompts have versions, locked by digest.",
    "SYS-E11": "A registry of parsers.",
    "SYS-E12": "Ingestion goes on after a restart where it was.",
    "SYS-E13": "Runs and their events are kept and can be followed.",
    "SYS-E14": "Answers as a stream.",
    "SYS-E15": "Tenants, units, groups, and people from a directory.",
    "SYS-E16": "Policies of approval, and changes of readers behind them.",
    "SYS-E17": "Channels, manifests and rollback.",
    "SYS-E18": "Quality is observed, alarmed, waived and certified.",
    "SYS-E19": "Retention, holds, deletion, audit exports.",
    "SYS-E20": "Notifications, tasks and rules.",
    "SYS-E21": "Retries, breakers and caches.",
    "SYS-E22": "Evaluation by judges that see evidence only.",
    "SYS-E23": "The OpenAPI page is the contract; errors have one form.",
    "SYS-E24": "Pages for people.",
    "SYS-E25": "More than one machine.",
    "SYS-G1": "What was live, and who could see it, at a time.",
    "SYS-G2": "Legal matters with custodians.",
    "SYS-G3": "Who read what.",
    "SYS-G4": "Roles that one person should not hold together.",
    "SYS-G5": "Readers by templates, and from a source that states them.",
    "SYS-G6": "Objectives of a knowledge base.",
    "SYS-G7": "Threads, and alerts for citations that went stale.",
    "SYS-G8": "Warnings before something expires.",
    "SYS-G9": "Keys, scans and backups.",
    "SYS-G10": "Every surface gives one record.",
}
# Rules that belong to work that is not there yet, and why no test can carry their number.
NOT_BUILT: Final = {
    "GOV-C6": "comes with purges; what is revoked is covered by GOV-B7",
    "GOV-C7": "comes with the removal of old projections; none is removed yet",
    "GOV-C9": "comes with the retirement of knowledge bases",
    "GOV-C10": "manifests have no date yet",
}


def find_tests() -> dict[str, list[str]]:
    """rule or section -> `file::name`, sorted. Raises: ValueError for a number that no rule has."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        where = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (named := NAMED.match(node.name)):
                for rule in read_numbers(*named.groups()):
                    if rule not in RULES and rule not in SECTIONS:
                        raise ValueError(f"{where}::{node.name} names {rule}, which is no rule")
                    found[rule].add(f"{where}::{node.name}")
    return {rule: sorted(tests) for rule, tests in found.items()}


def read_numbers(book: str, text: str) -> list[str]:
    """`GOV`, `A1_to_A3_B2_` -> GOV-A1, GOV-A2, GOV-A3, GOV-B2. Numbers of other books (R13) are left out."""
    numbers: list[str] = []
    for first, last in re.findall(r"([A-Z]{1,2}\d*)_(?:to_([A-Z]\d+)_)?", text):
        if f"{book}-{first[0]}" not in SECTIONS:
            continue
        ends = (int(first[1:]), int(last[1:])) if last else None
        numbers += [f"{book}-{first[0]}{number}" for number in range(ends[0], ends[1] + 1)] if ends else [f"{book}-{first}"]
    return numbers


def find_problems(tests: dict[str, list[str]]) -> list[str]:
    """Rules of governance without a test, and rules that are said to be unbuilt and have one. Capabilities may still be without."""
    return [
        *(f"{rule} has no test that carries its number" for rule in RULES if rule.startswith("GOV") and rule not in tests and rule not in NOT_BUILT),
        *(f"{rule} has a test; take it from NOT_BUILT" for rule in NOT_BUILT if rule in tests),
    ]


def write_page(tests: dict[str, list[str]]) -> str:
    """The page as it has to be."""
    lines = [
        "# Rules and their tests",
        "",
        "Generated from the names of tests by `.ci/write_rules.py`, which fails when a rule of governance (GOV) has none. Capabilities (SYS) that no",
        "test names are not built, or are tested under other names.",
    ]
    for section, title in SECTIONS.items():
        lines += ["", f"## {section.replace('-', ' ')}: {title}", "", "| rule | what it says | tests |", "|---|---|---|"]
        rows = [rule for rule in RULES if rule.rstrip("0123456789") == section]
        lines += [f"| {rule} | {RULES[rule]} | {write_cell(tests.get(rule, []), NOT_BUILT.get(rule, ''))} |" for rule in rows]
        if section in tests:
            lines.append(f"| {section} | The section as a whole. | {write_cell(tests[section], '')} |")
    return "\n".join([*lines, ""])


def write_cell(tests: list[str], unbuilt: str) -> str:
    return "<br>".join(f"`{test}`" for test in tests) or (f"not built: {unbuilt}" if unbuilt else "none carries its number")


def main(arguments: list[str]) -> int:
    tests = find_tests()
    problems, page = find_problems(tests), write_page(tests)
    if "--check" not in arguments:
        PAGE.write_text(page, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page:
        problems.append("docs/rules.md is missing or old; run `python .ci/write_rules.py`")
    sys.stdout.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
