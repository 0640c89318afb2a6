"""Manifests, channels, releases and rollbacks (governance.md "Channels, manifests, releases")."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.db import transaction

from documents import api as documents
from rag4c.kernel import env
from rag4c.kernel.canonical import digest_of
from rag4c.kernel.errors import Absent, Conflict, Invalid
from rag4c.kernel.failpoints import fp
from rag4c.ledger import api as ledger
from rag4c.providers.registry import get_embedder
from rag4c.scope import gate
from rag4c.scope.manager import keep_apart, scope
from rag4c.scope.permissions import check_permission
from retrieval import guarded
from retrieval.api.policies import bump_deny_rev, policy_digest, retrieval_policy_in_force
from retrieval.api.segments import cover_chunks
from retrieval.guarded import ChannelMove
from retrieval.manifests import ManifestHead, ManifestItem, make_manifest
from retrieval.models import Channel, Manifest, ManifestCounter, PublishedItem, Release, Takedown

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor
    from retrieval.manifests import PublicationManifest

__all__ = ["ChannelMove", "DraftedManifest", "create_channels", "draft_manifest", "end_takedown", "list_releases", "release", "rollback", "take_down"]
DEFAULT_CHANNELS: Final = ("dev", "staging", "live")


@dataclass(frozen=True, slots=True)
class DraftedManifest:
    """A manifest that exists, served or not. is_new: false when nothing had changed since the last one."""

    id: uuid.UUID
    seq: int
    sha256: str
    item_count: int
    is_new: bool


def create_channels(*, actor: Actor, knowledge_base_id: uuid.UUID) -> None:
    """dev, staging and live of a knowledge base; those that exist stay. Raises: Denied("not_allowed")."""
    check_permission(actor, "kb.manage")
    with scope(actor.grant), transaction.atomic():
        for name in DEFAULT_CHANNELS:
            channel, is_new = Channel.objects.get_or_create(tenant_id=actor.tenant_id, knowledge_base_id=knowledge_base_id, name=name)
            if is_new:
                ledger.record(actor, "channel.created", subject=("channel", channel.pk), data={"name": name})


def draft_manifest(*, actor: Actor, knowledge_base_id: uuid.UUID) -> DraftedManifest:
    """Write down what is ready: every live document at its newest completed revision. Nothing is served by this.

    The number is taken under the counter's row lock and given back by a failure (SYS-A5, GOV-C1).
    Raises: Denied("not_allowed"), Absent("knowledge_base").
    """
    check_permission(actor, "release")
    with scope(actor.grant), transaction.atomic():
        if not ManifestCounter.objects.filter(knowledge_base_id=knowledge_base_id).exists():
            documents.require_knowledge_base(knowledge_base_id)
            ManifestCounter.objects.get_or_create(tenant_id=actor.tenant_id, knowledge_base_id=knowledge_base_id)
        counter = ManifestCounter.objects.select_for_update().get(knowledge_base_id=knowledge_base_id)
        heads = documents.list_heads(tenant_id=actor.tenant_id, knowledge_base_id=knowledge_base_id)
        previous = Manifest.objects.filter(knowledge_base_id=knowledge_base_id, seq=counter.last_seq).first()
        drafted = _compose(actor, knowledge_base_id, heads, previous)
        if previous is not None and _says_the_same(previous, drafted):
            return DraftedManifest(previous.pk, previous.seq, previous.sha256, previous.item_count, is_new=False)
        manifest = _store(actor, drafted, heads)
        ManifestCounter.objects.filter(pk=counter.pk).update(last_seq=drafted.head.seq)
        _move_items(actor, knowledge_base_id, heads, drafted.head.seq)
        ledger.record(actor, "manifest.drafted", subject=("manifest", manifest.pk), data={"seq": manifest.seq, "sha256": manifest.sha256})
        fp("manifest.commit.before")
    fp("manifest.commit.after")
    return DraftedManifest(manifest.pk, manifest.seq, manifest.sha256, manifest.item_count, is_new=True)


def _compose(actor: Actor, base_id: uuid.UUID, heads: documents.Heads, previous: Manifest | None) -> PublicationManifest:
    head = ManifestHead(
        tenant=str(actor.tenant_id),
        kb=str(base_id),
        seq=previous.seq + 1 if previous else 1,
        prev_sha256=previous.sha256 if previous else "",
        space=get_embedder(env.read_str("RAG4C_EMBEDDER")).space.key,
        chunk_settings=heads.settings_digest,
        config_sha256=digest_of({"retrieval_policy": policy_digest(retrieval_policy_in_force(actor.tenant_id))}),
    )
    return make_manifest(head, [ManifestItem(str(item.document_id), str(item.revision_id), item.content_sha256) for item in heads.items])


def _says_the_same(previous: Manifest, drafted: PublicationManifest) -> bool:
    from retrieval.manifests import read_manifest

    old = read_manifest(bytes(previous.body), previous.sha256)
    return old.items == drafted.items and (old.head.space, old.head.chunk_settings, old.head.config_sha256) == (
        drafted.head.space,
        drafted.head.chunk_settings,
        drafted.head.config_sha256,
    )


def _store(actor: Actor, drafted: PublicationManifest, heads: documents.Heads) -> Manifest:
    base_id = uuid.UUID(drafted.head.kb)
    chunk_ids = documents.list_chunk_ids(revision_ids=[item.revision_id for item in heads.items], settings_digest=heads.settings_digest)
    return Manifest.objects.create(
        tenant_id=actor.tenant_id,
        knowledge_base_id=base_id,
        seq=drafted.head.seq,
        sha256=drafted.sha256,
        prev_sha256=drafted.head.prev_sha256,
        body=drafted.data,
        item_count=len(drafted.items),
        space=drafted.head.space,
        settings_digest=heads.settings_digest,
        segment_ids=cover_chunks(actor.grant, base_id, chunk_ids),
        created_by=actor.ref,
    )


def _move_items(actor: Actor, base_id: uuid.UUID, heads: documents.Heads, seq: int) -> None:
    """Close the intervals of what left or changed, open those of what came; unchanged items are not touched."""
    wanted = {item.document_id: item.revision_id for item in heads.items}
    open_items = {row.document_id: row for row in PublishedItem.objects.filter(knowledge_base_id=base_id, to_seq__isnull=True)}
    ended = [row.pk for key, row in open_items.items() if wanted.get(key) != row.revision_id]
    PublishedItem.objects.filter(pk__in=ended).update(to_seq=seq)
    PublishedItem.objects.bulk_create(
        [
            PublishedItem(tenant_id=actor.tenant_id, knowledge_base_id=base_id, document_id=key, revision_id=revision, from_seq=seq)
            for key, revision in wanted.items()
            if key not in open_items or open_items[key].revision_id != revision
        ],
        batch_size=1000,
    )


def release(*, actor: Actor, knowledge_base_id: uuid.UUID, channel: str, manifest_id: uuid.UUID, reason: str = "release") -> int:
    """Point a channel at a manifest; returns the channel's new rev. The same manifest again changes nothing.

    Raises: Denied("not_allowed"), Absent("channel" | "manifest"), Conflict("channel_moved" | "manifest_not_ready"),
    Blocked("approval_required" | "no_policy"), Conflict("transaction_mixes") in a transaction that revoked (GOV-B5).
    Source: GOV-C2, C3.
    """
    check_permission(actor, "release")
    return _move_channel(actor, knowledge_base_id, channel, manifest_id, kind="release", reason=reason)


def rollback(*, actor: Actor, knowledge_base_id: uuid.UUID, channel: str, seq: int | None = None, reason: str = "rollback") -> int:
    """Move forward to an older manifest (GOV-C4); by default to the one that the channel served before.

    Raises: as `release`, and Conflict("nothing_to_roll_back").
    """
    check_permission(actor, "rollback")
    with scope(actor.grant):
        row = _find_channel(knowledge_base_id, channel)
        if seq is None:
            last = Release.objects.filter(channel=row).order_by("-channel_rev").first()
            target = last.previous_id if last else None
        else:
            found = Manifest.objects.filter(knowledge_base_id=knowledge_base_id, seq=seq).first()
            target = found.pk if found else None
    if target is None:
        raise Conflict("nothing_to_roll_back", "This channel has served no earlier manifest.")
    return _move_channel(actor, knowledge_base_id, channel, target, kind="rollback", reason=reason)


def _find_channel(base_id: uuid.UUID, name: str) -> Channel:
    channel = Channel.objects.filter(knowledge_base_id=base_id, name=name).first()
    if channel is None:
        raise Absent("channel", "There is no such channel.")
    return channel


def _move_channel(actor: Actor, base_id: uuid.UUID, name: str, manifest_id: uuid.UUID, *, kind: str, reason: str) -> int:
    if not 1 <= len(reason) <= 500:
        raise Invalid("reason_invalid", "A reason is 1 to 500 characters.")
    with scope(actor.grant), transaction.atomic():
        keep_apart("publish", never_with="revoke")
        channel = _find_channel(base_id, name)
        manifest = Manifest.objects.filter(pk=manifest_id, knowledge_base_id=base_id).first()
        if manifest is None:
            raise Absent("manifest", "There is no such manifest.")
        if channel.manifest_id == manifest.pk:
            return channel.rev
        _check_ready(manifest)
        move = ChannelMove(channel.pk, channel.rev, manifest.sha256, reason)
        permit = gate.require(guarded.RELEASE if kind == "release" else guarded.ROLLBACK, actor, move)
        fp("release.cas.before")
        if not Channel.objects.filter(pk=channel.pk, rev=channel.rev).update(manifest=manifest, rev=channel.rev + 1):
            raise Conflict("channel_moved", "Somebody else moved this channel meanwhile; look again.")
        Release.objects.create(
            tenant_id=actor.tenant_id,
            channel=channel,
            channel_rev=channel.rev + 1,
            manifest=manifest,
            previous_id=channel.manifest_id,
            kind=kind,
            permit=permit,
            reason=reason,
            released_by=actor.ref,
        )
        ledger.record(
            actor,
            "channel.released" if kind == "release" else "channel.rolled_back",
            subject=("channel", channel.pk),
            data={"rev": channel.rev + 1, "manifest": manifest.sha256, "previous": str(channel.manifest_id or ""), "permit": permit},
        )
        fp("release.commit.before")
    fp("release.commit.after")
    return channel.rev + 1


def _check_ready(manifest: Manifest) -> None:
    """Every item completed at exactly that revision and these settings (GOV-C3)."""
    revisions = list(
        PublishedItem.objects.filter(knowledge_base_id=manifest.knowledge_base_id, from_seq__lte=manifest.seq)
        .exclude(to_seq__lte=manifest.seq)
        .values_list("revision_id", flat=True)
    )
    if unready := documents.list_unfinished(revision_ids=revisions, settings_digest=manifest.settings_digest):
        raise Conflict("manifest_not_ready", "Some documents of this manifest are not indexed.", {"revisions": [str(key) for key in unready[:20]]})


def list_releases(*, actor: Actor, knowledge_base_id: uuid.UUID, channel: str, limit: int = 20) -> list[Release]:
    """The channel's moves, newest first. Raises: Denied("not_allowed"), Absent("channel")."""
    check_permission(actor, "manifest.read")
    with scope(actor.grant):
        row = _find_channel(knowledge_base_id, channel)
        return list(Release.objects.filter(channel=row).select_related("manifest").order_by("-channel_rev")[:limit])


def take_down(*, actor: Actor, document_id: uuid.UUID, reason: str) -> uuid.UUID:
    """Hide a document from every channel, now, whatever the manifests say (GOV-C11).

    Args: reason: 10 to 500 characters. Raises: Denied("not_allowed"), Absent("document"), Invalid("reason_invalid"), Conflict("takedown_active").
    """
    check_permission(actor, "release")
    if not 10 <= len(reason) <= 500:
        raise Invalid("reason_invalid", "Give a reason of 10 to 500 characters.")
    with scope(actor.grant), transaction.atomic():
        documents.lock_document(document_id)
        if Takedown.objects.filter(document_id=document_id, ended_at__isnull=True).exists():
            raise Conflict("takedown_active", "This document is taken down already.")
        row = Takedown.objects.create(tenant_id=actor.tenant_id, document_id=document_id, reason=reason, started_by=actor.ref)
        bump_deny_rev(actor.tenant_id)
        ledger.record(
            actor, "document.taken_down", subject=("document", document_id), data={"takedown": str(row.pk), "reason_sha256": digest_of(reason)}
        )
    return row.pk


def end_takedown(*, actor: Actor, document_id: uuid.UUID) -> None:
    """Show it again where manifests hold it. Raises: Denied("not_allowed"), Absent("document"), Conflict("no_takedown")."""
    from rag4c.scope.dbtime import ClockTimestamp

    check_permission(actor, "release")
    with scope(actor.grant), transaction.atomic():
        documents.lock_document(document_id)
        if not Takedown.objects.filter(document_id=document_id, ended_at__isnull=True).update(ended_at=ClockTimestamp()):
            raise Conflict("no_takedown", "This document is not taken down.")
        bump_deny_rev(actor.tenant_id)
        ledger.record(actor, "document.takedown_ended", subject=("document", document_id))
