"""What the pages of compliance ask for."""

from __future__ import annotations

from dataclasses import fields as fields_of
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextInputWidget,
)

from compliance.api import AuditQuery
from compliance.rules import VIEWS
from rag4c.scope.admin_parts import ReasonForm


class AssignForm(forms.Form):
    username = forms.CharField(label=_("Person"), max_length=150, widget=UnfoldAdminTextInputWidget, help_text=_("The name that they sign in with."))


class SnoozeForm(forms.Form):
    days = forms.IntegerField(label=_("Days"), min_value=1, max_value=90, initial=1, widget=UnfoldAdminIntegerFieldWidget)


class ResolveForm(ReasonForm):
    """What was found and done."""


class QueryForm(forms.Form):
    code = forms.CharField(
        label=_("Code"), max_length=80, required=False, widget=UnfoldAdminTextInputWidget, help_text=_("As `role.granted`, or `role.*`.")
    )
    actor = forms.CharField(
        label=_("Who"), max_length=80, required=False, widget=UnfoldAdminTextInputWidget, help_text=_("As `user:<id>` or `system`.")
    )
    channel = forms.CharField(label=_("Through"), max_length=20, required=False, widget=UnfoldAdminTextInputWidget)
    subject_kind = forms.CharField(label=_("Kind of object"), max_length=40, required=False, widget=UnfoldAdminTextInputWidget)
    subject_id = forms.CharField(label=_("Id of the object"), max_length=80, required=False, widget=UnfoldAdminTextInputWidget)
    since = forms.DateTimeField(label=_("From"), required=False, widget=UnfoldAdminTextInputWidget, help_text=_("As 2026-01-31 08:00, in UTC."))
    until = forms.DateTimeField(label=_("Before"), required=False, widget=UnfoldAdminTextInputWidget)


class SearchForm(QueryForm):
    name = forms.CharField(label=_("Name"), max_length=100, widget=UnfoldAdminTextInputWidget)


class ExportForm(QueryForm):
    from_seq = forms.IntegerField(label=_("From number"), min_value=1, required=False, widget=UnfoldAdminIntegerFieldWidget)
    to_seq = forms.IntegerField(label=_("To number"), min_value=1, required=False, widget=UnfoldAdminIntegerFieldWidget,
                                help_text=_("Of a checkpoint; everything up to now when empty."))  # fmt: skip
    views = forms.MultipleChoiceField(label=_("Also as"), choices=[(view, view.upper()) for view in VIEWS], required=False,
                                      widget=UnfoldAdminCheckboxSelectMultipleWidget)  # fmt: skip


def read_query(values: dict[str, Any]) -> AuditQuery:
    """The filters of a cleaned form; times as ISO 8601."""
    texts = {}
    for field in fields_of(AuditQuery):
        value = values.get(field.name)
        texts[field.name] = "" if not value else value.isoformat() if hasattr(value, "isoformat") else str(value).strip()
    return AuditQuery(**texts)
