"""Look and navigation of the admin: by the job that people come to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from django.urls import reverse_lazy
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest


def can_see(label: str) -> Callable[[HttpRequest], bool]:
    """Shown exactly to those whose grant opens the list."""

    def has_permission(request: HttpRequest) -> bool:
        from django.contrib import admin  # settings are read before apps

        return any(entry.has_view_permission(request) for model, entry in admin.site._registry.items() if model._meta.label == label)

    return has_permission


def is_at(link: Any) -> Callable[[HttpRequest], bool]:
    """Marked in the menu when no other entry fits the page better: lists of one model differ by their query."""
    return lambda request: str(link) == find_entry(request)


def find_entry(request: HttpRequest) -> str:
    """The link of the entry that fits the page best: the longest whose path leads to it and whose query is part of the page's."""

    def fits(link: str) -> bool:
        parts = urlsplit(link)
        is_below = request.path.startswith(parts.path) and parts.path != str(reverse_lazy("admin:index"))
        return (is_below or request.path == parts.path) and all(request.GET.get(name) == value for name, value in parse_qsl(parts.query))

    groups: list[Any] = NAVIGATION
    links = [str(item["link"]) for group in groups for item in group["items"]]
    return max((link for link in links if fits(link)), key=len, default="")


def _list(title: Any, label: str, icon: str, query: str = "") -> dict[str, Any]:
    address = reverse_lazy(f"admin:{label.lower().replace('.', '_')}_changelist")
    link = format_lazy("{}?{}", address, query) if query else address
    return {"title": title, "icon": icon, "link": link, "permission": can_see(label), "active": is_at(link)}


def _page(title: Any, name: str, icon: str, label: str) -> dict[str, Any]:
    """A page beside a list, shown to those who see the list."""
    link = reverse_lazy(f"admin:{name}")
    return {"title": title, "icon": icon, "link": link, "permission": can_see(label), "active": is_at(link)}


def is_operator(request: HttpRequest) -> bool:
    actor = getattr(request, "actor", None)
    return actor is not None and "tenant.create" in actor.grant.permissions


NAVIGATION: Final = [
    {"title": "", "items": [{"title": _("Needs attention"), "icon": "priority_high", "link": reverse_lazy("admin:index")}]},
    {
        "title": _("Tenants & people"),
        "collapsible": True,
        "items": [
            _list(_("Tenant"), "tenants.Tenant", "apartment"),
            _list(_("Workspaces"), "tenants.Workspace", "workspaces"),
            _list(_("People"), "tenants.User", "person"),
            _list(_("Units"), "tenants.OrgUnit", "account_tree"),
            _list(_("Places in units"), "tenants.UnitPlacement", "place"),
            _list(_("Groups"), "tenants.Group", "group"),
            _list(_("Memberships"), "tenants.Membership", "group_add"),
            _list(_("Groups in groups"), "tenants.GroupNesting", "groups"),
            _list(_("Roles"), "tenants.RoleAssignment", "badge"),
            _page(_("Roles and permissions"), "tenants_roleassignment_matrix", "table", "tenants.RoleAssignment"),
            _list(_("Clearances"), "tenants.Clearance", "verified_user"),
            _list(_("ACL sets"), "tenants.AclSet", "lock"),
            _list(_("Readers"), "tenants.AclAssignment", "visibility"),
            _page(_("Who may read what"), "tenants_aclassignment_ask", "help", "tenants.AclAssignment"),
            _list(_("Changes of readers"), "tenants.AclChangeSet", "difference"),
            _list(_("Mappings"), "tenants.PrincipalMapping", "conversion_path"),
            _list(_("Tokens"), "tenants.ApiToken", "key"),
            _list(_("Support sessions"), "tenants.SupportSession", "support_agent"),
            {"title": _("Tenants of the platform"), "icon": "domain", "link": reverse_lazy("admin:tenants_tenant_all"), "permission": is_operator},
        ],
    },
    {
        "title": _("Knowledge"),
        "collapsible": True,
        "items": [
            _list(_("Knowledge bases"), "documents.KnowledgeBase", "library_books"),
            _list(_("Sources"), "documents.DataSource", "folder"),
            _list(_("ACL templates"), "documents.AclTemplate", "folder_managed"),
            _list(_("Documents"), "documents.Document", "description"),
            _list(_("Facts"), "documents.Fact", "fact_check"),
            _list(_("Chunks"), "documents.ChunkVersion", "segment"),
            _list(_("Ingest policies"), "documents.IngestPolicy", "tune"),
            _list(_("Fact mappings"), "documents.FactMapping", "swap_horiz"),
        ],
    },
    {
        "title": _("Publication"),
        "collapsible": True,
        "items": [
            _list(_("Channels"), "retrieval.Channel", "podcasts"),
            _list(_("Manifests"), "retrieval.Manifest", "inventory"),
            _list(_("Releases"), "retrieval.Release", "publish"),
            _list(_("Takedowns"), "retrieval.Takedown", "visibility_off"),
            _list(_("Retrieval policies"), "retrieval.RetrievalPolicy", "tune"),
        ],
    },
    {
        "title": _("Approvals"),
        "collapsible": True,
        "items": [
            _list(_("Inbox"), "approvals.ApprovalRequest", "inbox", "view=inbox"),
            _list(_("My requests"), "approvals.ApprovalRequest", "outbox", "view=mine"),
            _list(_("All requests"), "approvals.ApprovalRequest", "approval"),
            _list(_("Delegations"), "approvals.Delegation", "swap_calls"),
            _list(_("Absences"), "approvals.Absence", "event_busy"),
            _list(_("Break-glass"), "approvals.BreakGlass", "emergency_home"),
            _list(_("Action policies"), "approvals.ActionPolicy", "rule"),
        ],
    },
    {
        "title": _("Compliance"),
        "collapsible": True,
        "items": [
            _list(_("Tasks"), "compliance.Task", "task_alt"),
            _list(_("Ledger"), "ledger.Event", "history_edu"),
            _list(_("Saved searches"), "compliance.SavedSearch", "bookmark"),
            _list(_("Audit exports"), "compliance.ExportJob", "archive"),
        ],
    },
    {
        "title": _("Quality"),
        "collapsible": True,
        "items": [
            _list(_("Answers"), "verification.AnswerRecord", "question_answer"),
            _list(_("Citations"), "verification.Citation", "format_quote"),
            _list(_("Findings"), "verification.FindingRow", "troubleshoot"),
            _list(_("Answer policies"), "verification.AnswerPolicy", "tune"),
        ],
    },
    {
        "title": _("Operations"),
        "collapsible": True,
        "items": [
            _list(_("Jobs"), "documents.IngestJob", "manufacturing"),
            _list(_("Sync runs"), "documents.SyncRun", "sync"),
            _list(_("Refused files"), "documents.RefusedFile", "block"),
            _list(_("Deliveries"), "ledger.Delivery", "local_shipping"),
        ],
    },
]

UNFOLD: Final[dict[str, Any]] = {
    "SITE_TITLE": "RAG4C",
    "SITE_HEADER": "RAG4C",
    "SITE_SYMBOL": "fact_check",
    "SITE_URL": "/",
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "BORDER_RADIUS": "6px",
    "COMMAND": {"search_models": False, "show_history": False},  # results would be kept past a change of grants
    "SIDEBAR": {"show_search": False, "command_search": False, "show_all_applications": False, "navigation": NAVIGATION},
}
