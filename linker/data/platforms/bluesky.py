"""Bluesky: events of Jetstream, posts and threads of the API, records of repositories and of Tap.

Sources: lexicons/app/bsky/feed/post.json, defs.json and getPostThread.json, embed/external.json and
unspecced/defs.json of bluesky-social/atproto; README of bluesky-social/jetstream.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from typing_extensions import override

from linker.data.platforms.clocks import began, of_tid
from linker.data.platforms.platform import (
    Platform,
    Record,
    first,
    html_links,
    html_text,
    only,
    table,
    where,
    without,
)

_POST = "app.bsky.feed.post"
_URI = re.compile(rf"at://(?P<author>[^/]+)/{re.escape(_POST)}/(?P<key>[^/]+)")
_LEFT_OUT = {
    "app_bsky_feed_like": "likes",
    "app_bsky_feed_repost": "reposts",
    "app_bsky_graph_follow": "follows",
    "app_bsky_graph_block": "blocks",
    "app_bsky_actor_profile": "profiles",
}


def _of_record(path: str, **fields: Any) -> tuple[Mapping[str, Any], str, tuple[Any, ...]]:
    """Return fields, texts beside the text, and links, of posts whose record is at a path.

    Beside the text are hashtags that are not in it, and descriptions of pictures and videos.
    """
    whole, embed = f"{path}.bridgyOriginalText", f"{path}.embed"
    card = f"{embed}.external.{{0}}|{embed}.media.external.{{0}}".format
    beside = ("images[].alt", "alt", "media.images[].alt", "media.alt")
    return (
        table(
            **fields,
            # Bridgy Fed cuts posts of other networks, and keeps the whole text as HTML.
            text=first(html_text(whole), f"{path}.text"),
            lang=f"{path}.langs[]",
            reply_to=f"{path}.reply.parent.uri",
            thread=f"{path}.reply.root.uri",
            quote_of=f"{embed}.record.record.uri|{embed}.record.uri",
            card_url=card("uri"),
            card_title=card("title"),
            card_description=card("description"),
        ),
        " ".join([f"{path}.tags[]", *(f"{embed}.{name}" for name in beside)]),
        (f"{path}.facets[].features[].uri", html_links(whole)),
    )


def _from_uri(template: str) -> Callable[[Record], str | None]:
    """A text with author and key of a post, from its at:// address."""

    def filled(record: Record) -> str | None:
        match = _URI.fullmatch(str(record.get("uri")))
        return template.format(**match.groupdict()) if match else None

    return filled


_WEB = _from_uri("https://bsky.app/profile/{author}/post/{key}")


class _Bluesky(Platform):
    # People bring their posts on X, whose times stay what they were.
    since = began(2006, 3, 21)


@Platform.register("bluesky_jetstream")
class Jetstream(_Bluesky):
    """Bluesky, events of Jetstream 1."""

    title = "Bluesky Jetstream"
    received = "time_us"
    numbered = (of_tid("commit.rkey"),)
    signs = ("did + time_us + kind",)
    fields, below, links = _of_record(
        "commit.record",
        id=f"at://{{did}}/{_POST}/{{commit.rkey}}",
        url="https://bsky.app/profile/{did}/post/{commit.rkey}",
        author="did",
        created_at="commit.record.createdAt",
    )
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
class Jetstream2(_Bluesky):
    """Bluesky, events of Jetstream 2."""

    title = "Bluesky Jetstream 2"
    received = "time"
    numbered = (of_tid("rkey"),)
    signs = ("did + seq + collection", "did + seq + account", "did + seq + handle", "did + seq + $type")
    envelope = "payload"
    fields, below, links = _of_record(
        "record",
        id=f"at://{{did}}/{_POST}/{{rkey}}",
        url="https://bsky.app/profile/{did}/post/{rkey}",
        author="did",
        created_at="record.createdAt",
    )
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


#: Items of threads (getPostThreadV2) that are no posts.
_UNSEEN = {
    "threadItemNotFound": "posts not found",
    "threadItemBlocked": "blocked posts",
    "threadItemNoUnauthenticated": "hidden posts",
}


@Platform.register("bluesky_api")
class Api(_Bluesky):
    """Bluesky, posts of the API (getPosts, searchPosts, feeds, threads), also as the Python SDK names their keys."""

    title = "Bluesky API"
    received = "indexedAt|indexed_at"
    numbered = (of_tid("uri"),)
    signs = (
        "post.uri + post.record",
        "uri + cid + author.did + record",
        "thread.post.uri",
        "thread.notFound",
        "thread.blocked",
        "uri + depth + value",
    )
    fields, below, links = _of_record(
        "record",
        id="uri",
        author="author.did",
        author_name="author.handle",
        created_at="record.createdAt|record.created_at",
        url=_WEB,
        quoted_text="embed.record.value.text|embed.record.record.value.text",
    )
    context = (
        "likeCount|like_count repostCount|repost_count replyCount|reply_count quoteCount|quote_count "
        "bookmarkCount|bookmark_count"
    )
    left_out = (
        *(
            without(kind, "reposts", "app.bsky.feed.defs#reasonRepost")
            for kind in ("reason.$type", "reason.py_type")
        ),
        *(without(key, "posts not found") for key in ("notFound", "not_found")),
        without("blocked", "blocked posts"),
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


@Platform.register("bluesky_tap")
class Tap(_Bluesky):
    """Bluesky, records of Tap."""

    title = "Bluesky Tap"
    numbered = (of_tid("record.rkey"),)
    signs = ("type + record.did + record.collection + record.action", "type=identity + identity.did")
    fields, below, links = _of_record(
        "record.record",
        id=f"at://{{record.did}}/{_POST}/{{record.rkey}}",
        url="https://bsky.app/profile/{record.did}/post/{record.rkey}",
        author="record.did",
        created_at="record.record.createdAt",
    )
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
