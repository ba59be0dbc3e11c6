"""Threads, streams, repositories and tables of records: further shapes of formats."""

from __future__ import annotations

import json
from typing import Any

from tests.data.platforms.case import DID, POST, URL, Case, indented, lines

WEB = f"https://bsky.app/profile/{DID}/post"


def _view(key: str, text: str, **record: Any) -> dict[str, Any]:
    return {
        "uri": f"{POST}/{key}",
        "cid": "bafy",
        "author": {"did": DID, "handle": "a.example"},
        "record": {
            "$type": "app.bsky.feed.post",
            "text": text,
            "createdAt": "2026-09-09T19:46:02.102Z",
            **record,
        },
        "indexedAt": "2026-09-09T19:46:03.000Z",
    }


def _node(post: dict[str, Any], **around: Any) -> dict[str, Any]:
    return {"$type": "app.bsky.feed.defs#threadViewPost", "post": post, **around}


_GONE = {"$type": "app.bsky.feed.defs#notFoundPost", "uri": f"{POST}/gone", "notFound": True}
_BLOCKED = {
    "$type": "app.bsky.feed.defs#blockedPost",
    "uri": f"{POST}/b",
    "blocked": True,
    "author": {"did": DID},
}
_THREAD = {
    "thread": _node(
        _view("2", "Dam of the thread", reply={"parent": {"uri": f"{POST}/1"}, "root": {"uri": f"{POST}/1"}}),
        parent=_node(_view("1", "root of the thread"), parent=_GONE, replies=[]),
        replies=[
            _node(_view("3", "first reply"), replies=[_node(_view("4", "reply to it"))]),
            _BLOCKED,
            _node(_view("5", "")),
        ],
    ),
    "threadgate": None,
}
_THREAD_POSTS = [
    {
        "id": f"{POST}/2",
        "text": "Dam of the thread",
        "reply_to": f"{POST}/1",
        "url": f"{WEB}/2",
        "author": DID,
    },
    {"id": f"{POST}/1", "text": "root of the thread"},
    {"id": f"{POST}/3", "text": "first reply"},
    {"id": f"{POST}/4", "text": "reply to it"},
]
_THREAD_LEFT_OUT = (
    "4 posts of 7 records in 1 {}; 1 post not found, 1 blocked post, 1 post without text left out"
)


def _item(key: str, kind: str, **value: Any) -> dict[str, Any]:
    value["$type"] = f"app.bsky.unspecced.defs#threadItem{kind}"
    return {"uri": f"{POST}/{key}", "depth": 0, "value": value}


_STATUS = {
    "id": "101",
    "created_at": "2026-10-01T10:00:00.000Z",
    "in_reply_to_id": None,
    "spoiler_text": "",
    "language": "und",
    "url": "https://m.example/@ann/101",
    "content": f'<p>Dam broke <a href="{URL}?a=1&amp;b=2">news.example</a></p>',
    "reblog": None,
    "account": {"acct": "ann", "display_name": "Ann"},
}
_STATUS_POST = {
    "id": "101",
    "text": "Dam broke news.example",
    "lang": None,
    "links": [f"{URL}?a=1&b=2"],
    "author": "ann",
}


def _event(event: str, payload: Any = None) -> dict[str, Any]:
    found = {"stream": ["public"], "event": event}
    return (
        found
        if payload is None
        else found | {"payload": payload if isinstance(payload, str) else json.dumps(payload)}
    )


def _status(id_: str, text: str, **more: Any) -> dict[str, Any]:
    return _STATUS | {"id": id_, "content": f"<p>{text}</p>"} | more


_CONTEXT = {
    "ancestors": [_status("102", "Dam above")],
    "descendants": [_status("103", "Dam below", in_reply_to_id="102"), _status("104", "", reblog=None)],
}
_CONTEXT_POSTS = [
    {"id": "102", "text": "Dam above"},
    {"id": "103", "text": "Dam below", "reply_to": "102"},
]
_GAB = {
    "id": "301",
    "type": "post",
    "content": "<p>Dam broke</p>",
    "created_at": "2026-10-01T10:00:00.000Z",
    "url": "https://gab.example/ann/posts/301",
    "reaction_count": 1,
    "account": {"id": "7", "username": "ann", "display_name": "Ann"},
}
_TWARC = (
    "id,conversation_id,referenced_tweets.replied_to.id,referenced_tweets.retweeted.id,referenced_tweets.quoted.id,"
    "author_id,created_at,text,lang,public_metrics.like_count,entities.urls,author.id,author.username,__twarc.version\n"
)
_CARD = json.dumps(
    [{"url": "https://t.co/x", "expanded_url": "https://sho.rt/x", "unwound_url": URL, "title": "The dam"}]
)


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


THREADS: dict[str, list[Case]] = {
    "bluesky_api": [
        Case(lines(_THREAD), _THREAD_POSTS, _THREAD_LEFT_OUT.format("line")),
        Case(indented(_THREAD), _THREAD_POSTS, _THREAD_LEFT_OUT.format("item"), "thread.json"),
        Case(
            indented(
                {
                    "thread": [
                        _item("1", "Post", post=_view("1", "root")),
                        _item("2", "NotFound"),
                    ],
                    "hasOtherReplies": False,
                }
            ),
            [{"id": f"{POST}/1", "text": "root", "url": f"{WEB}/1"}],
            "1 post of 2 items; 1 post not found left out",
            "thread.json",
        ),
        Case(
            lines(
                _view(
                    "1",
                    "cut…",
                    bridgyOriginalText=f'<p>Dam, not cut <a href="{URL}">news</a></p>',
                    langs=["und"],
                )
            ),
            [
                {
                    "id": f"{POST}/1",
                    "text": "Dam, not cut news",
                    "links": [URL],
                    "lang": None,
                    "url": f"{WEB}/1",
                }
            ],
            "1 post of 1 line",
        ),
    ],
    "bluesky_records": [
        Case(
            indented(
                {
                    "records": [
                        {
                            "uri": f"{POST}/1",
                            "cid": "bafy",
                            "value": {
                                "$type": "app.bsky.feed.post",
                                "text": "Dam of a repository",
                                "createdAt": "2026-09-09T19:46:02Z",
                                "embed": {
                                    "external": {"uri": URL, "title": "The dam", "description": "It broke."}
                                },
                            },
                        },
                        {
                            "uri": f"at://{DID}/app.bsky.feed.like/2",
                            "cid": "bafy",
                            "value": {"$type": "app.bsky.feed.like", "createdAt": "2026-09-09T19:46:02Z"},
                        },
                    ],
                    "cursor": "3",
                }
            ),
            [
                {
                    "id": f"{POST}/1",
                    "text": "Dam of a repository",
                    "author": DID,
                    "url": f"{WEB}/1",
                    "links": [URL],
                    "card_title": "The dam",
                }
            ],
            "1 post of 2 items; 1 like left out",
            "records.json",
        )
    ],
    "mastodon": [
        Case(lines(_CONTEXT), _CONTEXT_POSTS, "2 posts of 3 records in 1 line; 1 post without text left out"),
        Case(
            indented(_CONTEXT),
            _CONTEXT_POSTS,
            "2 posts of 3 records in 1 item; 1 post without text left out",
            "context.json",
        ),
        Case(
            lines(_CONTEXT | {"descendants": []}, {"ancestors": [], "descendants": []}, _STATUS),
            [_CONTEXT_POSTS[0], _STATUS_POST],
            "2 posts of 3 lines; 1 empty context left out",
        ),
        # As `jq .` prints one status: an object with lists of its own.
        Case(
            indented(
                _STATUS | {"tags": [{"name": "dam"}], "mentions": [], "media_attachments": [{"id": "5"}]}
            ),
            [_STATUS_POST],
            "1 post of 1 item",
            "status.json",
        ),
    ],
    "mastodon_stream": [
        Case(
            lines(
                _event("update", _STATUS),
                _event("update", _status("105", "regretted")),
                _event("update", _status("106", "", reblog=_STATUS)),
                _event("update", _status("107", "")),
                _event("status.update", _STATUS),
                _event("delete", "105"),
                _event("notification", {"id": "9", "type": "mention", "status": _STATUS}),
                _event("filters_changed"),
            ),
            [_STATUS_POST],
            "1 post of 8 lines; 1 deleted post, 1 repost, 1 post without text, 1 edit, 1 deletion, 1 notification, "
            "1 other event left out",
        )
    ],
    "gab": [
        Case(
            lines(
                _GAB | {"link": {"url": URL, "title": "The dam", "description": "It broke."}},
                _GAB | {"id": "302", "type": "user", "content": "about Ann"},
            ),
            [
                {
                    "id": "301",
                    "text": "Dam broke",
                    "author": "7",
                    "url": "https://gab.example/ann/posts/301",
                    "links": [URL],
                    "card_title": "The dam",
                    "created_at": "2026-10-01T10:00:00+00:00",
                }
            ],
            "1 post of 2 lines; 1 profile left out",
        ),
        Case(
            lines(
                {
                    "i": "303",
                    "c": "Dam broke",
                    "ca": "2026-10-01T10:00:00.000Z",
                    "ul": "https://gab.example/ann/posts/303",
                    "ai": "7",
                    "author_info": {"i": "7", "un": "ann"},
                    "link_info": {"url": URL, "title": "The dam"},
                }
            ),
            [{"id": "303", "text": "Dam broke", "author": "7", "links": [URL], "card_title": "The dam"}],
            "1 post of 1 line",
        ),
    ],
    "x_twarc_csv": [
        Case(
            _TWARC
            + f"601,600,600,,590,7,2023-01-02T03:04:05.000Z,Dam &amp; river\\nbroke,en,1,{_cell(_CARD)},7,ann,2\n"
            + f'602,602,,601,,8,2023-01-02T03:04:05.000Z,Dam &amp; river,en,1,"[""{URL}""]",8,bob,2\n'
            + f'603,603,,,,9,2023-01-02T03:04:05.000Z,Dam,qme,1,"[""{URL}?2""]",9,cy,2\n',
            [
                {
                    "id": "601",
                    "text": "Dam & river\nbroke",
                    "author": "7",
                    "reply_to": "600",
                    "quote_of": "590",
                    "thread": "600",
                    "links": [URL],
                    "card_title": "The dam",
                    "lang": "en",
                    "url": "https://x.com/i/status/601",
                },
                {"id": "603", "text": "Dam", "links": [f"{URL}?2"], "lang": None},
            ],
            "2 posts of 3 rows; 1 repost left out",
            "tweets.csv",
        )
    ],
    "x": [
        # As pandas writes normalized tweets.
        Case(
            "id,text,author_id,edit_history_tweet_ids,referenced_tweets,entities.urls,author.username\n"
            f"604,Dam,7,['604'],\"[{{'type': 'replied_to', 'id': '600'}}]\",\"[{{'expanded_url': '{URL}'}}]\",ann\n"
            "605,RT @ann: Dam,8,['605'],\"[{'type': 'retweeted', 'id': '604'}]\",,bob\n",
            [{"id": "604", "text": "Dam", "author": "7", "reply_to": "600", "links": [URL]}],
            "1 post of 2 rows; 1 repost left out",
            "tweets.csv",
        )
    ],
    "x_graphql": [
        Case(
            lines(
                {
                    "id": 701,
                    "type": "adaptive",
                    "legacy": {
                        "id_str": "701",
                        "full_text": "Dam",
                        "created_at": "Wed Oct 10 20:19:24 +0000 2018",
                        "lang": "zxx",
                        "user_id_str": "7",
                        "entities": {"urls": [{"expanded_url": URL}]},
                    },
                    "user": {"id_str": "7", "screen_name": "ann"},
                }
            ),
            [{"id": "701", "text": "Dam", "author": "7", "lang": None, "links": [URL]}],
            "1 post of 1 line",
        )
    ],
    "crowdtangle": [
        Case(
            "\ufeffAccount,User Name,Followers at Posting,Post Created,Type,URL,Link,Photo,Title,Description,"
            "Image Text\n"
            "News,news,9,2021-05-01 12:00:00 EDT,Photo,https://insta.example/p/1,https://insta.example/p/1,,,"
            "Dam of the caption,words in the picture\n",
            [
                {
                    "id": "https://insta.example/p/1",
                    "text": "Dam of the caption",
                    "author": "news",
                    "card_description": None,
                }
            ],
            "1 post of 1 row",
            "posts.csv",
        )
    ],
    "fourcat": [
        # Threads: no thread_id, and `url` is that of the post.
        Case(
            "id,url,body,timestamp,author,link_url,likes,unix_timestamp\n"
            f"Cabc,https://www.threads.net/@ann/post/Cabc,Dam,2026-01-01 00:00:01,ann,{URL},1,1767225601\n",
            [
                {
                    "id": "Cabc",
                    "text": "Dam",
                    "author": "ann",
                    "links": [URL],
                    "url": "https://www.threads.net/@ann/post/Cabc",
                }
            ],
            "1 post of 1 row",
            "threads.csv",
        ),
        # Gab and Truth Social: no author, no unix_timestamp.
        Case(
            "id,created_at,body,url,account_id,account_username,thread_id,timestamp\n"
            "9,2026-01-01T00:00:01.000Z,Dam,https://truth.example/@ann/9,7,ann,9,2026-01-01 00:00:01\n",
            [{"id": "9", "text": "Dam", "author": "7", "links": None, "url": "https://truth.example/@ann/9"}],
            "1 post of 1 row",
            "truth.csv",
        ),
    ],
}
