"""ScopedAdmin: read-only pages under row-level security, with the ledger as history and api functions as the only actions."""

from __future__ import annotations

import uuid
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from django.contrib.auth import get_user_model
from django.core.paginator import Paginator
from django.db import models
from django.db.models import F, Func, OuterRef, Subquery, Value
from django.db.models.functions import Cast, Coalesce, NullIf
from django.forms import ModelForm
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from rag4c.kernel.canonical import sha256_hex
from rag4c.scope.admin_actions import action_url, list_actions, own_scopes, show_action
from rag4c.scope.admin_columns import person_column
from rag4c.scope.admin_parts import RELATED, actions_for, history_of, may, note_reading, readable_document_ids
from rag4c.scope.views import actor_of, find_actor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.admin import ModelAdmin as UnfoldModelAdmin
    from django.contrib.admin.views.main import ChangeList
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse, HttpResponseBase

else:  # unfold has no types
    from unfold.admin import ModelAdmin as UnfoldModelAdmin
    from unfold.views import ChangeList

M = TypeVar("M", bound=models.Model)
MAX_COUNTED: Final = 10_000  # counting further costs more than it tells; filters narrow the list
HISTORY_ON_PAGE, HISTORY_ALL = 8, 500


class TenantForm(ModelForm[M]):
    def _get_validation_exclusions(self) -> set[str]:
        """Django skips every constraint with a field that is not in the form (tenant, normalised copies): a duplicate would be a 500."""
        excluded: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]
        return excluded - {field.name for field in self._meta.model._meta.fields if not field.editable and not field.primary_key}


class CappedPaginator(Paginator):  # type: ignore[type-arg]  # generic in the stubs only
    """Counts at most MAX_COUNTED rows."""

    @cached_property
    def count(self) -> int:
        queryset: Any = self.object_list
        return int(queryset.order_by()[:MAX_COUNTED].count())


class ScopedChangeList(ChangeList):
    def get_results(self, request: HttpRequest) -> None:
        """An unfiltered list needs no second count to be known as whole."""
        super().get_results(request)
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count


class ReadOnlyMixin:
    """Nothing is added, changed or deleted here, and Django's own log stays empty: the api records in the ledger."""

    view_permission = "document.list"

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may(request, self.view_permission)

    def has_add_permission(self, request: HttpRequest, *_: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def log_addition(self, request: HttpRequest, obj: models.Model, message: Any) -> None:
        return None

    def log_change(self, request: HttpRequest, obj: models.Model, message: Any) -> None:
        return None

    def log_deletions(self, request: HttpRequest, queryset: Any) -> None:
        return None


class ScopedListMixin:
    """Lists: rows of the grant's tenant, few queries, a stable order. content_of: lookup to the document whose readers may see the rows."""

    content_of: ClassVar[str] = ""
    people: ClassVar[tuple[str, ...]] = ()  # columns with an actor's ref; `<column>_name` is added
    lookups: ClassVar[tuple[str, ...]] = ()  # allowed in addresses besides the filters
    empty_text: Any = ""
    model: Any

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        grant = actor_of(request).grant
        rows: QuerySet[Any] = self.model.objects.visible_to(grant)
        if self.content_of:
            rows = rows.filter(**{f"{self.content_of}__in": readable_document_ids(grant)})
        named: QuerySet[Any] = rows.annotate(**{f"{column}_name": person_name(column) for column in self.people})
        return named

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ScopedChangeList

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        return lookup in self.lookups or super().lookup_allowed(lookup, value, request)  # type: ignore[misc]

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> tuple[QuerySet[Any], bool]:
        """An id finds its row everywhere; other terms go to `search_fields`."""
        try:
            return queryset.filter(pk=uuid.UUID(search_term.strip())), False
        except ValueError:
            found: tuple[QuerySet[Any], bool] = super().get_search_results(request, queryset, search_term)  # type: ignore[misc]
            return found


class ActionsMixin:
    """Actions come from the registry, each with a page of its own."""

    admin_site: Any
    model: Any
    opts: Any

    def get_urls(self) -> list[Any]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_act"
        view = self.admin_site.admin_view(own_scopes(self.act_view))
        return [path("act/<slug:name>/", view, name=name), *super().get_urls()]  # type: ignore[misc]

    def act_view(self, request: HttpRequest, name: str) -> HttpResponseBase:
        return show_action(self, request, name)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return list_actions(request, self.model)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if getattr(self, "reading", "") == "audit.read":  # what was looked for, as a digest: reading the audit is itself audited (GOV-U13)
            note_reading(request, "audit.searched", ("ledger", "search"), {"filter_sha256": sha256_hex(request.GET.urlencode())})
        buttons = [(action.label, action_url(self, action.name)) for action in actions_for(request, self.model) if not action.needs_object]
        extra = {"list_buttons": buttons, "empty_text": self.empty_text, **(extra_context or {})}  # type: ignore[attr-defined]
        response: HttpResponse = super().changelist_view(request, extra)  # type: ignore[misc]
        return response


class ObjectPageMixin:
    """An object's page: a sentence that says how it stands, what can be done, what belongs to it, then the fields and the ledger."""

    subject_kind: ClassVar[str]
    model: Any
    opts: Any
    admin_site: Any

    reading: ClassVar[str] = ""  # event of opening the page; pages of a document's content have `document.read`

    def headline(self, obj: Any) -> str:
        return str(obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[str]:
        return tuple(self.get_fields(request, obj))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[str]:
        """A person's ref is shown as a name."""
        names = self.fields or (*(field.name for field in self.opts.fields if field.name not in {"tenant", "id"}), "id")  # type: ignore[attr-defined]
        people = {name: person_column(name, self.opts.get_field(name).verbose_name) for name in names if name in self.people}  # type: ignore[attr-defined]
        return tuple(people.get(name, name) for name in names)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        obj: Any = kwargs.get("obj")
        self._note_reading(request, obj)
        context.update(
            headline=self.headline(obj),
            object_buttons=self._list_buttons(request, obj),
            related=find_related(self.admin_site, request, obj),
            events=events_with_names(self.subject_kind, obj.pk, HISTORY_ON_PAGE) if may(request, "ledger.read") else [],
        )
        response: HttpResponse = super().render_change_form(request, context, **kwargs)  # type: ignore[misc]
        return response

    def _note_reading(self, request: HttpRequest, obj: Any) -> None:
        lookup: str = self.content_of  # type: ignore[attr-defined]
        if lookup:
            document_id = reduce(getattr, lookup.split("__"), obj)
            note_reading(request, "document.read", ("document", document_id), {"page": self.opts.model_name, "id": str(obj.pk)})
        elif self.reading:
            note_reading(request, self.reading, (self.opts.model_name, obj.pk), {})

    def _list_buttons(self, request: HttpRequest, obj: Any) -> list[tuple[Any, str, str, bool]]:
        """(action, address, why not now, is that said here); buttons in a row with the same refusal say it once, after the last."""
        refusals = [item.refusal(obj) for item in self._offered(request)]
        following = [*refusals, ""][1:]
        return [
            (item, action_url(self, item.name, [obj.pk], origin="object"), refusal, refusal != after)
            for item, refusal, after in zip(self._offered(request), refusals, following, strict=True)
        ]

    def _offered(self, request: HttpRequest) -> list[Any]:
        return [action for action in actions_for(request, self.model) if action.needs_object]


class HistoryMixin:
    """History is the ledger's."""

    subject_kind: ClassVar[str] = ""
    opts: Any
    admin_site: Any

    def history_view(self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        obj = self.get_object(request, object_id) if self.has_view_permission(request) else None  # type: ignore[attr-defined]
        if obj is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)  # type: ignore[attr-defined,no-any-return]
        shown = events_with_names(self.subject_kind, obj.pk, HISTORY_ALL) if may(request, "ledger.read") else []
        context = {**self.admin_site.each_context(request), "title": _("History"), "opts": self.opts, "object": obj, "events": shown}
        return TemplateResponse(request, "admin/scoped/history.html", context)


class ScopedAdmin(ReadOnlyMixin, ActionsMixin, ObjectPageMixin, HistoryMixin, ScopedListMixin, UnfoldModelAdmin[M]):  # type: ignore[misc]  # the mixins say Any where the stubs name the model
    """Base of every admin class: a subclass says which columns decide, which filters people use, and how an object stands."""

    form = TenantForm  # type: ignore[assignment]  # the stubs tie the form to M
    paginator = CappedPaginator
    list_per_page = 50
    list_max_show_all = 200
    show_full_result_count = False
    ordering: ClassVar[tuple[str, ...]] = ("-pk",)  # UUIDv7: newest first
    compressed_fields = True
    list_before_template = "admin/scoped/list_head.html"
    change_form_outer_before_template = "admin/scoped/object_head.html"
    change_form_outer_after_template = "admin/scoped/object_history.html"


def person_name(column: str) -> Subquery:
    """The display name behind an actor's ref `user:<id>`; NULL for the system. Finds people by primary key, so a page stays one query."""
    key = Cast(Func(OuterRef(column), Value("^user:([0-9a-f-]{36})$"), function="substring", output_field=models.TextField()), models.UUIDField())
    name = Coalesce(NullIf(F("display_name"), Value("")), F("username"))
    return Subquery(get_user_model().objects.filter(pk=key).annotate(shown=name).values("shown")[:1])


def events_with_names(kind: str, key: Any, limit: int) -> list[tuple[Any, str]]:
    """The ledger's events of a subject, newest first, each with the name of who did it."""
    events = history_of(kind, key, limit)
    ids = {event.actor.removeprefix("user:") for event in events if event.actor.startswith("user:")}
    names = {f"user:{user.pk}": str(user) for user in get_user_model().objects.filter(pk__in=ids)}
    return [(event, names.get(event.actor, event.actor)) for event in events]


def find_related(site: Any, request: HttpRequest, obj: Any) -> list[tuple[Any, str, int]]:
    """(label, address, count) of what belongs to the object and the actor may see."""
    found = []
    admins = {model._meta.label: admin for model, admin in site._registry.items()}
    for link in RELATED.get(obj._meta.label, []):
        target = admins.get(link.target)
        if target is not None and target.has_view_permission(request):
            value = link.value(obj)
            count = target.get_queryset(request).filter(**{link.lookup: value}).order_by()[:MAX_COUNTED].count()
            address = reverse(f"admin:{target.opts.app_label}_{target.opts.model_name}_changelist")
            found.append((link.label, f"{address}?{link.lookup}={value}", count))
    return found


def is_staff_actor(request: HttpRequest) -> bool:
    return find_actor(request) is not None and bool(getattr(request.user, "is_staff", False))
