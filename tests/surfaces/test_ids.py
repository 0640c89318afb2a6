"""Every address with an id answers a foreign id as it answers one that does not exist: the same bytes (GOV-T1)."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.builders import make_user
from tests.surfaces.doors import browser_of, fingerprint, program_of
from verification.api import answer_question

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
def ids_of_acme(acme):
    return {"answer_id": answer_question(actor=acme.bob, question="How many days of leave?").answer_id}


def test_the_walk_finds_the_addresses_with_ids():
    assert {"answers/<uuid:answer_id>/", "api/answers/<uuid:answer_id>"} <= set(ROUTES)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("door", [lambda kit: browser_of(kit, "alice"), lambda kit: program_of(kit.alice)], ids=["browser", "token"])
def test_GOV_T1_a_foreign_id_reads_as_absent_to_the_byte(acme, globex, ids_of_acme, route, method, door):
    client = door(globex)
    foreign = address_of(route, ids_of_acme)
    absent = address_of(route, dict.fromkeys(ids_of_acme, ABSENT))
    there, nowhere = (fingerprint(getattr(client, method)(address)) for address in (foreign, absent))
    assert there[0] >= 300
    assert there == nowhere


@pytest.mark.parametrize("route", ROUTES)
def test_a_colleague_without_the_right_reads_absent_too(acme, ids_of_acme, route):
    make_user(acme.id, "charlie", "member")
    client = browser_of(acme, "charlie")
    there = fingerprint(client.get(address_of(route, ids_of_acme)))
    assert there == fingerprint(client.get(address_of(route, dict.fromkeys(ids_of_acme, ABSENT))))
    assert there[0] == 404


@pytest.mark.parametrize("route", [route for route in ROUTES if "<int:" not in route])
def test_the_owner_of_the_id_is_answered(acme, ids_of_acme, route):
    assert browser_of(acme).get(address_of(route, ids_of_acme)).status_code == 200


@pytest.mark.parametrize("route", ROUTES)
def test_a_stranger_learns_nothing_of_an_id(acme, ids_of_acme, route):
    there, nowhere = (Client().get(address_of(route, ids)) for ids in (ids_of_acme, dict.fromkeys(ids_of_acme, ABSENT)))
    assert there.status_code == nowhere.status_code
    assert there.status_code in {302, 401}
    assert there.content == nowhere.content


def test_an_answer_of_an_unknown_form_of_id_is_absent(acme):
    assert browser_of(acme).get(f"/answers/{uuid.UUID(ABSENT).hex}x/").status_code == 404
