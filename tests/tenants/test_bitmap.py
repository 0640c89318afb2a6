"""The inverted index says what the rule says, set by set; the kept index follows the database."""

from __future__ import annotations

import random
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag4c.kernel.grant import Grant, Sensitivity
from rag4c.scope.manager import scope
from tenants import acl as rules
from tenants import api as tenants
from tenants.bitmap import AclIndex
from tenants.models import AclSet
from tests.builders import make_tenant

SETS = 50_000
TENANT = uuid.UUID(int=1)
principal = st.sampled_from([f"group:{n}" for n in range(6)])
specs = st.builds(rules.AclSpec, st.frozensets(principal, max_size=3), st.sampled_from(Sensitivity), st.sampled_from(["", "audit", "case"]))
grants = st.builds(
    Grant,
    st.just(TENANT),
    principals=st.frozensets(principal),
    clearance=st.sampled_from(Sensitivity),
    purpose=st.sampled_from(["", "audit", "case", "x"]),
)


def draw_sets(rng, count):
    """Distinct sets over 400 groups and 2,000 people, some of them everyone's."""
    seen = set()
    while len(seen) < count:
        names = {f"group:{rng.randrange(400)}" for _ in range(rng.randrange(4))} | {f"user:{rng.randrange(2000)}" for _ in range(rng.randrange(3))}
        names |= {"tenant:*"} if rng.random() < 0.01 else set()
        level = Sensitivity(rng.choice([0, 1, 1, 1, 2, 3]))
        seen.add((frozenset(names), level, rng.choice(["", "audit", "case"]) if level == Sensitivity.RESTRICTED else ""))
    return [(n, rules.AclSpec(*fields)) for n, fields in enumerate(sorted(seen, key=lambda item: (sorted(item[0]), item[1], item[2])))]


def draw_grant(rng, n):
    names = {"tenant:*", f"user:{rng.randrange(2000)}", *(f"group:{rng.randrange(400)}" for _ in range(n * 7))}
    return Grant(TENANT, principals=frozenset(names), clearance=Sensitivity(n % 4), purpose=["", "audit", "case"][n % 3])


def test_index_equals_the_rule_on_50000_distinct_sets():
    rng = random.Random(3)  # noqa: S311  # the same sets in every run
    sets = draw_sets(rng, SETS)
    assert len({acl.digest for _, acl in sets}) == SETS
    index = AclIndex()
    for start in range(0, SETS, 12_500):  # grown in parts, as a process sees them
        index.add(sets[start : start + 12_500])
    sizes = []
    for n in range(12):
        grant = draw_grant(rng, n)
        expected = rules.allowed_numbers(grant, sets)
        assert index.allowed(grant) == expected
        sizes.append(len(expected))
    assert max(sizes) > 10_000
    assert min(sizes) > 0


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(specs, max_size=8), max_size=4), grants)
def test_index_equals_the_rule_however_it_grew(parts, grant):
    index, sets = AclIndex(), []
    for part in parts:
        numbered = list(enumerate(part, start=len(sets)))
        index.add(numbered)
        sets += numbered
    assert index.allowed(grant) == rules.allowed_numbers(grant, sets)


def allowed(kit, *principals):
    with scope(kit.system.grant):
        return tenants.allowed_acl_numbers(Grant(kit.id, principals=frozenset(principals)))


def intern(kit, *principals):
    with scope(kit.system.grant):
        return tenants.intern_acl(kit.id, rules.AclSpec(frozenset(principals))).number


def test_a_new_set_counts_at_once(acme):
    first = intern(acme, "group:a")
    assert allowed(acme, "group:a") == {first}
    second = intern(acme, "group:a", "group:b")
    assert allowed(acme, "group:a") == {first, second}
    assert allowed(acme, "group:c") == set()


def test_sets_of_another_tenant_are_never_in_the_index(acme, globex):
    intern(acme, "tenant:*")
    assert allowed(globex, "tenant:*") == set()


class Undone(Exception):
    pass


def test_a_number_that_a_rollback_gave_back_is_not_remembered(real_db):
    """The index saw sets of a transaction that never was; their numbers now belong to others."""
    acme = make_tenant("acme")
    kept = intern(acme, "group:a")
    with pytest.raises(Undone), scope(acme.system.grant):
        for name in ("group:a", "group:b"):
            intern(acme, name, "group:z")
        assert len(allowed(acme, "group:a", "group:z")) == 3
        raise Undone
    others = {intern(acme, "group:secret"), intern(acme, "group:secret", "group:x"), intern(acme, "group:secret", "group:y")}
    assert allowed(acme, "group:a", "group:z") == {kept}
    assert allowed(acme, "group:secret") == others
    with scope(acme.system.grant):
        assert AclSet.objects.count() == 4
