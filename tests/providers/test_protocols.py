"""Spaces: what makes two of them different, and what is refused before one exists."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from rag4c.kernel.errors import Invalid
from rag4c.providers.protocols import HALFVEC_MAX_DIMS, Embedder, SpaceSpec

SPEC = SpaceSpec("m", 384, "l2", "convert=1", "query: ", "passage: ", 512, "0" * 64)


@pytest.mark.parametrize("dims", [0, -1, HALFVEC_MAX_DIMS + 1, 3072 * 2])
def test_R18_dims_beyond_the_index_limit_are_refused_when_the_space_is_described(dims):
    with pytest.raises(Invalid) as refusal:
        replace(SPEC, dims=dims)
    assert refusal.value.code == "dims_unsupported"
    assert refusal.value.data == {"dims": dims, "max_dims": 4000}


def test_R18_three_thousand_and_seventy_two_dims_fit_a_halfvec():
    assert replace(SPEC, dims=3072).dims == 3072
    assert replace(SPEC, dims=HALFVEC_MAX_DIMS).dims == 4000


def test_key_is_stable_and_short():
    assert SPEC.key == "c4ebaaa5ceafc9e0"


@pytest.mark.parametrize("name", [field.name for field in fields(SpaceSpec)])
def test_every_field_changes_the_key(name):
    value = getattr(SPEC, name)
    assert replace(SPEC, **{name: value + 1 if isinstance(value, int) else value + "x"}).key != SPEC.key


def test_the_embedder_satisfies_the_protocol(embedder):
    assert isinstance(embedder, Embedder)
