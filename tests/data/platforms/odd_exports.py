"""Files as programs write them: old and new versions, compressed, with byte order marks, as lists, lines and pages."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.data.platforms.case import DID, POST, URL, indented, lines

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BOM = "\ufeff"


class Export(NamedTuple):
    """A file.

    Attributes:
        name: its name.
        content: its content before compression.
        format: name of the format that it is read as.
        report: the part of the line on stderr about its records.
        texts: texts of its posts by id.
        authors: authors by id, in the clear.
        links: ids of the posts that link to the article.
        packed: the compression.
    """

    name: str
    content: str
    format: str
    report: str
    texts: dict[str, str]
    authors: Mapping[str, str] = MappingProxyType({})
    links: tuple[str, ...] = ()
    packed: Callable[[bytes], bytes] = bytes

    def data(self) -> bytes:
        """Return the file."""
        return self.packed(self.content.encode())


def _wrapped(platform: str, data: dict[str, Any]) -> dict[str, Any]:
    """A line of Zeeschuimer."""
    return {
        "nav_index": "3_1",
        "item_id": str(data.get("id")),
        "timestamp_collected": 1767225600000,
        "last_updated": 1767225600000,
        "source_platform": platform,
        "source_platform_url": f"https://{platform}/",
        "source_url": f"https://{platform}/api",
        "user_agent": "Mozilla/5.0",
        "data": data,
    }


def _flattened(data: dict[str, Any]) -> dict[str, Any]:
    """A line of 4CAT's NDJSON: the data, and where it is from."""
    return data | {"__import_meta": {"source_platform": "x", "timestamp_collected": 1767225600000}}


_TWEET = {
    "__typename": "Tweet",
    "rest_id": "9001",
    "core": {"user_results": {"result": {"rest_id": "7", "legacy": {"screen_name": "ann", "name": "Ann"}}}},
    "legacy": {
        "full_text": "Dam on X",
        "created_at": "Wed Oct 10 20:19:24 +0000 2018",
        "lang": "en",
        "user_id_str": "7",
        "entities": {"urls": [{"expanded_url": URL, "display_url": "news.example"}], "hashtags": []},
    },
    "id": "9001",
    "promoted": False,
}
_VIDEO = {
    "id": "9101",
    "desc": "Dam on TikTok #dam",
    "createTime": "1767225601",
    "author": "ann",
    "nickname": "Ann",
    "authorId": "7",
    "stats": {"diggCount": 1},
    "textExtra": [{"hashtagName": "dam"}],
}
_COMMENT_OF_INSTAGRAM = {
    "pk": "9201",
    "id": "9201",
    "comment_id": "9201",
    "text": "Dam on Instagram",
    "created_at": 1767225601,
    "user": {"id": "7", "unique_id": "ann", "nickname": "Ann"},
    "post_id": "500",
    "post_shortcode": "Iabc",
    "parent_comment_id": None,
    "thread_id": "500",
}
_STORY = {
    "id": "S:_I7:9301",
    "__typename": "Story",
    "comet_sections": {
        "content": {
            "story": {
                "post_id": "9301",
                "wwwURL": "https://www.facebook.com/ann/posts/pfbid9301",
                "message": {"text": "Dam on Facebook"},
                "actors": [{"id": "7", "name": "Ann", "url": "https://www.facebook.com/ann"}],
                "attachments": [
                    {"styles": {"attachment": {"story_attachment_link_renderer": {"attachment": {"web_link": {
                        "url": "https://l.facebook.com/l.php?u=https%3A%2F%2Fnews.example%2Fdam&h=x"}}}}}}
                ],
            }
        },
        "context_layout": {
            "story": {
                "comet_sections": {
                    "metadata": [
                        {
                            "__typename": "CometFeedStoryMinimizedTimestampStrategy",
                            "story": {"creation_time": 1767225601, "url": "https://www.facebook.com/groups/dam/1"},
                        }
                    ]
                }
            }
        },
    },
}  # fmt: skip
_OLD_MESSAGE = {
    "id": 5,
    "type": "message",
    "date": "2019-01-01T01:00:00",
    "edited": "1970-01-01T01:00:00",
    "from": "Ann",
    "from_id": 4401,
    "text": ["Dam on Telegram ", {"type": "link", "text": URL}],
}
_TELETHON = {
    "_": "Message",
    "id": 6,
    "peer_id": {"_": "PeerChannel", "channel_id": 99},
    "date": "2024-10-30T05:15:00+00:00",
    "message": "Dam on a channel",
    "from_id": None,
    "fwd_from": None,
    "media": {"_": "MessageMediaWebPage", "webpage": {"_": "WebPage", "url": URL, "title": "The dam"}},
}
_TOP = {
    "kind": "youtube#comment",
    "id": "Yc1",
    "snippet": {
        "videoId": "v1",
        "textDisplay": "Dam on YouTube",
        "textOriginal": "Dam on YouTube",
        "authorDisplayName": "@ann",
        "authorChannelId": {"value": "UC1"},
        "publishedAt": "2026-01-01T00:00:01Z",
    },
}


def _thread(top: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "kind": "youtube#commentThread",
        "id": top["id"],
        "snippet": {"videoId": "v1", "topLevelComment": top, "totalReplyCount": 0},
        **more,
    }


def _page(*items: Any) -> dict[str, Any]:
    return {
        "kind": "youtube#commentThreadListResponse",
        "etag": "x",
        "nextPageToken": "n",
        "pageInfo": {"totalResults": 1, "resultsPerPage": 1},
        "items": list(items),
    }


_THING = {
    "id": "abc",
    "name": "t3_abc",
    "title": "Dam on Reddit",
    "selftext": "",
    "subreddit": "news",
    "author": "ann",
    "created_utc": 1767225601.0,
    "url": URL,
    "is_self": False,
    "permalink": "/r/news/comments/abc/dam/",
}


def _reply(id_: str, text: str, replies: Any = "") -> dict[str, Any]:
    return {
        "kind": "t1",
        "data": {
            "id": id_,
            "name": f"t1_{id_}",
            "body": text,
            "link_id": "t3_abc",
            "parent_id": "t3_abc",
            "subreddit": "news",
            "author": "bob",
            "created_utc": 1767225601.0,
            "permalink": f"/r/news/comments/abc/dam/{id_}/",
            "replies": replies,
        },
    }


def _listing(*children: Any) -> dict[str, Any]:
    return {
        "kind": "Listing",
        "data": {"after": None, "dist": None, "children": list(children), "before": None},
    }


_VIEW = {
    "uri": f"{POST}/9",
    "cid": "bafy",
    "author": {"did": DID, "handle": "a.example", "displayName": "Ann"},
    "record": {
        "$type": "app.bsky.feed.post",
        "text": "Dam on Bluesky",
        "createdAt": "2026-09-09T19:46:02.102Z",
    },
    "replyCount": 0,
    "indexedAt": "2026-09-09T19:46:03.000Z",
}
_TOOT = {
    "id": "9601",
    "created_at": "2026-10-01T10:00:00.000Z",
    "in_reply_to_id": None,
    "content": "<p>Dam on Mastodon</p>",
    "reblog": None,
    "account": {"id": "1", "acct": "ann"},
    "media_attachments": [{"id": "5", "type": "image"}],
    "tags": [{"name": "dam", "url": "https://m.example/tags/dam"}],
}

ODD_EXPORTS = [
    Export(
        "zeeschuimer-x.ndjson.gz",
        lines(
            _wrapped("twitter.com", _TWEET),
            _wrapped("twitter.com", {"__typename": "TweetTombstone", "id": "1"}),
        ),
        "x_graphql",
        "1 post of 2 lines; 1 tombstone left out",
        {"9001": "Dam on X"},
        {"9001": "7"},
        ("9001",),
        gzip.compress,
    ),
    Export(
        "4cat-tiktok.ndjson",
        BOM + lines(_flattened(_VIDEO)),
        "tiktok",
        "1 post of 1 line",
        {"9101": "Dam on TikTok #dam"},
        {"9101": "7"},
    ),
    Export(
        "zeeschuimer-mixed.ndjson.zst",
        lines(
            _wrapped("instagram-comments", _COMMENT_OF_INSTAGRAM),
            _wrapped("facebook.com", _STORY),
            _wrapped("tiktok.com", _VIDEO | {"id": "9102"}),
            _wrapped("linkedin.com", {"id": "urn:li:1", "actor": {}}),
        ),
        "zeeschuimer",
        "3 posts of 4 lines; 1 record of linkedin.com left out",
        {"9201": "Dam on Instagram", "9301": "Dam on Facebook", "9102": "Dam on TikTok #dam"},
        {"9201": "7", "9301": "7"},
        ("9301",),
        zstd.compress,
    ),
    Export(
        "4cat-facebook.ndjson",
        lines(_flattened(_STORY)),
        "facebook",
        "1 post of 1 line",
        {"9301": "Dam on Facebook"},
        {"9301": "7"},
        ("9301",),
    ),
    Export(
        "4cat-instagram-comments.ndjson",
        lines(_flattened(_COMMENT_OF_INSTAGRAM | {"parent_comment_id": "9200"})),
        "instagram_comments",
        "1 post of 1 line",
        {"9201": "Dam on Instagram"},
        {"9201": "7"},
    ),
    Export(
        "4cat-bluesky.csv",
        BOM
        + "collected_at,query,rank,id,thread_id,created_at,author,author_id,body,link,tags,like_count,links,"
        "languages,author_display_name,timestamp\r\n"
        f'2026-01-01T00:00:00,dam,0,{POST}/8,{POST}/8,2026-09-09T19:46:02+00:00,a.example,{DID},"Dam, by 4CAT",'
        f'https://bsky.app/profile/a.example/post/8,,1,"{URL},{URL}?2","en,de",Ann,1789000000.5\r\n',
        "fourcat",
        "1 post of 1 row",
        {f"{POST}/8": "Dam, by 4CAT"},
        {f"{POST}/8": DID},
        (f"{POST}/8",),
    ),
    Export(
        "zeeschuimer-threads.csv",
        BOM + "id;thread_id;url;body;timestamp;author;link_url;unix_timestamp\n"
        f'"Tabc";"Tabc";"https://www.threads.com/@ann/post/Tabc";"Dam; on Threads";"2026-01-01 00:00:01";"ann";"{URL}";'
        '"1767225601"\n',
        "fourcat",
        "1 post of 1 row",
        {"Tabc": "Dam; on Threads"},
        {"Tabc": "ann"},
        ("Tabc",),
    ),
    Export(
        "threads-api.json",
        json.dumps(
            {
                "data": [
                    {
                        "id": "1801",
                        "media_product_type": "THREADS",
                        "media_type": "TEXT_POST",
                        "permalink": "https://www.threads.net/@ann/post/Tdef",
                        "username": "ann",
                        "text": "Dam of the Threads API",
                        "timestamp": "2026-01-01T00:00:01+0000",
                        "shortcode": "Tdef",
                        "is_quote_post": False,
                        "link_attachment_url": URL,
                    }
                ],
                "paging": {"cursors": {"before": "B", "after": "A"}},
            }
        ),
        "threads_api",
        "1 post of 1 item",
        {"1801": "Dam of the Threads API"},
        {"1801": "ann"},
        ("1801",),
    ),
    Export(
        "result.json",
        BOM + indented({"name": "N", "type": "public_channel", "id": 4400, "messages": [_OLD_MESSAGE]}),
        "telegram_desktop",
        "1 post of 1 item",
        {"4400/5": f"Dam on Telegram {URL}"},
        {"4400/5": "4401"},
        ("4400/5",),
    ),
    Export(
        "telethon.json.xz",
        indented([_TELETHON, {**_TELETHON, "_": "MessageService", "id": 7, "action": {}}]),
        "telegram",
        "1 post of 2 items; 1 service message left out",
        {"99/6": "Dam on a channel"},
        {},
        ("99/6",),
        lzma.compress,
    ),
    Export(
        "youtube-pages.jsonl",
        lines(
            _page(_thread(_TOP, replies={"comments": [_TOP | {"id": "Yc1.2"}]})),
            _page(),
            _page(_thread(_TOP | {"id": "Yc2"})),
        ),
        "youtube",
        "3 posts of 3 records in 2 items",
        {"Yc1": "Dam on YouTube", "Yc1.2": "Dam on YouTube", "Yc2": "Dam on YouTube"},
        {"Yc1": "UC1"},
    ),
    Export(
        "video.info.json",
        json.dumps(
            {
                "id": "v2",
                "title": "A video",
                "formats": [{"format_id": "1"}],
                "thumbnails": [{"url": "https://i.example/1.jpg"}],
                "webpage_url": "https://www.youtube.com/watch?v=v2",
                "extractor": "youtube",
                "comments": [
                    {
                        "id": "Yd1",
                        "parent": "root",
                        "text": "Dam in yt-dlp",
                        "author": "@ann",
                        "author_id": "UC1",
                        "author_is_uploader": False,
                        "timestamp": 1767225601,
                    },
                    {
                        "id": "Yd1.2",
                        "parent": "Yd1",
                        "text": "a reply",
                        "author": "@bob",
                        "author_id": "UC2",
                        "timestamp": 1767225601,
                    },
                ],
            }
        ),
        "youtube_ytdlp",
        "2 posts of 2 records in 1 line",
        {"Yd1": "Dam in yt-dlp", "Yd1.2": "a reply"},
        {"Yd1": "UC1", "Yd1.2": "UC2"},
    ),
    Export(
        "downloader.json",
        lines(
            {
                "cid": "Ye1",
                "text": "Dam of a downloader",
                "time": "2 days ago",
                "author": "@ann",
                "channel": "UC1",
                "votes": "1",
                "replies": "",
                "photo": "",
                "heart": False,
                "reply": False,
                "time_parsed": 1767225601.5,
            }
        ),
        "youtube_downloader",
        "1 post of 1 line",
        {"Ye1": "Dam of a downloader"},
        {"Ye1": "UC1"},
    ),
    Export(
        "tiktok-research.jsonl.gz",
        lines(
            {
                "data": {
                    "cursor": 100,
                    "has_more": True,
                    "search_id": "7",
                    "videos": [
                        {
                            "id": 9103,
                            "video_description": "Dam of research",
                            "create_time": 1767225601,
                            "username": "ann",
                        }
                    ],
                },
                "error": {"code": "ok", "message": "", "log_id": "x"},
            },
            {"data": {"cursor": 200, "has_more": False, "videos": []}, "error": {"code": "ok"}},
        ),
        "tiktok_research",
        "1 post of 1 item",
        {"9103": "Dam of research"},
        {"9103": "ann"},
        (),
        gzip.compress,
    ),
    Export(
        "reddit-page.json",
        json.dumps(
            [
                _listing({"kind": "t3", "data": _THING}),
                _listing(
                    _reply(
                        "r1",
                        "Dam in a reply",
                        _listing(_reply("r2", "below"), {"kind": "more", "data": {"id": "r3"}}),
                    )
                ),
            ]
        ),
        "reddit_listing",
        "3 posts of 4 records in 2 items; 1 unloaded comment left out",
        {"t3_abc": "Dam on Reddit", "t1_r1": "Dam in a reply", "t1_r2": "below"},
        {"t3_abc": "ann", "t1_r2": "bob"},
        ("t3_abc",),
    ),
    Export(
        "reddit.csv.bz2",
        "id,title,selftext,subreddit,author,created_utc,url,is_self\n"
        f"abd,Dam in a table,,news,ann,1767225601,{URL},False\nabe,Why,did it break,news,bob,1767225602,,True\n",
        "reddit_submissions",
        "2 posts of 2 rows",
        {"t3_abd": "Dam in a table", "t3_abe": "Why\n\ndid it break"},
        {"t3_abd": "ann"},
        ("t3_abd",),
        bz2.compress,
    ),
    Export(
        "bluesky-feeds.jsonl",
        lines(
            {"feed": [{"post": _VIEW}], "cursor": "1"},
            {"feed": [], "cursor": "2"},
            {"posts": [], "cursor": "3"},
        ),
        "bluesky_api",
        "1 post of 1 item",
        {f"{POST}/9": "Dam on Bluesky"},
        {f"{POST}/9": DID},
    ),
    Export(
        "mastodon-jq.json",
        indented(_TOOT) + indented(_TOOT | {"id": "9602"}),
        "mastodon",
        "2 posts of 2 items",
        {"9601": "Dam on Mastodon", "9602": "Dam on Mastodon"},
        {"9601": "ann"},
    ),
    Export(
        "outbox-page.json",
        json.dumps(
            {
                "@context": "https://www.w3.org/ns/activitystreams",
                "id": "https://m.example/users/ann/outbox?page=true",
                "type": "OrderedCollectionPage",
                "next": "https://m.example/users/ann/outbox?max_id=1&page=true",
                "partOf": "https://m.example/users/ann/outbox",
                "orderedItems": [
                    {
                        "id": "https://m.example/users/ann/statuses/3/activity",
                        "type": "Create",
                        "actor": "https://m.example/users/ann",
                        "object": {
                            "id": "https://m.example/users/ann/statuses/3",
                            "type": "Note",
                            "content": f'<p>Dam in an outbox <a href="{URL}">news</a></p>',
                            "published": "2026-10-01T10:00:00Z",
                        },
                    },
                    {
                        "id": "https://m.example/users/ann/statuses/4/activity",
                        "type": "Announce",
                        "actor": "https://m.example/users/ann",
                        "object": "https://m.example/users/bob/statuses/1",
                    },
                ],
            }
        ),
        "mastodon_archive",
        "1 post of 2 items; 1 repost left out",
        {"https://m.example/users/ann/statuses/3": "Dam in an outbox news"},
        {"https://m.example/users/ann/statuses/3": "https://m.example/users/ann"},
        ("https://m.example/users/ann/statuses/3",),
    ),
    Export(
        "tweets-part1.js",
        BOM
        + "window.YTD.tweets.part1 = "
        + indented(
            [
                {
                    "tweet": {
                        "id_str": "9002",
                        "id": "9002",
                        "full_text": "Dam in an archive",
                        "lang": "en",
                        "created_at": "Wed Oct 10 20:19:24 +0000 2018",
                        "entities": {"urls": [{"expanded_url": URL}]},
                    }
                }
            ]
        ),
        "twitter_archive",
        "1 post of 1 item",
        {"9002": "Dam in an archive"},
        {},
        ("9002",),
    ),
    Export(
        "tcat.csv",
        BOM + "id,time,created_at,from_user_name,text,filter_level,lang,to_user_name,in_reply_to_status_id,"
        "quoted_status_id,source,from_user_id,from_user_realname,urls,urls_expanded,urls_followed\n"
        f"9003,1383500003,2013-11-03 17:33:23,ann,Dam in TCAT,low,und,,9000,,web,7,Ann,https://t.co/x,{URL},{URL}\n"
        "9004,1383500004,2013-11-03 17:33:24,bob,RT @ann: Dam in TCAT,low,en,,,,web,8,Bob,,,\n",
        "tcat",
        "1 post of 2 rows; 1 repost left out",
        {"9003": "Dam in TCAT"},
        {"9003": "7"},
        ("9003",),
    ),
    Export(
        "instaloader.json",
        json.dumps(
            {
                "instaloader": {"node_type": "Post", "version": "4.14"},
                "node": {
                    "__typename": "GraphImage",
                    "id": "9401",
                    "shortcode": "Jabc",
                    "edge_media_to_caption": {"edges": [{"node": {"text": "Dam of instaloader"}}]},
                    "taken_at_timestamp": 1767225601,
                    "owner": {"id": "7", "username": "ann"},
                },
            }
        ),
        "instagram",
        "1 post of 1 line",
        {"9401": "Dam of instaloader"},
        {"9401": "7"},
    ),
    Export(
        "crowdtangle-api.json",
        indented(
            {
                "status": 200,
                "result": {
                    "posts": [
                        {
                            "platformId": "100_1",
                            "platform": "Facebook",
                            "date": "2021-05-01 16:00:00",
                            "message": "Dam of CrowdTangle",
                            "expandedLinks": [{"original": "https://bit.example/x", "expanded": URL}],
                            "link": URL,
                            "title": "The dam",
                            "description": "It broke.",
                            "postUrl": "https://www.facebook.com/100/posts/1",
                            "languageCode": "en",
                            "account": {"id": 9, "name": "News", "platformId": "100"},
                        }
                    ],
                    "pagination": {"nextPage": "https://api.example"},
                },
            }
        ),
        "crowdtangle_api",
        "1 post of 1 item",
        {"100_1": "Dam of CrowdTangle"},
        {"100_1": "100"},
        ("100_1",),
    ),
    Export(
        "pages.json",
        indented(
            [{"posts": [_VIEW], "cursor": "1"}, {"posts": [_VIEW | {"uri": f"{POST}/10"}], "cursor": "2"}]
        ),
        "bluesky_api",
        "2 posts of 2 items",
        {f"{POST}/9": "Dam on Bluesky", f"{POST}/10": "Dam on Bluesky"},
        {f"{POST}/9": DID},
    ),
    Export(
        "stream.txt.gz",  # curl https://m.example/api/v1/streaming/public
        ":)\n"
        + "".join(
            f"event: {event}\ndata: {data}\n\n:thump\n"
            for event, data in (
                ("update", json.dumps(_TOOT)),
                ("update", json.dumps(_TOOT | {"id": "9605"})),
                ("status.update", json.dumps(_TOOT)),
                ("delete", "9605"),
            )
        ),
        "mastodon_stream",
        "1 post of 4 records in 17 lines; 1 deleted post, 1 edit, 1 deletion left out",
        {"9601": "Dam on Mastodon"},
        {"9601": "ann"},
        (),
        gzip.compress,
    ),
    Export(
        "lists.json",
        json.dumps([[_TOOT, _TOOT | {"id": "9603"}], [], [_TOOT | {"id": "9604"}]]),
        "mastodon",
        "3 posts of 3 items",
        dict.fromkeys(["9601", "9603", "9604"], "Dam on Mastodon"),
        {"9604": "ann"},
    ),
    Export(
        "empty-page-first.jsonl",
        lines(
            {"items": [], "pageInfo": {"totalResults": 0}},
            _page(_thread(_TOP), _thread(_TOP | {"id": "Yc3"})),
        ),
        "youtube",
        "2 posts of 3 records in 2 lines; 1 empty page left out",
        {"Yc1": "Dam on YouTube", "Yc3": "Dam on YouTube"},
        {"Yc3": "UC1"},
    ),
    Export(
        "account.json",
        indented(
            {
                "about": "Here is the data you requested.",
                "personal_information": {"user_id": 1, "first_name": "Ann"},
                "profile_pictures": [{"date": "2019-01-01T01:00:00", "photo": "a.jpg"}],
                "stories": [{"date": "2019-01-01T01:00:00", "media": "b.jpg"}],
                "contacts": {"about": "x", "list": [{"user_id": 2, "first_name": "Bob"}]},
                "frequent_contacts": {"about": "x", "list": [{"id": 2, "type": "user"}]},
                "chats": {
                    "about": "x",
                    "list": [{"type": "saved_messages", "id": 1, "messages": [_OLD_MESSAGE]}],
                },
                "left_chats": {
                    "about": "x",
                    "list": [{"name": "N", "type": "x", "id": 3, "messages": [_OLD_MESSAGE]}],
                },
                "other_data": [{"created_by": "x"}],
            }
        ),
        "telegram_desktop",
        "2 posts of 2 items",
        dict.fromkeys(["1/5", "3/5"], f"Dam on Telegram {URL}"),
        {"1/5": "4401"},
        ("1/5",),
    ),
    Export(
        "stream.jsonl.gz",
        lines(
            {
                "data": {"id": "9005", "text": "Dam on a stream", "edit_history_tweet_ids": ["9005"]},
                "matching_rules": [],
            },
            {"errors": [{"title": "operational-disconnect", "detail": "x"}]},
        ),
        "x",
        "1 post of 2 lines; 1 notice left out",
        {"9005": "Dam on a stream"},
        {},
        (),
        gzip.compress,
    ),
    Export(
        "twint.csv",
        "id,conversation_id,created_at,date,time,timezone,user_id,username,name,place,tweet,language,mentions,urls,"
        "retweet,user_rt\n"
        "9006,9000,2021-05-05 12:00:00 CEST,2021-05-05,12:00:00,+0200,7,ann,Ann,,Dam in Twint,en,[],"
        f"\"['{URL}']\",False,\n",
        "twint",
        "1 post of 1 row",
        {"9006": "Dam in Twint"},
        {"9006": "7"},
        ("9006",),
    ),
    Export(
        "json2csv.csv",
        "id,tweet_url,created_at,parsed_created_at,user_screen_name,text,tweet_type,hashtags,urls,"
        "in_reply_to_status_id,lang,user_id\n"
        "9007,https://twitter.com/ann/status/9007,Wed Oct 10 20:19:24 +0000 2018,2018-10-10 20:19:24+00:00,ann,"
        f"Dam of twarc,original,,{URL} {URL}?2,,en,7\n"
        "9008,https://twitter.com/bob/status/9008,Wed Oct 10 20:19:24 +0000 2018,2018-10-10 20:19:24+00:00,bob,"
        "RT @ann: Dam of twarc,retweet,,,,en,8\n",
        "x_1_csv",
        "1 post of 2 rows; 1 repost left out",
        {"9007": "Dam of twarc"},
        {"9007": "7"},
        ("9007",),
    ),
    Export(
        "instagram-api.json",
        indented(
            {
                "data": [
                    {
                        "id": "9402",
                        "caption": "Dam of the API",
                        "media_type": "IMAGE",
                        "username": "ann",
                        "permalink": "https://www.instagram.com/p/Kabc/",
                        "timestamp": "2026-01-01T00:00:01+0000",
                    }
                ],
                "paging": {},
            }
        ),
        "instagram_api",
        "1 post of 1 item",
        {"9402": "Dam of the API"},
        {"9402": "ann"},
    ),
    Export(
        "thing.json",
        indented(
            {
                "kind": "t1",
                "data": _reply("r4", "Dam of one comment", _listing(_reply("r5", "below")))["data"],
            }
        ),
        "reddit_comments",
        "2 posts of 2 records in 1 item",
        {"t1_r4": "Dam of one comment", "t1_r5": "below"},
        {"t1_r4": "bob"},
    ),
]
