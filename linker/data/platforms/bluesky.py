"""Bluesky: events of Jetstream and Tap, posts and threads of the API.

Sources: lexicons/app/bsky/feed/post.json, defs.json and getPostThread.json, embed/external.json and
unspecced/defs.json of bluesky-social/atproto; README of bluesky-social/jetstream.
"""

import re
from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from linker.data.platforms.platform import Field, Platform, Record, html_links, html_text, table

_POST = "app.bsky.feed.post"
_URI = re.compile(rf"at://(?P<author>[^/]+)/{re.escape(_POST)}/(?P<key>[^/]+)")
_WHOLE = "record.bridgyOriginalText"


class _Bluesky(Platform):
    """Posts whose record of the AT Protocol is under the key `record`."""

    # Beside the text are hashtags that are not in it, and descriptions of pictures and videos.
    below = (
        "record.tags[] record.embed.images[].alt record.embed.alt "
        "record.embed.media.images[].alt record.embed.media.alt"
    )
    links = ("record.facets[].features[].uri", html_links(_WHOLE))


def _fields(**fields: Field) -> Mapping[str, Field]:
    card = "record.embed.external.{0}|record.embed.media.external.{0}".format
    return table(
        **fields,
        # Bridgy Fed cuts posts of other networks, and keeps the whole text as HTML.
        text=(html_text(_WHOLE), "record.text"),
        created_at="record.createdAt|record.created_at",
        lang="record.langs[]",
        reply_to="record.reply.parent.uri",
        thread="record.reply.root.uri",
        quote_of="record.embed.record.record.uri|record.embed.record.uri",
        card_url=card("uri"),
        card_title=card("title"),
        card_description=card("description"),
    )


class _Events(_Bluesky):
    """Events with `did`, `collection`, `operation`, `rkey` and `record`, or the `status` of an account."""

    fields = _fields(
        id=f"at://{{did}}/{_POST}/{{rkey}}", url="https://bsky.app/profile/{did}/post/{rkey}", author="did"
    )
    left_out = (
        lambda record: None if "collection" in record else _event_name(record),
        (
            "collection",
            {
                _POST: "",
                "app.bsky.feed.like": "likes",
                "app.bsky.feed.repost": "reposts",
                "app.bsky.graph.follow": "follows",
                "app.bsky.graph.block": "blocks",
                "app.bsky.actor.profile": "profiles",
                "*": "other records",
            },
        ),
        ("operation|action", {"create": "", "delete": "deletions", "update": "edits", "*": "other records"}),
    )
    deletions = (
        ("operation=delete", str(fields["id"])),
        ("action=delete", str(fields["id"])),
        ("status=deleted", "did"),
        ("status=takendown", "did"),
    )


def _event_name(record: Record) -> str | None:
    """The name of an event without a record, as versions of Jetstream and Tap write it; None: it is none."""
    kind = record.get("kind", record.get("type", "account" if "seq" in record else None))
    return None if kind is None else f"{kind} events" if kind in ("account", "identity") else "other events"


@Platform.register("bluesky_jetstream")
class Jetstream(_Events):
    """Bluesky, events of Jetstream 1."""

    title = "Bluesky Jetstream"
    received = "time_us"
    signs = ("did + time_us + kind",)

    @override
    def opened(self, record: Record) -> Record:
        inside = record.get("commit") or record.get("account")
        return {**record, **inside} if isinstance(inside, dict) else record


@Platform.register("bluesky_jetstream_2")
class Jetstream2(_Events):
    """Bluesky, events of Jetstream 2."""

    title = "Bluesky Jetstream 2"
    received = "time"
    signs = ("did + seq + collection", "did + seq + account", "did + seq + handle", "did + seq + $type")
    envelope = "payload"


@Platform.register("bluesky_tap")
class Tap(_Events):
    """Bluesky, records of Tap."""

    title = "Bluesky Tap"
    signs = ("type + record.did + record.collection + record.action", "type=identity + identity.did")

    @override
    def opened(self, record: Record) -> Record:
        inside = record.get("record") if "type" in record else None
        inside = inside or record.get("identity")
        return {"type": record.get("type"), **inside} if isinstance(inside, dict) else record


#: Items of threads (getPostThreadV2) that are no posts.
_UNSEEN = {
    "threadItemNotFound": "posts not found",
    "threadItemBlocked": "blocked posts",
    "threadItemNoUnauthenticated": "hidden posts",
}
_REPOST = {"app.bsky.feed.defs#reasonRepost": "reposts"}


def _address(record: Record) -> str | None:
    match = _URI.fullmatch(str(record.get("uri")))
    return f"https://bsky.app/profile/{match['author']}/post/{match['key']}" if match else None


@Platform.register("bluesky_api")
class Api(_Bluesky):
    """Bluesky, posts of the API (getPosts, searchPosts, feeds, threads), also as the Python SDK names their keys."""

    title = "Bluesky API"
    received = "indexedAt|indexed_at"
    signs = (
        "post.uri + post.record",
        "uri + cid + author.did + record",
        "thread.post.uri",
        "thread.notFound",
        "thread.blocked",
        "uri + depth + value",
    )
    fields = _fields(
        id="uri",
        author="author.did",
        author_name="author.handle",
        url=_address,
        quoted_text="embed.record.value.text|embed.record.record.value.text",
    )
    context = (
        "likeCount|like_count repostCount|repost_count replyCount|reply_count quoteCount|quote_count "
        "bookmarkCount|bookmark_count"
    )
    left_out = (
        ("reason.$type", _REPOST),
        ("reason.py_type", _REPOST),
        ("notFound|not_found", "posts not found"),
        ("blocked", "blocked posts"),
        lambda record: _UNSEEN.get(str(record.get("$type", record.get("py_type"))).rpartition("#")[2]),
    )

    @override
    def opened(self, record: Record) -> Record:
        post = record.get("post")
        # The reason why a feed has a post is beside it.
        return {**post, "reason": record.get("reason")} if isinstance(post, dict) else record

    @override
    def posts_of(self, record: Record) -> list[Record]:
        thread, value = record.get("thread"), record.get("value")
        if isinstance(thread, dict):
            return [self.opened(node) for node in _nodes(thread)]
        return [self.opened(value if isinstance(value, dict) else record)]


def _nodes(thread: Record) -> list[Record]:
    """All nodes of a thread: those above it, itself, and those below it."""
    all_nodes: list[Record] = []
    waiting: list[Any] = [thread]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            all_nodes.append(node)
            replies = node.get("replies")
            waiting += [*(reversed(replies) if isinstance(replies, list) else ()), node.get("parent")]
    return all_nodes
