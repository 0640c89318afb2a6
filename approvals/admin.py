"""Admin pages of approvals: which guarded action needs whom."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals.models import ActionPolicy
from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_columns import state_label


@admin.register(ActionPolicy)
class ActionPolicyAdmin(ScopedAdmin[ActionPolicy]):
    list_display = ("action", "rev", "needs")
    list_filter = ("mode", "action")
    ordering = ("action", "-rev")
    view_permission = "policy.manage"
    empty_text = gettext_lazy("Which guarded action needs whom. Without a row an action is blocked; `rag4c init-db` seeds them.")

    @admin.display(description=gettext_lazy("needs"), ordering="mode")
    def needs(self, policy: ActionPolicy) -> str:
        return state_label(policy.get_mode_display(), "good" if policy.mode == "none" else "odd")

    def headline(self, policy: ActionPolicy) -> str:
        return _("%(action)s, revision %(rev)d: %(mode)s.") % {"action": policy.action, "rev": policy.rev, "mode": policy.get_mode_display()}
