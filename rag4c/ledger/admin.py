"""Admin pages of the ledger: what happened, and what is still owed because of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from rag4c.ledger import api
from rag4c.ledger.models import Delivery, Event, Seal
from rag4c.scope.admin import ScopedAdmin
from rag4c.scope.admin_columns import person_column, say_state, short_digest, state_label, when_column
from rag4c.scope.admin_parts import ApiAction, Panel, Related, Tile, offer_action, offer_panels, offer_related, offer_tiles

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor

STATES = {"pending": "waits", "done": "good", "attention": "bad"}
offer_tiles(
    Tile(gettext_lazy("Deliveries that need attention"), "ledger.Delivery", "state__exact=attention", is_alarm=True),
    Tile(gettext_lazy("Deliveries waiting"), "ledger.Delivery", "state__exact=pending"),
)
offer_panels(Panel(gettext_lazy("Deliveries that need attention"), "ledger.Delivery", "state__exact=attention"))
offer_related("ledger.Event", Related(gettext_lazy("Deliveries"), "ledger.Delivery", "event_id__exact"))


def show_seal(event: Event) -> str:
    """Its number in the chain and its hash, or that it has none yet."""
    seal = Seal.objects.filter(pk=event.pk).first()
    if seal is None:
        return state_label(_("not sealed yet"), "waits")
    return format_html("{} {}", state_label(_("sealed as #%d") % seal.seq, "good"), short_digest(bytes(seal.hash).hex()))


def retry_delivery(actor: Actor, delivery: Delivery, fields: dict[str, Any]) -> str:
    api.retry_delivery(actor=actor, delivery_id=delivery.pk)
    return _("will be delivered again.")


def say_not_given_up(delivery: Delivery) -> str:
    return "" if delivery.state == "attention" else _("It was not given up.")


offer_action("ledger.Delivery", ApiAction("retry-delivery", gettext_lazy("Deliver again"), "job.retry", retry_delivery,
                                          lambda delivery: _("its handler is called again"), refusal=say_not_given_up))  # fmt: skip


@admin.register(Event)
class EventAdmin(ScopedAdmin[Event]):
    list_display = ("code", "subject", person_column("actor", gettext_lazy("by")), "channel", when_column("at", gettext_lazy("when")))
    list_filter = ("channel", "subject_kind")
    search_fields = ("code__exact", "subject_id__exact")
    fields = ("at", "code", "actor", "channel", "subject_kind", "subject_id", "xid", "incarnation", "seal", "body", "id")
    lookups = ("code__exact", "code__startswith", "actor__exact", "subject_id__exact", "at__gte", "at__lt")
    ordering = ("-at", "-id")
    people = ("actor",)
    view_permission = "ledger.read"
    reading = "audit.read"
    empty_text = gettext_lazy("Every governed change, as it happened. The first change writes the first line.")

    @admin.display(description=gettext_lazy("subject"))
    def subject(self, event: Event) -> str:
        return f"{event.subject_kind} {event.subject_id[:13]}"

    @admin.display(description=gettext_lazy("seal"))
    def seal(self, event: Event) -> str:
        return show_seal(event)

    @admin.display(description=gettext_lazy("recorded bytes"))
    def body(self, event: Event) -> str:
        return format_html("<pre class='scoped-pre'>{}</pre>", json.dumps(json.loads(bytes(event.canonical)), indent=2, ensure_ascii=False))

    def headline(self, event: Event) -> str:
        return _("%(code)s on %(kind)s %(id)s.") % {"code": event.code, "kind": event.subject_kind, "id": event.subject_id}


@admin.register(Delivery)
class DeliveryAdmin(ScopedAdmin[Delivery]):
    list_display = ("code", "handler", "situation", "attempts", when_column("due_at", gettext_lazy("due")))
    list_filter = ("state", "handler")
    search_fields = ("subject_id__exact",)
    view_permission = "ledger.read"
    empty_text = gettext_lazy("What must still react to an event. Nothing is owed.")

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def situation(self, delivery: Delivery) -> str:
        return state_label(say_state(delivery), STATES[delivery.state])

    def headline(self, delivery: Delivery) -> str:
        return _("%(code)s for %(handler)s: %(state)s after %(n)d attempts.") % {
            "code": delivery.code, "handler": delivery.handler, "state": say_state(delivery), "n": delivery.attempts}  # fmt: skip
