from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.context.planner import PromptBudgetError, plan_blocks
from retrieval.context.settings import Budget

from .builders import block

RULES = block("rules", 4, position=-1, kind="base_rules", priority=100, required=True)


def optional(*sizes):
    return [block(f"b{at}", size, position=at, priority=80 - at) for at, size in enumerate(sizes)]


def test_SYS_A9_budget_5_over_lengths_3_4_2_keeps_first_and_third():
    plan = plan_blocks(optional(3, 4, 2), Budget(limit=5))
    assert [one.position for one in plan.included] == [0, 2]
    assert [(one.position, one.included, one.reason, one.size_with_it) for one in plan.decisions] == [
        (0, True, "fits", 3),
        (1, False, "over_budget", 7),
        (2, True, "fits", 5),
    ]
    assert plan.used == 5


def test_SYS_C6_required_blocks_go_first_and_are_counted_apart_in_code_points():
    plan = plan_blocks([*optional(3), RULES], Budget(limit=3, required_limit=4))
    assert [one.reason for one in plan.decisions] == ["required", "fits"]
    assert (plan.required_size, plan.used, plan.limit, plan.unit) == (4, 3, 3, "code_points")


def test_SYS_C6_required_blocks_that_do_not_fit_raise_with_both_numbers():
    with pytest.raises(PromptBudgetError, match="prompt_budget") as caught:
        plan_blocks([RULES], Budget(limit=100, required_limit=3))
    assert (caught.value.required_size, caught.value.budget, caught.value.unit) == (4, 3, "code_points")
    assert caught.value.data == {"required_size": 4, "budget": 3, "unit": "code_points"}


def test_SYS_C6_without_a_limit_for_required_blocks_they_always_fit():
    assert plan_blocks([RULES], Budget(limit=0, required_limit=None)).included == (RULES,)


def test_SYS_C6_budget_in_tokens_covers_the_whole_selection_and_the_reserved_output():
    def meter(blocks):
        return 10 + sum(one.size_code_points for one in blocks)  # a wrapper of 10, then the blocks

    plan = plan_blocks([RULES, *optional(3, 2)], Budget(limit=24, unit="tokens", reserved_output=7), meter)
    assert [(one.position, one.included, one.size_with_it) for one in plan.decisions] == [(-1, True, 14), (0, True, 17), (1, False, 19)]
    assert (plan.limit, plan.used) == (17, 17)
    with pytest.raises(PromptBudgetError) as caught:
        plan_blocks([RULES], Budget(limit=20, unit="tokens", reserved_output=7), meter)
    assert (caught.value.required_size, caught.value.budget) == (14, 13)


def test_presentation_order_is_its_own_order():
    first, second = block("a", priority=80, position=0, presentation_priority=1), block("b", priority=70, position=1, presentation_priority=9)
    plan = plan_blocks([first, second, RULES], Budget(limit=10))
    assert [one.block_id for one in plan.included] == ["rules", "b", "a"]
    assert [one.block_id for one in plan.decisions] == ["rules", "a", "b"]


def test_equal_priorities_go_in_the_order_handed_in():
    facts = [block(name, 2, position=at, kind="fact", priority=85) for at, name in enumerate("zyx")]
    plan = plan_blocks(list(reversed(facts)), Budget(limit=4))
    assert [one.block_id for one in plan.included] == ["z", "y"]
    assert plan.decisions[-1].block_id == "x"


def test_negative_plan_forces_nothing_in():
    plan = plan_blocks([RULES], Budget())
    assert (plan.included, plan.used) == ((RULES,), 0)


@given(st.lists(st.integers(1, 9), max_size=10), st.integers(0, 30))
def test_SYS_C6_no_plan_goes_over_budget_or_skips_what_would_have_fitted(sizes, limit):
    plan = plan_blocks([RULES, *optional(*sizes)], Budget(limit=limit))
    assert plan.used == sum(one.size_code_points for one in plan.included if not one.required) <= limit
    room = limit
    for at, size in enumerate(sizes):
        fits = size <= room
        assert (at in {one.position for one in plan.included}) == fits
        room -= size if fits else 0
