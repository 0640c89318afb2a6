"""Templates by path, and the order of what a source, a template and the readers say (SYS-G5, GOV-B6)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from documents.access_rules import ACL_MODES, Choice, OwnAcl, choose_readers, find_template, normalize_prefix
from rag4c.kernel.errors import Invalid

parts = st.sampled_from(["hr", "hr-private", "h", "it", "leave.md", "é", "年假"])
paths = st.lists(parts, min_size=1, max_size=5).map("/".join)
small = settings(max_examples=200, deadline=None)


@small
@given(paths, st.dictionaries(paths, st.integers(), max_size=6))
def test_SYS_G5_longest_prefix_on_segment_borders_wins(path, templates):
    covering = [prefix for prefix in templates if path.split("/")[: len(prefix.split("/"))] == prefix.split("/")]
    assert find_template(path, templates) == (templates[max(covering, key=len)] if covering else None)


@small
@given(paths, st.dictionaries(paths, st.integers(), max_size=6), paths)
def test_SYS_G5_template_that_does_not_cover_changes_nothing(path, templates, other):
    if path != other and not path.startswith(f"{other}/"):
        assert find_template(path, {**templates, other: -1}) == find_template(path, {key: value for key, value in templates.items() if key != other})


def test_SYS_G5_names_that_begin_alike_are_other_folders():
    assert find_template("hr-private/pay.md", {"hr": 1}) is None
    assert find_template("hr/private/pay.md", {"hr": 1, "hr/private": 2}) == 2
    assert find_template("HR/pay.md", {"hr": 1}) is None
    assert find_template("hr", {"hr": 1}) == 1


@pytest.mark.parametrize(("written", "meant"), [("hr", "hr"), ("hr/", "hr"), ("./hr//pay", "hr/pay"), ("re\u0301sume\u0301", "r\u00e9sum\u00e9")])
def test_SYS_G5_prefixes_are_normalised(written, meant):
    assert normalize_prefix(written) == meant


@pytest.mark.parametrize("bad", ["", ".", "/hr", "..", "hr/..", "hr/../it", "..\\hr", "C:hr", "~/hr", "hr/\x00", "\ud800", ".git", "hr/.hidden"])
def test_SYS_G5_prefixes_that_leave_the_source_are_refused(bad):
    with pytest.raises(Invalid):
        normalize_prefix(bad)


@small
@given(st.sampled_from(ACL_MODES), st.booleans(), st.booleans())
def test_GOV_B6_unknown_list_means_nobody_whatever_else_is_said(mode, has_known, has_template):
    own = OwnAcl("own" if has_known else None, "acl_broken", "Broken.")
    assert choose_readers(mode, own, "template" if has_template else None, "readers") == Choice("denied", None, "acl_broken", "Broken.")


@pytest.mark.parametrize(
    ("mode", "own", "template", "chosen"),
    [
        ("none", None, None, ("readers", "everyone")),
        ("none", None, "hr", ("readers", "everyone")),  # the mode does not ask for templates
        ("template", None, "hr", ("template", "hr")),
        ("template", None, None, ("readers", "everyone")),
        ("manifest", "alice", "hr", ("own", "alice")),
        ("manifest", None, "hr", ("template", "hr")),
        ("manifest", None, None, ("denied", None)),  # a slip in the manifest shows nothing to everyone
        ("posix", "alice", "hr", ("own", "alice")),
        ("posix", None, "hr", ("denied", None)),
    ],
)
def test_SYS_G5_what_the_source_says_goes_first_then_templates_then_its_readers(mode, own, template, chosen):
    choice = choose_readers(mode, OwnAcl(own), template, "everyone")
    assert (choice.origin, choice.acl) == chosen
