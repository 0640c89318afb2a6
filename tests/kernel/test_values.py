"""Canonical JSON, clock, errors, grants and ports."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import uuid
from datetime import UTC, datetime, timedelta

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from approvals.api import PolicyGate
from rag4c.kernel import clock, errors
from rag4c.kernel.canonical import canonical_json, digest_of, sha256_hex
from rag4c.kernel.grant import PLATFORM_TENANT, Actor, Grant, Sensitivity, system_actor
from rag4c.kernel.ports import ApprovalGate

SAFE_INT = 2**53 - 1
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-SAFE_INT, SAFE_INT)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_GOV_U2_canonical_bytes_say_the_same_and_say_it_once(value):
    data = canonical_json(value)
    again = json.loads(data, parse_int=float)  # JSON has one kind of number
    assert canonical_json(again) == data
    assert again == value


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), st.integers(-9, 9), max_size=6))
def test_GOV_U2_the_order_of_keys_does_not_matter(value):
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


def test_canonical_json_is_rfc_8785():
    assert canonical_json({"b": 1.0, "a": [1e21, "é\n", None, True]}) == '{"a":[1e+21,"é\\n",null,true],"b":1}'.encode()
    assert canonical_json({"\ufb33": 1, "\U0001f600": 2}).decode().index("\U0001f600") < canonical_json(
        {"\ufb33": 1, "\U0001f600": 2}
    ).decode().index("\ufb33")


@pytest.mark.parametrize("value", [math.nan, math.inf, 2**53, {1: 2}, {"at": datetime(2026, 1, 2, tzinfo=UTC)}, b"x"])
def test_what_json_cannot_hold_is_an_error(value):
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_json(value)


def test_the_gate_that_is_wired_has_the_shape_of_its_port():
    assert inspect.signature(PolicyGate.require).parameters.keys() == inspect.signature(ApprovalGate.require).parameters.keys()


def test_digests():
    assert sha256_hex(b"abc") == sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest_of({"a": 1}) == sha256_hex('{"a":1}')


def test_the_clock_is_utc_and_can_be_frozen():
    at = datetime(2024, 2, 29, 23, 59, tzinfo=UTC)
    with clock.frozen(at) as same:
        assert clock.now() == same == at
        with clock.frozen(at + timedelta(days=1)):
            assert clock.now().day == 1
        assert clock.now() == at
    assert clock.now().tzinfo is UTC
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=5)


def test_durations_never_go_back():
    first = clock.monotonic()
    assert clock.monotonic() >= first


STATUSES = {
    errors.DomainError: 400,
    errors.Invalid: 400,
    errors.Denied: 403,
    errors.Absent: 404,
    errors.Conflict: 409,
    errors.Blocked: 409,
    errors.Unavailable: 503,
    errors.PipelineError: 400,
    errors.Permanent: 422,
    errors.Transient: 503,
}


def test_every_error_has_its_status_and_keeps_code_message_and_data():
    family = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.DomainError)}
    assert family == set(STATUSES)
    for kind, status in STATUSES.items():
        error = kind("some_code", "Do this.", {"id": 1})
        assert (error.status, error.code, error.message, error.data, str(error)) == (
            status,
            "some_code",
            "Do this.",
            {"id": 1},
            "some_code: Do this.",
        )
    assert str(errors.Absent("user")) == "user"
    assert errors.Absent("user").data == {}


def test_SYS_C1_grant_and_actor_cannot_be_changed():
    grant = Grant(uuid.UUID(int=1), user_id=uuid.UUID(int=2), principals=frozenset({"user:2"}))
    for thing, field in ((grant, "principals"), (grant, "tenant_id"), (Actor(grant), "grant")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, field, None)
    assert not hasattr(grant, "__dict__")
    assert grant.clearance is Sensitivity.INTERNAL
    assert not grant.allow_network
    assert grant.allowed_tools == frozenset()


def test_an_actor_is_named_by_id_and_never_by_name():
    person = Actor(Grant(uuid.UUID(int=1), user_id=uuid.UUID(int=2)), channel="web")
    assert (person.ref, person.tenant_id, person.user_id) == (f"user:{uuid.UUID(int=2)}", uuid.UUID(int=1), uuid.UUID(int=2))
    system = system_actor(str(PLATFORM_TENANT), channel="cli")
    assert (system.ref, system.tenant_id, system.user_id, system.kind, system.channel) == ("system", PLATFORM_TENANT, None, "system", "cli")
    assert system_actor(PLATFORM_TENANT).grant.permissions == {"system"}
    assert Sensitivity.PUBLIC < Sensitivity.INTERNAL < Sensitivity.CONFIDENTIAL < Sensitivity.RESTRICTED
