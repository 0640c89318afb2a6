"""Forms of the approvals' admin pages: they translate words, the api decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminSplitDateTimeWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from approvals.api import StageSpec
from tenants import api as tenants

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor

STAGES: Final = 3  # a page holds no more; the command line and REST take five
MODES: Final = [("", _("no such stage")), ("quorum", _("so many of them")), ("all", _("all of them"))]


class VoteForm(forms.Form):
    comment = forms.CharField(label=_("Comment"), max_length=2000, required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}))


class CommentForm(forms.Form):
    comment = forms.CharField(label=_("Comment"), max_length=2000, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}))


class UntilForm(forms.Form):
    valid_from = forms.SplitDateTimeField(label=_("From"), required=False, widget=UnfoldAdminSplitDateTimeWidget, help_text=_("UTC; empty: now."))
    valid_to = forms.SplitDateTimeField(label=_("Until"), widget=UnfoldAdminSplitDateTimeWidget, help_text=_("UTC."))


class DelegateForm(UntilForm):
    username = forms.CharField(label=_("Delegate (user name)"), max_length=150, widget=UnfoldAdminTextInputWidget)
    field_order = ("username", "valid_from", "valid_to")


class StageFields(forms.Form):
    """Three stages, one under the other. Approvers are written as on the command line: role:approver, user:alice, group:hr."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for number in range(1, STAGES + 1):
            self._add_stage(number)

    def _add_stage(self, number: int) -> None:
        def label(text: Any) -> str:
            return f"{number}. {text}"

        small, text = UnfoldAdminIntegerFieldWidget, UnfoldAdminTextInputWidget
        fields: dict[str, forms.Field] = {
            "mode": forms.ChoiceField(label=label(_("Who must agree")), choices=MODES, required=False, widget=UnfoldAdminSelectWidget),
            "quorum": forms.IntegerField(label=label(_("How many")), min_value=1, max_value=20, initial=1, required=False, widget=small),
            "approvers": forms.CharField(
                label=label(_("Approvers")), required=False, initial="role:approver", widget=text, help_text=_("role:CODE, user:NAME, group:SLUG")
            ),
            "veto": forms.BooleanField(label=label(_("One rejection ends it")), required=False, initial=True, widget=UnfoldBooleanWidget),
            "ttl_hours": forms.IntegerField(label=label(_("Hours to decide")), min_value=1, initial=72, required=False, widget=small),
            "escalation": forms.CharField(label=label(_("Added when the time is over")), required=False, widget=text),
        }
        self.fields.update({f"s{number}_{name}": field for name, field in fields.items()})


def read_stages(actor: Actor, fields: dict[str, Any]) -> list[StageSpec]:
    """The stages that a filled form names. Raises: Invalid("readers_invalid"), Absent for a name that is nobody's."""
    stages = []
    for number in range(1, STAGES + 1):
        mode = fields[f"s{number}_mode"]
        if mode:
            stages.append(
                StageSpec(
                    tenants.read_principals(actor=actor, text=fields[f"s{number}_approvers"]),
                    mode,
                    fields[f"s{number}_quorum"] or 1,
                    fields[f"s{number}_veto"],
                    fields[f"s{number}_ttl_hours"] or 72,
                    tenants.read_principals(actor=actor, text=fields[f"s{number}_escalation"]),
                )
            )
    return stages


class SimulationForm(forms.Form):
    action = forms.CharField(max_length=80)
    username = forms.CharField(max_length=150, required=False)
