"""GOV-U4: no governed change without its event. Walks the public api functions of every app along the calls that stay in the product."""

from __future__ import annotations

import ast

from tests.architecture.sources import all_sources, called_names, load_script

lint = load_script("lint_rules")
# Public functions that write, but whose event is written by the door that calls them inside the same transaction, or that need none.
WITHOUT_OWN_EVENT = {
    "tenants.intern_acl": "an interned set of principals grants nothing; its assignment is recorded by the caller",
    "tenants.assign_acl": "a part of create_folder_source and of the sync, which record it in the same transaction",
    "tenants.assign_acl_to_many": "a part of the sync, which records source.synced and document.added",
    "tenants.close_acl": "a part of doors of higher apps, which record it",
    "tenants.bump_acl_rev": "a cache key, not a fact",
    "tenants.lock_acl_rev": "the row that serialises changes of access, at revision 0; not a fact",
    "documents.assign_new": "a part of the sync, which records source.synced and document.added",
    "approvals.move_request": "one transition; vote, cancel and executor record what it means in the same transaction",
    "documents.keep_lease": "a heartbeat with a count",
    "documents.defer_step": "a lease that ends soon; the attempt is counted on the job",
    "documents.move_on": "the steps record their result in the same transaction",
    "documents.parse_revision": "an intermediate step; the revision's events are split, completed or failed",
    "documents.keep_blob": "bytes by digest, a part of add_revision",
    "documents.queue_job": "a part of add_revision and of the sync, which record it",
    "retrieval.bump_deny_rev": "a cache key, not a fact",
    "retrieval.cover_chunks": "a projection that can be rebuilt; draft_manifest records the manifest",
    "ledger.write_checkpoint": "a signed statement about events; an event of it would need a checkpoint of its own",
}


def app_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "rag4c" else parts[0]


def collect():
    """(app, name) -> function, of all module functions of all api files; the public ones."""
    functions, public = {}, {}
    for source in all_sources():
        if not source.is_api:
            continue
        app = app_of(source.path)
        for node in source.tree.body:
            if isinstance(node, lint.FunctionNode):
                functions[app, node.name] = node
        public |= {(app, node.name): node for node in lint.public_functions(source)}
    return functions, public


FUNCTIONS, PUBLIC = collect()


def callees(key):
    """Functions of the product's apis that a function calls, by its own module's names or by `app.name`."""
    found = set()
    for name in called_names(FUNCTIONS[key]):
        head, _, tail = name.rpartition(".")
        target = (head.split(".")[-1] if head else key[0], tail or name)
        if target in FUNCTIONS and target != key:
            found.add(target)
    return found


def reach(key):
    seen, todo = set(), [key]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(callees(current))
    return seen


def writes(key):
    function = FUNCTIONS[key]
    querysets = {
        lint.dotted(target)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and ".objects." in ast.unparse(node.value)
        for target in node.targets
    }
    if any(lint.is_write(node) or _writes_through(node, querysets) for node in ast.walk(function)):
        return True
    texts = [node.value for node in ast.walk(function) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return any(text.lstrip().upper().startswith(("INSERT ", "UPDATE ", "DELETE ")) for text in texts)


def _writes_through(node, querysets):
    """`ready = Model.objects.filter(…)`, then `ready.update(…)`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in lint.WRITES
        and lint.dotted(node.func.value) in querysets
    )


def records(key):
    return "ledger.record" in called_names(FUNCTIONS[key]) or key == ("ledger", "record")


def silent_writers():
    return {".".join(key) for key in PUBLIC if any(writes(inner) for inner in reach(key)) and not any(records(inner) for inner in reach(key))}


def test_GOV_U4_every_api_function_that_writes_records_an_event():
    assert sorted(silent_writers() - set(WITHOUT_OWN_EVENT)) == []


def test_GOV_U4_the_short_list_holds_nothing_that_is_not_needed():
    known = {".".join(key) for key in FUNCTIONS}
    assert sorted(set(WITHOUT_OWN_EVENT) - known) == []
    assert sorted(set(WITHOUT_OWN_EVENT) - silent_writers()) == []


def test_GOV_U4_the_walk_sees_the_writers_that_we_know():
    writers = {".".join(key) for key in PUBLIC if any(writes(inner) for inner in reach(key))}
    assert len(writers) >= 30
    assert {"tenants.create_user", "documents.sync_source", "retrieval.release", "verification.answer_question", "approvals.seed_policies"} <= writers


def test_GOV_U6_event_codes_are_a_noun_and_a_past_verb():
    codes = []
    for source in all_sources():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and lint.dotted(node.func) == "ledger.record":
                argument = node.args[1]
                options = [argument.body, argument.orelse] if isinstance(argument, ast.IfExp) else [argument]
                codes += [option.value for option in options]
    assert len(codes) >= 25
    assert [code for code in codes if not code.replace("_", "").replace(".", "").isalpha() or code.count(".") != 1] == []


def test_events_are_recorded_by_apis_only():
    """The door writes the change and its event; nobody else writes events."""
    others = [source.path for source in all_sources() if "ledger.record(" in source.text and not source.is_api]
    assert others == []
