"""Guarded actions of publication: the payload names the exact manifest that people approve (GOV-C3)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rag4c.kernel.errors import Absent
from rag4c.scope.gate import Change, GuardedAction, declare
from retrieval.models import Channel, Manifest, PublishedItem

if TYPE_CHECKING:
    from rag4c.kernel.grant import Actor

SHOWN: Final = 50  # documents named in a diff; the others are counted


@dataclass(frozen=True, slots=True)
class ChannelMove:
    """A channel's move to a manifest, as people approve it."""

    channel_id: uuid.UUID
    channel_rev: int
    manifest_sha256: str
    reason: str

    def payload(self) -> dict[str, object]:
        """The JSON that is hashed for approval."""
        return {"channel": str(self.channel_id), "rev": self.channel_rev, "manifest": self.manifest_sha256, "reason": self.reason}


def load_move(payload: Any) -> ChannelMove:
    return ChannelMove(uuid.UUID(payload["channel"]), int(payload["rev"]), str(payload["manifest"]), str(payload["reason"]))


def find_channel(payload: Any) -> Channel:
    """Raises: Absent("channel")."""
    channel = Channel.objects.select_related("knowledge_base", "manifest").filter(pk=uuid.UUID(payload["channel"])).first()
    if channel is None:
        raise Absent("channel", "There is no such channel.")
    return channel


def find_target(channel: Channel, payload: Any) -> Manifest:
    """Raises: Absent("manifest")."""
    manifest = Manifest.objects.defer("body").filter(knowledge_base_id=channel.knowledge_base_id, sha256=str(payload["manifest"])).first()
    if manifest is None:
        raise Absent("manifest", "There is no such manifest.")
    return manifest


def describe_move(payload: Any) -> list[Change]:
    """The manifests with their digests, then each document that comes, goes or changes."""
    channel = find_channel(payload)
    target, now = find_target(channel, payload), channel.manifest
    served = f"#{now.seq}, {now.item_count} documents, {now.sha256[:8]}" if now else "nothing"
    head = Change(f"{channel.knowledge_base} / {channel.name}", served, f"#{target.seq}, {target.item_count} documents, {target.sha256[:8]}")
    lines = [head, Change("Reason", "", str(payload["reason"])), *compare_items(now, target)]
    hidden = len(lines) - 2 - SHOWN
    return lines if hidden <= 0 else [*lines[: SHOWN + 2], Change("Further documents", "", str(hidden))]


def compare_items(now: Manifest | None, target: Manifest) -> list[Change]:
    before, after = (list_items(manifest) if manifest else {} for manifest in (now, target))
    changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    return [Change(path, say_revision(before.get(path)), say_revision(after.get(path))) for path in sorted(changed)]


def list_items(manifest: Manifest) -> dict[str, int]:
    """path -> revision number of what a manifest holds."""
    rows = PublishedItem.objects.filter(knowledge_base_id=manifest.knowledge_base_id, from_seq__lte=manifest.seq).exclude(to_seq__lte=manifest.seq)
    return dict(rows.values_list("document__path", "revision__number"))


def say_revision(number: int | None) -> str:
    return "" if number is None else f"revision {number}"


def read_channel_rev(payload: Any) -> str:
    return str(find_channel(payload).rev)


def subject_channel(payload: Any) -> tuple[str, str]:
    return "channel", str(payload["channel"])


def execute_release(actor: Actor, payload: Any) -> None:
    from retrieval.api.publication import release  # the door imports this module

    channel = find_channel(payload)
    manifest = find_target(channel, payload)
    release(actor=actor, knowledge_base_id=channel.knowledge_base_id, channel=channel.name, manifest_id=manifest.pk, reason=str(payload["reason"]))


def execute_rollback(actor: Actor, payload: Any) -> None:
    from retrieval.api.publication import rollback  # the door imports this module

    channel = find_channel(payload)
    manifest = find_target(channel, payload)
    rollback(actor=actor, knowledge_base_id=channel.knowledge_base_id, channel=channel.name, seq=manifest.seq, reason=str(payload["reason"]))


RELEASE = declare(
    GuardedAction(
        "channel.release",
        payload=lambda move: move.payload(),
        seeded="none",
        load=load_move,
        describe=describe_move,
        subject_ref=subject_channel,
        subject_rev=read_channel_rev,
        execute=execute_release,
    )
)
ROLLBACK = declare(
    GuardedAction(
        "channel.rollback",
        payload=lambda move: move.payload(),
        seeded="none",
        load=load_move,
        describe=describe_move,
        subject_ref=subject_channel,
        subject_rev=read_channel_rev,
        execute=execute_rollback,
    )
)
