"""Every address with an id answers a foreign id as it answers one that does not exist: the same bytes (GOV-T1)."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from approvals import api as approvals
from tests.builders import ask, make_user, publish
from tests.surfaces.doors import browser_of, fingerprint, program_of

ABSENT = "01920000-0000-7000-8000-000000000000"


def walk_routes(resolver, prefix=""):
    for entry in resolver.url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from walk_routes(entry, route)
        elif isinstance(entry, URLPattern):
            yield route


ROUTES = sorted({route for route in walk_routes(get_resolver()) if "<uuid:" in route})


def address_of(route, ids):
    """The route with its converters filled in; a new kind of id has to be named in `ids`."""
    parts = ["/"]
    for piece in route.replace(">", "<").split("<"):
        kind, _, name = piece.partition(":")
        parts.append(str(ids[name]) if kind == "uuid" else "1" if kind == "int" else piece)
    return "".join(parts)


@pytest.fixture
def ids(acme):
    publish(acme, {"leave.md": "# Leave\n\nEmployees get 25 days of annual leave.\n"})
    return {"answer_id": ask(acme.bob, "How many days of annual leave do employees get?").answer_id, "request_id": request_of_bob(acme)}


def request_of_bob(acme):
    """For a token of his own, while that needs an approval."""
    approvals.set_policy(actor=acme.alice, action="token.create", stages=[approvals.StageSpec(("role:approver",))])
    payload = {"user": str(acme.bob.user_id), "name": "script", "days": 30, "digest": "0" * 64}
    asked = approvals.submit_request(actor=acme.bob, action="token.create", payload=payload, reason="needed for the nightly report")
    approvals.set_policy(actor=acme.alice, action="token.create", stages=[])
    return asked


def both(client, route, ids, method="get"):
    """What is answered to the id, and to one that does not exist."""
    addresses = (address_of(route, ids), address_of(route, dict.fromkeys(ids, ABSENT)))
    return tuple(fingerprint(getattr(client, method)(address)) for address in addresses)


def test_the_walk_finds_the_addresses_with_ids():
    assert {"answers/<uuid:answer_id>/", "api/answers/<uuid:answer_id>"} <= set(ROUTES)


def test_GOV_T1_a_foreign_id_reads_as_absent_to_the_byte(globex, ids):
    browser, program = browser_of(globex, "alice"), program_of(globex.alice)
    for route in ROUTES:
        for method in ("get", "post"):
            for client in (browser, program) if route.startswith("api/") else (browser,):
                there, nowhere = both(client, route, ids, method)
                assert there[0] in {404, 405, 403, 415}, route
                assert there == nowhere, route


def test_a_colleague_without_the_right_reads_absent_too(acme, ids):
    make_user(acme.id, "charlie", "member")
    client = browser_of(acme, "charlie")
    for route in ROUTES:
        there, nowhere = both(client, route, ids)
        assert there[0] in {404, 405}, route
        assert there == nowhere, route


def test_the_owner_of_the_id_is_answered(acme, ids):
    client = browser_of(acme)
    for route in ROUTES:
        assert client.get(address_of(route, ids)).status_code in {200, 405}, route


def test_a_stranger_learns_nothing_of_an_id(ids):
    for route in ROUTES:
        there, nowhere = both(Client(), route, ids)
        assert there[0] in {302, 401}, route
        assert there[:2] == nowhere[:2], route


def test_something_that_is_no_id_is_absent(acme):
    client = browser_of(acme)
    for path in (f"/answers/{ABSENT}x/", f"/answers/{ABSENT}/citations/0/", f"/answers/{ABSENT}/citations/{10**30}/"):
        assert client.get(path).status_code == 404
