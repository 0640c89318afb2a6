"""Which of 50,000 distinct ACL sets a grant satisfies: the index of the process against reading the overlapping sets by SQL. Prints `name=value` lines."""

from __future__ import annotations

import statistics
import sys
import time
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.platform import temporary_platform

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.platform import Kit

SETS, GROUPS, PEOPLE, SEED = 50_000, 400, 2_000, 3
ROUNDS = 7  # the two ways take turns; the median counts, the machine is shared


def draw_sets(rng: Random) -> list[Any]:
    """Half of the sets name one to three groups, the rest people too; every hundredth is everyone's."""
    from tenants.api import AclSpec, Sensitivity

    drawn: dict[str, AclSpec] = {}
    while len(drawn) < SETS:
        names = {f"group:{rng.randrange(GROUPS)}" for _ in range(rng.randint(1, 3))} | {
            f"user:{rng.randrange(PEOPLE)}" for _ in range(rng.randrange(3))
        }
        names |= {"tenant:*"} if rng.random() < 0.01 else set()
        spec = AclSpec(frozenset(names), Sensitivity(rng.choice([0, 1, 1, 1, 2])))
        drawn[spec.digest] = spec
    return list(drawn.values())


def store_sets(kit: Kit, specs: list[Any]) -> None:
    from rag4c.scope.manager import scope
    from tenants.models import AclSet

    with scope(kit.host.grant):
        rows = [
            AclSet(tenant_id=kit.host.tenant_id, number=n, digest=spec.digest, principals=sorted(spec.principals), sensitivity=int(spec.sensitivity))
            for n, spec in enumerate(specs)
        ]
        AclSet.objects.bulk_create(rows, batch_size=2000)


def read_by_sql(grant: Any) -> frozenset[int]:
    """The database narrows to overlapping sets, the rule decides."""
    from rag4c.scope.manager import scope
    from tenants import acl
    from tenants.api import AclSpec, Sensitivity
    from tenants.models import AclSet

    with scope(grant):
        rows = AclSet.objects.filter(principals__overlap=sorted(grant.principals), sensitivity__lte=int(grant.clearance))
        return acl.allowed_numbers(
            grant, ((row.number, AclSpec(frozenset(row.principals), Sensitivity(row.sensitivity), row.purpose)) for row in rows)
        )


def read_by_index(grant: Any) -> frozenset[int]:
    from rag4c.scope.manager import scope
    from tenants import api as tenants

    with scope(grant):
        return tenants.allowed_acl_numbers(grant)


def measure(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def compare(kit: Kit, rng: Random) -> bool:
    from rag4c.kernel.grant import Grant, Sensitivity
    from tenants import api as tenants

    everyone = Grant(kit.host.tenant_id, principals=frozenset({"tenant:*"}), clearance=Sensitivity.CONFIDENTIAL)
    print(f"index_first_use_ms={measure(lambda: read_by_index(everyone)):.0f}")
    equal = True
    for groups in (0, 10, 100, 400):
        names = {"tenant:*", f"user:{rng.randrange(PEOPLE)}", *(f"group:{n}" for n in rng.sample(range(GROUPS), groups))}
        grant = Grant(kit.host.tenant_id, principals=frozenset(names), clearance=Sensitivity.CONFIDENTIAL)
        equal &= read_by_index(grant) == read_by_sql(grant)
        pairs = [(measure(lambda: read_by_index(grant)), measure(lambda: read_by_sql(grant))) for _ in range(ROUNDS)]  # noqa: B023  # called at once
        by_index, by_sql = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
        print(f"groups={groups} allowed={len(read_by_index(grant))} index_ms={by_index:.2f} sql_ms={by_sql:.2f} ratio={by_sql / by_index:.1f}")
    asker_id = kit.asker.user_id
    assert asker_id is not None
    times = [measure(lambda: tenants.grant_for(tenant_id=kit.host.tenant_id, user_id=asker_id)) for _ in range(50)]
    print(f"grant_for_p50_ms={statistics.median(times):.2f}")
    return equal


def main() -> int:
    rng = Random(SEED)  # noqa: S311  # the same sets in every run
    with temporary_platform() as kit:
        store_sets(kit, draw_sets(rng))
        print(f"acl_sets={SETS}")
        equal = compare(kit, rng)
    print(f"equal={int(equal)}")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
