"""Append-only audit events, partitioned by month, what is owed to handlers because of them, and the chain that seals them."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from django.db import models
from django.db.models.functions import Now

from rag4c.ledger.states import DELIVERY
from rag4c.scope.models import ScopedManager, TenantModel, new_id


class TransactionIdField(models.BigIntegerField["int | str", int]):
    """The column is xid8, which the driver hands over as text; texts would sort "10" before "9"."""

    def from_db_value(self, value: Any, *_: Any) -> int | None:
        return None if value is None else int(value)


class Event(models.Model):
    """One governed change or refused attempt. Ids, codes and digests, never text (GOV-U6). Sealing orders by (incarnation, xid, id)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)
    at = models.DateTimeField(db_default=Now(), editable=False)
    xid = TransactionIdField(editable=False)  # filled by the database
    incarnation = models.PositiveIntegerField(db_default=1, editable=False)
    code = models.CharField(max_length=80)
    actor = models.CharField(max_length=80)
    channel = models.CharField(max_length=20)
    subject_kind = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=80)
    canonical = models.BinaryField()  # the bytes that are hashed; jsonb would reorder keys (GOV-U2)

    objects: ClassVar[ScopedManager[Self]] = ScopedManager()

    class Meta:
        managed = False  # partitioned: made by 0001_initial in SQL
        db_table = "ledger_event"
        ordering = ("-at", "-id")

    def __str__(self) -> str:
        return f"{self.code} {self.subject_kind}:{self.subject_id}"


class Delivery(TenantModel):
    """One handler that must see one event. The row is the truth; the broker's message is a hint."""

    event_id = models.UUIDField()
    event_at = models.DateTimeField()
    code = models.CharField(max_length=80)
    handler = models.CharField(max_length=80)
    subject_id = models.CharField(max_length=80)
    state = models.CharField(max_length=10, choices=DELIVERY.choices, default=DELIVERY.initial)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "event_id", "handler"], name="ledger_delivery_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["due_at"], condition=models.Q(state="pending"), name="ledger_delivery_due")]
        verbose_name_plural = "deliveries"

    def __str__(self) -> str:
        return f"{self.code} -> {self.handler}"


class Seal(models.Model):
    """One link of the tenant's chain: what it seals and the hash over it. Written by the database function `rag4c_seal` alone (GOV-U1, GOV-U2)."""

    event_id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False)
    seq = models.BigIntegerField(editable=False)
    event_at = models.DateTimeField(editable=False)
    incarnation = models.PositiveIntegerField(editable=False)
    xid = TransactionIdField(editable=False)
    prev = models.BinaryField()
    hash = models.BinaryField()
    sealed_at = models.DateTimeField(editable=False)

    objects: ClassVar[ScopedManager[Self]] = ScopedManager()

    class Meta:
        managed = False  # made by 0002_seals in SQL; the key there is (tenant, seq)
        db_table = "ledger_seal"
        ordering = ("-seq",)

    def __str__(self) -> str:
        return f"#{self.seq}"


class Checkpoint(TenantModel):
    """A signed statement of the chain's head. The copy outside Postgres decides; this one is for lists and exports (GOV-U8)."""

    seq = models.BigIntegerField()
    body = models.BinaryField()  # canonical JSON, as signed
    signature = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "seq"], name="ledger_checkpoint_once"),
        ]

    def __str__(self) -> str:
        return f"checkpoint at #{self.seq}"


class Stub(TenantModel):
    """What is left of a pruned partition: which numbers of the chain it held, signed (GOV-U12)."""

    name = models.CharField(max_length=40)
    body = models.BinaryField()
    signature = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta(TenantModel.Meta):
        constraints: ClassVar[list[models.BaseConstraint]] = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["tenant", "name"], name="ledger_stub_once"),
        ]

    def __str__(self) -> str:
        return self.name
