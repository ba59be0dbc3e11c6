"""Bluesky: events of Jetstream, records of the API, of Tap and of the Python SDK.

Sources: lexicons/app/bsky/feed/post.json and embed/external.json of bluesky-social/atproto, README of
bluesky-social/jetstream.
"""

from __future__ import annotations

from typing import Any

from linker.data.platforms.platform import Platform, only, table, under, where, without

_POST = "app.bsky.feed.post"
_LEFT_OUT = {
    "app_bsky_feed_like": "likes",
    "app_bsky_feed_repost": "reposts",
    "app_bsky_graph_follow": "follows",
    "app_bsky_graph_block": "blocks",
    "app_bsky_actor_profile": "profiles",
}
_RECORD: dict[str, Any] = {
    "text": "text",
    "lang": "langs[]",
    "reply_to": "reply.parent.uri",
    "thread": "reply.root.uri",
    "quote_of": "embed.record.record.uri|embed.record.uri",
    "card_url": "embed.external.uri|embed.media.external.uri",
    "card_title": "embed.external.title|embed.media.external.title",
    "card_description": "embed.external.description|embed.media.external.description",
}
_FACETS = "facets[].features[].uri"


@Platform.register("bluesky_jetstream")
class Jetstream(Platform):
    """Bluesky, events of Jetstream 1."""

    title = "Bluesky Jetstream"
    signs = ("did + time_us + kind",)
    fields = table(
        id=f"at://{{did}}/{_POST}/{{commit.rkey}}",
        url="https://bsky.app/profile/{did}/post/{commit.rkey}",
        author="did",
        created_at="commit.record.createdAt|time_us",
        **under("commit.record", _RECORD),
    )
    links = (f"commit.record.{_FACETS}",)
    left_out = (
        only("kind", "commit", identity="identity events", account="account events", other="other events"),
        only("commit.collection", _POST, **_LEFT_OUT),
        only("commit.operation", "create", delete="deletions", update="edits"),
    )
    deletions = (
        where("commit.operation", "delete", fields["id"]),
        where("account.status", "deleted", "did"),
        where("account.status", "takendown", "did"),
    )


@Platform.register("bluesky_jetstream_2")
class Jetstream2(Platform):
    """Bluesky, events of Jetstream 2."""

    title = "Bluesky Jetstream 2"
    signs = ("did + seq + collection", "did + seq + account", "did + seq + handle", "did + seq + $type")
    envelope = "payload"
    fields = table(
        id=f"at://{{did}}/{_POST}/{{rkey}}",
        url="https://bsky.app/profile/{did}/post/{rkey}",
        author="did",
        created_at="record.createdAt|time",
        **under("record", _RECORD),
    )
    links = (f"record.{_FACETS}",)
    left_out = (
        lambda record: None if "collection" in record else "account events",
        only("collection", _POST, **_LEFT_OUT),
        only("operation", "create", delete="deletions", update="edits"),
    )
    deletions = (
        where("operation", "delete", fields["id"]),
        where("status", "deleted", "did"),
        where("status", "takendown", "did"),
    )


@Platform.register("bluesky_api")
class Api(Platform):
    """Bluesky, posts of the API (getPosts, searchPosts, feeds), also as the Python SDK names their keys."""

    title = "Bluesky API"
    signs = ("post.uri + post.record", "uri + cid + author.did + record")
    fields = table(
        id="post.uri|uri",
        author="post.author.did|author.did",
        author_name="post.author.handle|author.handle",
        created_at="post.record.createdAt|record.createdAt|post.record.created_at|record.created_at"
        "|post.indexedAt|indexedAt|indexed_at",
        **{
            name: "|".join(f"{at}.{path}" for at in ("post.record", "record") for path in paths.split("|"))
            for name, paths in _RECORD.items()
        },
    )
    links = (f"post.record.{_FACETS}", f"record.{_FACETS}")
    left_out = tuple(
        without(kind, "reposts", "app.bsky.feed.defs#reasonRepost")
        for kind in ("reason.$type", "reason.py_type")
    )


@Platform.register("bluesky_tap")
class Tap(Platform):
    """Bluesky, records of Tap."""

    title = "Bluesky Tap"
    signs = ("type + record.did + record.collection + record.action", "type=identity + identity.did")
    fields = table(
        id=f"at://{{record.did}}/{_POST}/{{record.rkey}}",
        url="https://bsky.app/profile/{record.did}/post/{record.rkey}",
        author="record.did",
        created_at="record.record.createdAt",
        **under("record.record", _RECORD),
    )
    links = (f"record.record.{_FACETS}",)
    left_out = (
        only("type", "record", identity="identity events", other="other events"),
        only("record.collection", _POST, **_LEFT_OUT),
        only("record.action", "create", delete="deletions", update="edits"),
    )
    deletions = (
        where("record.action", "delete", fields["id"]),
        where("identity.status", "deleted", "identity.did"),
        where("identity.status", "takendown", "identity.did"),
    )
