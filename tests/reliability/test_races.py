"""Races of approvals: 300 rounds each in `make reliability`, five in the default suite. One violation in any round fails."""

from __future__ import annotations

import pytest

from tests.reliability.races import RACES

ROUNDS, QUICK_ROUNDS = 300, 5


def run_race(name, rounds, capsys):
    arena = RACES[name](rounds)
    ends = " ".join(f"{end}={count}" for end, count in sorted(arena.ends.items()))
    with capsys.disabled():
        print(f"\nraces={rounds} violations={len(arena.violations)} race={name} {ends}")
    assert sum(arena.ends.values()) == rounds
    assert arena.violations == []


@pytest.mark.parametrize("name", sorted(RACES))
def test_GOV_A1_A4_A8_A12_a_few_rounds_of_each_race(real_db, name, capsys):
    run_race(name, QUICK_ROUNDS, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(RACES))
def test_GOV_A1_A4_A8_A12_three_hundred_rounds_of_each_race(real_db, name, capsys):
    run_race(name, ROUNDS, capsys)
