"""Records of every format, written by the documented schemas, and the posts that they are."""

from __future__ import annotations

from typing import Any

from tests.data.platforms.case import DID, POST, URL, Case, indented, lines
from tests.data.platforms.odd_exports import ODD_EXPORTS
from tests.data.platforms.threads import THREADS

BLUESKY_RECORD: dict[str, Any] = {
    "$type": "app.bsky.feed.post",
    "text": "Dam broke news.example/d… </p> &amp;",
    "createdAt": "2026-09-09T19:46:02.102Z",
    "langs": ["en", "de"],
    "reply": {"parent": {"uri": f"{POST}/p"}, "root": {"uri": f"{POST}/r"}},
    "facets": [
        {
            "index": {"byteStart": 10, "byteEnd": 20},
            "features": [{"$type": "app.bsky.richtext.facet#link", "uri": URL}],
        },
        {
            "index": {"byteStart": 0, "byteEnd": 3},
            "features": [{"$type": "app.bsky.richtext.facet#mention", "did": DID}],
        },
    ],
    "embed": {
        "$type": "app.bsky.embed.external",
        "external": {"uri": f"{URL}?card", "title": "The dam", "description": "It broke."},
    },
}
BLUESKY_POST = {
    "id": f"{POST}/1",
    "text": "Dam broke news.example/d… </p> &amp;",
    "lang": "en",
    "author": DID,
    "reply_to": f"{POST}/p",
    "thread": f"{POST}/r",
    "links": [f"{URL}?card", URL],
    "card_url": f"{URL}?card",
    "card_title": "The dam",
    "card_description": "It broke.",
}
QUOTE: dict[str, Any] = {
    "text": "look",
    "createdAt": "2026-09-09T19:46:02Z",
    "embed": {"$type": "app.bsky.embed.recordWithMedia", "record": {"record": {"uri": f"{POST}/q"}}},
}


def _jetstream(
    rkey: str, operation: str = "create", collection: str = "app.bsky.feed.post", **record: Any
) -> Any:
    commit: dict[str, Any] = {
        "rev": "3",
        "operation": operation,
        "collection": collection,
        "rkey": rkey,
        "cid": "bafy",
    }
    if operation != "delete":
        commit["record"] = record
    return {"did": DID, "time_us": 1788990362329308, "kind": "commit", "commit": commit}


def _jetstream_2(
    rkey: str, operation: str = "create", collection: str = "app.bsky.feed.post", **record: Any
) -> Any:
    payload = {"$type": "x#commit", "seq": 1, "did": DID, "time": "2026-09-09T19:46:03Z", "rev": "3"}
    payload |= {"operation": operation, "collection": collection, "rkey": rkey}
    return {"$type": "message", "payload": payload | ({} if operation == "delete" else {"record": record})}


def _tap(rkey: str, action: str = "create", collection: str = "app.bsky.feed.post", **record: Any) -> Any:
    return {
        "id": 1,
        "type": "record",
        "record": {"did": DID, "collection": collection, "rkey": rkey, "action": action, "record": record},
    }


_API = {
    "uri": f"{POST}/1",
    "cid": "bafy",
    "author": {"did": DID, "handle": "a.example"},
    "record": BLUESKY_RECORD,
}
_HTML = (
    f'<p>Dam &lt;3 broke <a href="https://m.example/tags/dam" class="mention hashtag">#<span>dam</span></a> '
    f'<a href="{URL}?a=1&amp;b=2" rel="nofollow"><span class="invisible">https://</span>'
    '<span class="ellipsis">news.example/d</span><span class="invisible">am?a=1&amp;b=2</span></a></p>'
)
_STATUS = {
    "id": "11",
    "created_at": "2026-10-01T10:00:00.000Z",
    "in_reply_to_id": "10",
    "spoiler_text": "",
    "language": "en",
    "url": "https://m.example/@ann/11",
    "content": _HTML,
    "reblog": None,
    "account": {"acct": "ann@m.example", "display_name": "Ann"},
    "quote": {"state": "accepted", "quoted_status": {"id": "9"}},
    "card": {"url": f"{URL}?card", "title": "The dam", "description": "It broke."},
}
_STATUS_POST = {
    "id": "11",
    "text": "Dam <3 broke #dam news.example/d…",
    "lang": "en",
    "author": "ann@m.example",
    "reply_to": "10",
    "quote_of": "9",
    "url": "https://m.example/@ann/11",
    "links": [f"{URL}?card", f"{URL}?a=1&b=2"],
    "card_title": "The dam",
}
_BOOST = {
    "id": "12",
    "created_at": "2026-10-01T10:00:00.000Z",
    "in_reply_to_id": None,
    "content": "",
    "reblog": _STATUS,
}
_IMAGE = {"id": "13", "created_at": "2026-10-01T10:00:00.000Z", "in_reply_to_id": None, "content": "<p></p>"}

_MESSAGE = {
    "id": 2,
    "type": "message",
    "date": "2026-01-01T01:00:00",
    "date_unixtime": "1767225601",
    "from": "News",
    "from_id": "channel1",
    "reply_to_message_id": 1,
    "text": [
        "Dam broke ",
        {"type": "link", "text": URL},
        " ",
        {"type": "text_link", "text": "map", "href": f"{URL}?map"},
    ],
}
_ENTITIES = [
    {"type": "plain", "text": "Dam broke "},
    {"type": "link", "text": URL},
    {"type": "plain", "text": " "},
    {"type": "text_link", "text": "map", "href": f"{URL}?map"},
]
_SERVICE = {
    "id": 1,
    "type": "service",
    "date": "2026-01-01T00:00:00",
    "actor": "N",
    "action": "pin",
    "text": "",
}
_PHOTO = {"id": 3, "type": "message", "date": "2026-01-01T00:00:00", "photo": "a.jpg", "text": ""}


def _message(chat: int) -> dict[str, Any]:
    return {
        "id": f"{chat}/2",
        "text": f"Dam broke {URL} map",
        "author": "channel1",
        "reply_to": f"{chat}/1",
        "links": [f"{URL}?map", URL],
        "created_at": "2026-01-01T00:00:01+00:00",
    }


_V2 = {
    "id": "1001",
    "text": "Dam &amp; river https://t.co/x",
    "created_at": "2023-01-02T03:04:05.000Z",
    "lang": "en",
    "author_id": "7",
    "conversation_id": "1000",
    "edit_history_tweet_ids": ["1001"],
    "referenced_tweets": [{"type": "quoted", "id": "900"}, {"type": "replied_to", "id": "1000"}],
    "entities": {
        "urls": [
            {
                "url": "https://t.co/x",
                "expanded_url": "https://sho.rt/x",
                "unwound_url": URL,
                "title": "The dam",
                "description": "It broke.",
            }
        ]
    },
}
_V2_POST = {
    "id": "1001",
    "text": "Dam & river https://t.co/x",
    "lang": "en",
    "author": "7",
    "reply_to": "1000",
    "quote_of": "900",
    "thread": "1000",
    "links": [URL],
    "card_url": URL,
    "card_title": "The dam",
    "card_description": "It broke.",
    "url": "https://x.com/i/status/1001",
    "created_at": "2023-01-02T03:04:05+00:00",
}
_V2_LONG = {
    "id": "1002",
    "text": "cut",
    "edit_history_tweet_ids": ["1002"],
    "note_tweet": {"text": "a long tweet"},
}
_V2_RETWEET = {
    "id": "1003",
    "text": "RT @a: Dam…",
    "edit_history_tweet_ids": ["1003"],
    "referenced_tweets": [{"type": "retweeted", "id": "1"}],
}
_V1 = {
    "id": 2001,
    "id_str": "2001",
    "full_text": "Dam &gt; river",
    "created_at": "Wed Oct 10 20:19:24 +0000 2018",
    "lang": "en",
    "user": {"id_str": "7", "screen_name": "ann"},
    "in_reply_to_status_id_str": "2000",
    "quoted_status_id_str": "1900",
    "entities": {"urls": [{"url": "https://t.co/x", "expanded_url": URL}]},
}
_V1_POST = {
    "id": "2001",
    "text": "Dam > river",
    "lang": "en",
    "author": "7",
    "reply_to": "2000",
    "quote_of": "1900",
    "links": [URL],
    "created_at": "2018-10-10T20:19:24+00:00",
}
_V1_CUT = {
    "id_str": "2002",
    "text": "cut…",
    "user": {"id_str": "8"},
    "extended_tweet": {"full_text": "not cut", "entities": {"urls": [{"expanded_url": URL}]}},
}
_V1_RETWEET = {
    "id_str": "2003",
    "text": "RT @ann: Dam",
    "user": {"id_str": "9"},
    "retweeted_status": {"id_str": "2001"},
}
_ARCHIVED = {name: value for name, value in _V1.items() if name != "user"}
_ARCHIVED_POST = {name: value for name, value in _V1_POST.items() if name != "author"}
_GRAPHQL = {
    "rest_id": "3001",
    "core": {"user_results": {"result": {"rest_id": "7", "core": {"screen_name": "ann"}}}},
    "legacy": {
        "full_text": "cut",
        "created_at": "Wed Oct 10 20:19:24 +0000 2018",
        "lang": "en",
        "conversation_id_str": "3000",
        "in_reply_to_status_id_str": "3000",
        "quoted_status_id_str": "2900",
        "entities": {"urls": [{"expanded_url": URL}]},
    },
    "note_tweet": {"note_tweet_results": {"result": {"text": "a long tweet"}}},
}
_GRAPHQL_POST = {
    "id": "3001",
    "text": "a long tweet",
    "lang": "en",
    "author": "7",
    "reply_to": "3000",
    "thread": "3000",
    "quote_of": "2900",
    "links": [URL],
}
_GRAPHQL_RETWEET = {
    "rest_id": "3002",
    "legacy": {"full_text": "RT", "retweeted_status_result": {"result": {"legacy": {}}}},
}
_TOMBSTONE = {"__typename": "TweetTombstone", "tombstone": {"text": {}}}
_SUBMISSION = {
    "id": "abc",
    "name": "t3_abc",
    "title": "Dam &amp; river",
    "selftext": "",
    "subreddit": "news",
    "author": "ann",
    "created_utc": 1767225601,
    "url": URL,
    "is_self": False,
    "permalink": "/r/news/comments/abc/dam/",
}
_COMMENT = {
    "id": "def",
    "body": "it *broke* &gt; bad",
    "link_id": "t3_abc",
    "parent_id": "t1_ddd",
    "subreddit": "news",
    "author": "[deleted]",
    "created_utc": "1767225601",
}
_YOUTUBE = {
    "textDisplay": f'see <a href="{URL}">news</a> &amp; more',
    "authorDisplayName": "@ann",
    "authorChannelId": {"value": "UC1"},
    "publishedAt": "2026-01-01T00:00:01Z",
    "videoId": "v1",
}
_THREADS = {
    "pk": "51",
    "code": "Cabc",
    "caption": {"text": "Dam"},
    "taken_at": 1767225601,
    "user": {"pk": "7", "username": "ann"},
    "text_post_app_info": {
        "link_preview_attachment": {
            "url": "https://l.threads.com/?u=https%3A%2F%2Fnews.example%2Fdam&e=x",
            "title": "The dam",
        }
    },
}
_THREADS_POST = {"id": "51", "text": "Dam", "author": "7", "links": [URL], "card_title": "The dam"}
_LINKEDIN: dict[str, Any] = {
    "actor": {
        "name": {"text": "Ann"},
        "navigationContext": {"actionTarget": "https://www.linkedin.com/in/ann?miniProfileUrn=x"},
        "subDescription": {"text": "3w • "},
    },
    "commentary": {"text": {"text": "Dam"}},
    "content": {
        "articleComponent": {"navigationContext": {"actionTarget": URL}, "title": {"text": "The dam"}}
    },
    "updateMetadata": {"urn": "urn:li:activity:7412281406870519808"},
    "*socialDetail": {"*totalSocialActivityCounts": {"numLikes": 3}},
}
_LINKEDIN_POST = {
    "id": "7412281406870519808",
    "text": "Dam",
    "author": "in/ann",
    "card_title": "The dam",
    "created_at": "2026-01-01T00:00:00.927000+00:00",
    "links": [URL],
    "url": "https://www.linkedin.com/feed/update/urn:li:activity:7412281406870519808",
}
_INSTAGRAM = {
    "code": "Iabc",
    "pk": "61",
    "caption": {"text": "Dam"},
    "taken_at": 1767225601,
    "user": {"pk": "7"},
}
_TIKTOK = {"id": "71", "desc": "Dam #dam", "createTime": 1767225601, "author": {"id": "7", "uniqueId": "ann"}}


def _captured(platform: str, data: Any) -> Any:
    return {
        "nav_index": "1",
        "item_id": "9",
        "timestamp_collected": 1,
        "source_platform": platform,
        "source_url": "",
        "data": data,
    }


CASES: dict[str, list[Case]] = {
    "bluesky_jetstream": [
        Case(
            lines(
                _jetstream("0", **{**BLUESKY_RECORD, "text": "regretted"}),
                _jetstream("1", **BLUESKY_RECORD),
                _jetstream("1", **BLUESKY_RECORD),
                _jetstream("2", **QUOTE),
                _jetstream("3", collection="app.bsky.feed.like"),
                _jetstream("4", collection="app.bsky.feed.like"),
                _jetstream("5", collection="app.bsky.feed.repost"),
                _jetstream("6", collection="site.standard.document"),
                _jetstream("0", "delete"),
                _jetstream("1", "update", **BLUESKY_RECORD),
                _jetstream("7", text=" \x00", createdAt="x"),
                {"did": DID, "time_us": 1, "kind": "identity", "identity": {}},
                {
                    "did": "did:plc:b",
                    "time_us": 1,
                    "kind": "account",
                    "account": {"active": False, "status": "deactivated"},
                },
            ),
            [BLUESKY_POST, {"id": f"{POST}/2", "text": "look", "quote_of": f"{POST}/q"}],
            "2 posts of 13 lines; 2 likes, 1 deleted post, 1 duplicate, 1 repost, 1 other record, 1 deletion, 1 edit, "
            "1 post without text, 1 identity event, 1 account event left out",
        ),
        Case(
            lines(
                _jetstream("1", **BLUESKY_RECORD),
                {
                    "did": DID,
                    "time_us": 1,
                    "kind": "account",
                    "account": {"active": False, "did": DID, "status": "deleted"},
                },
                {**_jetstream("2", **QUOTE), "did": "did:plc:b"},
            ),
            [{"id": "at://did:plc:b/app.bsky.feed.post/2", "text": "look"}],
            "1 post of 3 lines; 1 deleted post, 1 account event left out",
        ),
    ],
    "bluesky_jetstream_2": [
        Case(
            lines(
                _jetstream_2("1", **BLUESKY_RECORD),
                _jetstream_2("2", collection="app.bsky.feed.like"),
                _jetstream_2("3", **BLUESKY_RECORD),
                _jetstream_2("3", "delete"),
            ),
            [BLUESKY_POST],
            "1 post of 4 lines; 1 like, 1 deleted post, 1 deletion left out",
        )
    ],
    "bluesky_api": [
        Case(lines(_API), [BLUESKY_POST], "1 post of 1 line"),
        Case(
            lines(
                {
                    **_API,
                    "record": {
                        "py_type": "app.bsky.feed.post",
                        "text": "Dam",
                        "created_at": "2026-09-09T19:46:02Z",
                    },
                }
            ),
            [{"id": f"{POST}/1", "text": "Dam", "created_at": "2026-09-09T19:46:02+00:00"}],
            "1 post of 1 line",
        ),
        Case(indented({"cursor": "x", "posts": [_API]}), [BLUESKY_POST], "1 post of 1 item", "posts.json"),
        Case(
            indented(
                {
                    "feed": [
                        {"post": _API},
                        {"post": _API, "reason": {"$type": "app.bsky.feed.defs#reasonRepost"}},
                    ]
                }
            ),
            [BLUESKY_POST],
            "1 post of 2 items; 1 repost left out",
            "feed.json",
        ),
    ],
    "bluesky_tap": [
        Case(
            lines(
                _tap("1", **BLUESKY_RECORD),
                _tap("2", **BLUESKY_RECORD),
                _tap("2", "delete"),
                _tap("3", collection="app.bsky.graph.follow"),
            ),
            [BLUESKY_POST],
            "1 post of 4 lines; 1 deleted post, 1 deletion, 1 follow left out",
        )
    ],
    "mastodon": [
        Case(
            lines(_STATUS, _BOOST, _IMAGE),
            [_STATUS_POST],
            "1 post of 3 lines; 1 repost, 1 post without text left out",
        ),
        Case(
            indented([_STATUS, _BOOST]), [_STATUS_POST], "1 post of 2 items; 1 repost left out", "posts.json"
        ),
        Case(
            indented({"accounts": [{"id": "1"}], "statuses": [_STATUS], "hashtags": [{"name": "dam"}]}),
            [_STATUS_POST],
            "1 post of 1 item",
            "search.json",
        ),
    ],
    "mastodon_archive": [
        Case(
            indented(
                {
                    "@context": "https://www.w3.org/ns/activitystreams",
                    "type": "OrderedCollection",
                    "orderedItems": [
                        {
                            "type": "Create",
                            "actor": "https://m.example/users/ann",
                            "published": "2026-01-01T00:00:01Z",
                            "object": {
                                "id": "https://m.example/11",
                                "content": _HTML,
                                "published": "2026-01-01T00:00:01Z",
                            },
                        },
                        {
                            "type": "Announce",
                            "actor": "https://m.example/users/ann",
                            "object": "https://m.example/1",
                        },
                    ],
                }
            ),
            [{"id": "https://m.example/11", "text": _STATUS_POST["text"], "links": [f"{URL}?a=1&b=2"]}],
            "1 post of 2 items; 1 repost left out",
            "outbox.json",
        )
    ],
    "gab": [
        Case(
            lines(
                {
                    "i": "81",
                    "c": "<p>Dam</p>",
                    "ca": "2026-01-01T00:00:01Z",
                    "ul": "https://g.example/81",
                    "card": {"url": URL},
                }
            ),
            [{"id": "81", "text": "Dam", "links": [URL], "url": "https://g.example/81"}],
            "1 post of 1 line",
        )
    ],
    "telegram_desktop": [
        Case(
            indented(
                {
                    "name": "N",
                    "type": "public_channel",
                    "id": 77,
                    "messages": [_SERVICE, {**_MESSAGE, "text_entities": _ENTITIES}, _PHOTO],
                }
            ),
            [_message(77)],
            "1 post of 3 items; 1 service message, 1 post without text left out",
            "result.json",
        ),
        Case(
            indented(
                {
                    "about": "x",
                    "contacts": {"about": "", "list": [{"user_id": 1}]},
                    "chats": {
                        "about": "x",
                        "list": [
                            {
                                "name": "N",
                                "type": "public_channel",
                                "id": 77,
                                "messages": [_SERVICE, _MESSAGE],
                            },
                            {"type": "saved_messages", "id": 5, "messages": []},
                            {"name": None, "type": "private_group", "id": 78, "messages": [_MESSAGE]},
                        ],
                    },
                    "left_chats": {"about": "", "list": [{"id": 9, "messages": [_MESSAGE]}]},
                }
            ),
            [_message(77), _message(78), _message(9)],
            "3 posts of 4 items; 1 service message left out",
            "result.json",
        ),
    ],
    "telegram": [
        Case(
            lines(
                {
                    "id": 5,
                    "date": 1767225601,
                    "message": "Dam",
                    "_chat": {"username": "news"},
                    "_sender": {"id": 7, "username": "ann"},
                    "reply_to": {"reply_to_msg_id": 4},
                    "fwd_from": None,
                    "media": {"webpage": {"url": URL, "title": "The dam", "description": "It broke."}},
                },
                {"id": 6, "date": 1767225601, "message": "", "_chat": {"username": "news"}},
            ),
            [
                {
                    "id": "news/5",
                    "text": "Dam",
                    "author": "7",
                    "reply_to": "news/4",
                    "url": "https://t.me/news/5",
                    "card_title": "The dam",
                    "links": [URL],
                }
            ],
            "1 post of 2 lines; 1 post without text left out",
        )
    ],
    "telegram_minet": [
        Case(
            "link_to_message,text,datetime,links,link,link_title,link_description,user\n"
            f"https://t.me/n/1,Dam,2026-01-01T00:00:01,{URL}|{URL}?2,{URL},The dam,It broke.,n\n",
            [{"id": "https://t.me/n/1", "text": "Dam", "links": [URL, f"{URL}?2"], "card_title": "The dam"}],
            "1 post of 1 row",
            "posts.csv",
        )
    ],
    "x": [
        Case(
            lines(_V2, _V2_LONG, _V2_RETWEET),
            [_V2_POST, {"id": "1002", "text": "a long tweet"}],
            "2 posts of 3 lines; 1 repost left out",
        ),
        Case(
            lines(
                {
                    "data": [_V2, _V2_RETWEET],
                    "includes": {"users": [{"id": "7"}], "tweets": [{"id": "900"}]},
                    "errors": [{"title": "gone"}],
                },
                {"data": [_V2_LONG], "meta": {"result_count": 1}},
            ),
            [_V2_POST, {"id": "1002", "text": "a long tweet"}],
            "2 posts of 3 items; 1 repost left out",
        ),
        Case(
            lines({"data": _V2, "includes": {"users": []}, "matching_rules": [{"id": "1", "tag": "dam"}]}),
            [_V2_POST],
            "1 post of 1 line",
        ),
    ],
    "x_1": [
        Case(
            lines(
                _V1,
                _V1_CUT,
                _V1_RETWEET,
                {**_V1, "id_str": "2004"},
                {"delete": {"status": {"id_str": "2004", "user_id_str": "7"}}},
                {"limit": {"track": 3}},
            ),
            [_V1_POST, {"id": "2002", "text": "not cut", "links": [URL]}],
            "2 posts of 6 lines; 1 repost, 1 deleted post, 1 deletion, 1 notice left out",
        )
    ],
    "twitter_archive": [
        Case(
            "window.YTD.tweets.part0 = "
            + indented([{"tweet": _ARCHIVED}, {"tweet": {"id_str": "2", "full_text": "RT @ann: Dam"}}]),
            [_ARCHIVED_POST],
            "1 post of 2 items; 1 repost left out",
            "tweets.js",
        )
    ],
    "x_graphql": [
        Case(
            lines(_GRAPHQL, {"tweet": _GRAPHQL | {"rest_id": "3003"}}, _GRAPHQL_RETWEET, _TOMBSTONE),
            [_GRAPHQL_POST, _GRAPHQL_POST | {"id": "3003"}],
            "2 posts of 4 lines; 1 repost, 1 tombstone left out",
        )
    ],
    "reddit_submissions": [
        Case(
            lines(
                _SUBMISSION,
                _SUBMISSION | {"id": "abd", "name": "t3_abd", "selftext": "[removed]"},
                _SUBMISSION | {"id": "abe", "name": "t3_abe", "_meta": {"was_deleted_later": True}},
                {
                    "id": "abf",
                    "title": "Why",
                    "selftext": "did it break",
                    "is_self": True,
                    "url": "https://www.reddit.com/r",
                    "subreddit": "news",
                    "author": "bob",
                    "created_utc": "1767225601",
                },
            ),
            [
                {
                    "id": "t3_abc",
                    "text": "Dam & river",
                    "author": "ann",
                    "links": [URL],
                    "url": "https://www.reddit.com/r/news/comments/abc/dam/",
                },
                {"id": "t3_abf", "text": "Why\n\ndid it break", "created_at": "2026-01-01T00:00:01+00:00"},
            ],
            "2 posts of 4 lines; 1 removed post, 1 post deleted later left out",
        )
    ],
    "reddit_comments": [
        Case(
            lines(
                _COMMENT,
                _COMMENT | {"id": "deg", "body": "[deleted]"},
                _COMMENT | {"id": "deh", "author": "AutoModerator"},
            ),
            [{"id": "t1_def", "text": "it *broke* > bad", "reply_to": "t1_ddd", "thread": "t3_abc"}],
            "1 post of 3 lines; 1 deleted post, 1 AutoModerator post left out",
        )
    ],
    "youtube": [
        Case(
            indented(
                {
                    "kind": "youtube#commentThreadListResponse",
                    "items": [
                        {
                            "id": "c1",
                            "snippet": {
                                "videoId": "v1",
                                "topLevelComment": {"id": "c1", "snippet": _YOUTUBE},
                            },
                            "replies": {
                                "comments": [
                                    {
                                        "id": "c1.2",
                                        "snippet": {**_YOUTUBE, "textOriginal": "no", "parentId": "c1"},
                                    }
                                ]
                            },
                        }
                    ],
                }
            ),
            [
                {"id": "c1", "text": "see news & more", "author": "UC1", "thread": "v1", "links": [URL]},
                {"id": "c1.2", "text": "no", "reply_to": "c1"},
            ],
            "2 posts of 2 records in 1 item",
            "comments.json",
        )
    ],
    "youtube_ytdt": [
        Case(
            'id,isReplyTo,authorName,text,publishedAt\nc1,,ann,"she said \\"dam\\", twice",2026-01-01 00:00:01\n'
            "c2,c1,bob,no,2026-01-01 00:00:02\n",
            [
                {"id": "c1", "text": 'she said "dam", twice', "author": "ann"},
                {"id": "c2", "text": "no", "reply_to": "c1"},
            ],
            "2 posts of 2 rows",
            "comments.csv",
        )
    ],
    "youtube_minet": [
        Case(
            "comment_id,video_id,text,published_at,parent_comment_id,author_name\nc2,v1,no,2026-01-01T00:00:01Z,c1,bob\n",
            [{"id": "c2", "text": "no", "reply_to": "c1", "thread": "v1", "author": "bob"}],
            "1 post of 1 row",
            "comments.csv",
        )
    ],
    "tiktok": [
        Case(
            lines(_TIKTOK, _TIKTOK | {"id": "72", "desc": ""}),
            [{"id": "71", "text": "Dam #dam", "author": "7"}],
            "1 post of 2 lines; 1 post without text left out",
        )
    ],
    "tiktok_comments": [
        Case(
            lines(
                {
                    "cid": "1",
                    "text": "a",
                    "create_time": 1767225601,
                    "aweme_id": "71",
                    "reply_id": "0",
                    "user": {"unique_id": "ann"},
                    "comment_language": "en",
                },
                {
                    "cid": "2",
                    "text": "b",
                    "create_time": 1767225601,
                    "aweme_id": "71",
                    "reply_id": "1",
                    "user": {"unique_id": "bob"},
                },
            ),
            [
                {"id": "1", "text": "a", "lang": "en", "author": "ann", "thread": "71"},
                {"id": "2", "text": "b", "reply_to": "1"},
            ],
            "2 posts of 2 lines",
        )
    ],
    "tiktok_research": [
        Case(
            indented(
                {
                    "data": {
                        "videos": [
                            {
                                "id": 71,
                                "video_description": "Dam",
                                "create_time": 1767225601,
                                "username": "ann",
                            }
                        ],
                        "has_more": False,
                    }
                }
            ),
            [{"id": "71", "text": "Dam", "author": "ann"}],
            "1 post of 1 item",
            "videos.json",
        ),
        Case(
            lines({"id": 71, "video_description": "Dam", "create_time": 1767225601, "username": "ann"}),
            [{"id": "71", "text": "Dam"}],
            "1 post of 1 line",
        ),
    ],
    "tiktok_research_comments": [
        Case(
            lines({"id": 1, "video_id": 71, "text": "a", "parent_comment_id": 71, "create_time": 1767225601}),
            [{"id": "1", "text": "a", "reply_to": "71", "thread": "71"}],
            "1 post of 1 line",
        )
    ],
    "threads": [Case(lines(_THREADS), [_THREADS_POST], "1 post of 1 line")],
    "instagram": [
        Case(
            lines(
                _INSTAGRAM,
                {
                    "shortcode": "Jabc",
                    "edge_media_to_caption": {"edges": [{"node": {"text": "River"}}]},
                    "taken_at_timestamp": 1767225601,
                    "owner": {"id": "8"},
                },
                _INSTAGRAM | {"pk": "62", "caption": None},
            ),
            [
                {"id": "61", "text": "Dam", "author": "7", "url": "https://www.instagram.com/p/Iabc/"},
                {"id": "Jabc", "text": "River", "author": "8", "url": "https://www.instagram.com/p/Jabc/"},
            ],
            "2 posts of 3 lines; 1 post without text left out",
        )
    ],
    "linkedin": [
        Case(
            lines(
                _LINKEDIN,
                _LINKEDIN
                | {"updateMetadata": {"urn": "urn:li:aggregate:(urn:li:activity:12,urn:li:activity:11)"}},
                _LINKEDIN | {"commentary": None},
            ),
            [_LINKEDIN_POST, {"id": "12", "text": "Dam", "author": "in/ann", "links": [URL]}],
            "2 posts of 3 lines; 1 post without text left out",
        )
    ],
    "crowdtangle": [
        Case(
            "Page Name,Facebook Id,Post Created,URL,Message,Link,Final Link,Image Text,Link Text,Description\n"
            "News,100,2021-05-01 12:00:00 EDT,https://fb.example/1,Dam,https://bit.example/x,"
            f"{URL},,The dam,It broke.\n",
            [
                {
                    "id": "https://fb.example/1",
                    "text": "Dam",
                    "author": "100",
                    "links": [URL, "https://bit.example/x"],
                    "card_title": "The dam",
                    "created_at": "2021-05-01T16:00:00+00:00",
                }
            ],
            "1 post of 1 row",
            "posts.csv",
        )
    ],
    "fourcat": [
        Case(
            "id,thread_id,timestamp,unix_timestamp,subject,body,author,author_fullname,urls,is_retweet,language_guess\n"
            f'1,1,2026-01-01 00:00:01,1767225601,,Dam,ann,Ann A,"{URL},{URL}?2",no,en\n'
            "2,1,2026-01-01 00:00:02,1767225602,,RT @ann: Dam,bob,Bob B,,yes,en\n",
            [
                {
                    "id": "1",
                    "text": "Dam",
                    "author": "ann",
                    "thread": "1",
                    "lang": "en",
                    "links": [URL, f"{URL}?2"],
                }
            ],
            "1 post of 2 rows; 1 repost left out",
            "4cat.csv",
        )
    ],
    "zeeschuimer": [
        Case(
            lines(
                _captured("x.com", _GRAPHQL),
                _captured("x.com", _TOMBSTONE),
                _captured("tiktok.com", _TIKTOK),
                _captured("threads.com", _THREADS),
                _captured("instagram.com", _INSTAGRAM),
                _captured("linkedin.com", _LINKEDIN),
                _captured("imgur.com", {"id": "1"}),
            ),
            [
                _GRAPHQL_POST | {"platform": "x_graphql"},
                {"id": "71", "text": "Dam #dam", "platform": "tiktok"},
                _THREADS_POST | {"platform": "threads"},
                {"id": "61", "text": "Dam", "platform": "instagram"},
                _LINKEDIN_POST | {"platform": "linkedin"},
            ],
            "5 posts of 7 lines; 1 tombstone, 1 record of imgur.com left out",
        )
    ],
    "snscrape": [
        Case(
            lines(
                {
                    "_type": "snscrape.modules.twitter.Tweet",
                    "id": 4001,
                    "date": "2022-01-01T00:00:01+00:00",
                    "rawContent": "Dam",
                    "lang": "en",
                    "user": {"id": 7, "username": "ann"},
                    "conversationId": 4000,
                    "inReplyToTweetId": 4000,
                    "quotedTweet": None,
                    "retweetedTweet": None,
                    "links": [{"url": URL, "tcourl": "https://t.co/x"}],
                    "card": {"title": "The dam", "url": f"{URL}?card"},
                },
                {
                    "id": 4002,
                    "date": "2022-01-01T00:00:01+00:00",
                    "rawContent": "RT",
                    "retweetedTweet": {"id": 1},
                },
            ),
            [
                {
                    "id": "4001",
                    "text": "Dam",
                    "author": "7",
                    "reply_to": "4000",
                    "thread": "4000",
                    "links": [f"{URL}?card", URL],
                    "card_title": "The dam",
                }
            ],
            "1 post of 2 lines; 1 repost left out",
        )
    ],
    "snscrape_telegram": [
        Case(
            lines(
                {
                    "url": "https://t.me/s/n/1",
                    "date": "2022-01-01T00:00:01+00:00",
                    "content": "Dam",
                    "outlinks": [URL],
                    "linkPreview": {"href": URL, "title": "The dam"},
                }
            ),
            [{"id": "https://t.me/s/n/1", "text": "Dam", "links": [URL], "card_title": "The dam"}],
            "1 post of 1 line",
        )
    ],
}
for name, cases in THREADS.items():
    CASES[name] = [*CASES.get(name, []), *cases]
for export in ODD_EXPORTS:
    if export.format not in CASES:
        posts = [
            {"id": id_, "text": text, **({"author": export.authors[id_]} if id_ in export.authors else {})}
            for id_, text in export.texts.items()
        ]
        if export.format == "reddit_listing":  # its posts are named by what they are
            names = {"t3": "reddit_submissions", "t1": "reddit_comments"}
            posts = [post | {"platform": names[post["id"][:2]]} for post in posts]
        CASES[export.format] = [Case(export.content, posts, export.report, export.name)]
