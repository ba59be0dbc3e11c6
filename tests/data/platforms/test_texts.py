"""What the author of a post wrote beside its text, and what else a record says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from linker.data import Post, read_posts

STATUS = {"id": "1", "created_at": "2026-01-01T00:00:01Z", "in_reply_to_id": None, "spoiler_text": ""}
EVENT = {"did": "did:plc:a", "time_us": 1788990362329308, "kind": "commit"}
TWEET = {
    "id_str": "20",
    "created_at": "Thu Jan 01 00:00:01 +0000 2026",
    "entities": {},
    "user": {"id_str": "7"},
}


def event(**record: Any) -> dict[str, Any]:
    commit = {"operation": "create", "collection": "app.bsky.feed.post", "rkey": "1"}
    return {**EVENT, "commit": {**commit, "record": {"createdAt": "2026-01-01T00:00:01Z", **record}}}


def read(path: Path, record: dict[str, Any]) -> Post:
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    (post,) = read_posts(str(path))
    return post


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (
            {**STATUS, "content": "<p>Told you so.</p>", "spoiler_text": "Dam, politics"},
            "Dam, politics\n\nTold you so.",
        ),
        (
            {
                **STATUS,
                "content": "<p>Vote</p>",
                "poll": {"options": [{"title": "The dam"}, {"title": "The river"}]},
                "media_attachments": [{"description": "A broken dam"}, {"description": None}],
            },
            "Vote\n\nThe dam\n\nThe river\n\nA broken dam",
        ),
        ({**STATUS, "content": "", "media_attachments": [{"description": "A broken dam"}]}, "A broken dam"),
        (
            {
                "type": "Create",
                "actor": "https://m.example/a",
                "object": {
                    "id": "https://m.example/1",
                    "published": "2026-01-01T00:00:01Z",
                    "content": "<p>Told you so.</p>",
                    "summary": "Dam",
                    "oneOf": [{"name": "Yes"}, {"name": "No"}],
                    "attachment": [{"name": "A river"}],
                },
            },
            "Dam\n\nTold you so.\n\nYes\n\nNo\n\nA river",
        ),
        (
            event(text="Look", embed={"images": [{"alt": "A broken dam"}, {"alt": ""}]}),
            "Look\n\nA broken dam",
        ),
        (event(text="", embed={"media": {"images": [{"alt": "A dam"}]}, "record": {}}), "A dam"),
        (event(text="Look", embed={"$type": "app.bsky.embed.video", "alt": "Water"}), "Look\n\nWater"),
        (
            {
                **TWEET,
                "full_text": "Look",
                "extended_entities": {"media": [{"ext_alt_text": "A broken dam"}]},
            },
            "Look\n\nA broken dam",
        ),
        (
            {
                "id": "20",
                "text": "Vote",
                "edit_history_tweet_ids": ["20"],
                "attachments": {"poll": {"options": [{"label": "Dam"}]}, "media": [{"alt_text": "A river"}]},
            },
            "Vote\n\nDam\n\nA river",
        ),
        (
            {
                "data": {
                    "id": "20",
                    "text": "Vote",
                    "edit_history_tweet_ids": ["20"],
                    "attachments": {"poll_ids": ["1"], "media_keys": ["3_1"]},
                },
                "includes": {
                    "polls": [{"id": "1", "options": [{"label": "Dam"}]}],
                    "media": [
                        {"media_key": "3_0", "alt_text": "no"},
                        {"media_key": "3_1", "alt_text": "A river"},
                    ],
                },
            },
            "Vote\n\nDam\n\nA river",
        ),
        (
            {
                "id": "a",
                "title": "What broke?",
                "selftext": "",
                "subreddit": "news",
                "poll_data": {"options": [{"text": "The dam"}, {"text": "The bridge"}]},
            },
            "What broke?\n\nThe dam\n\nThe bridge",
        ),
        (
            {
                "id": 1,
                "type": "message",
                "date": "2026-01-01T00:00:01",
                "date_unixtime": "1767225601",
                "text": "",
                "text_entities": [],
                "poll": {"question": "What broke?", "answers": [{"text": "The dam"}]},
            },
            "What broke?\n\nThe dam",
        ),
        (
            {
                "id": 1,
                "date": 1767225601,
                "message": "",
                "_chat": {"username": "news"},
                "media": {
                    "poll": {"question": {"text": "What broke?"}, "answers": [{"text": {"text": "The dam"}}]}
                },
            },
            "What broke?\n\nThe dam",
        ),
    ],
)
def test_all_that_the_author_wrote_is_text(record: dict[str, Any], text: str, tmp_path: Path) -> None:
    assert read(tmp_path / "posts.jsonl", record).text == text


def test_a_quoted_text_and_a_card_are_of_others(tmp_path: Path) -> None:
    quoted = {**TWEET, "full_text": "See", "quoted_status": {"id_str": "19", "full_text": "The dam broke."}}
    post = read(tmp_path / "posts.jsonl", quoted)
    assert (post.text, post.extra["x_quoted_text"]) == ("See", "The dam broke.")
    stream = {
        "data": {
            "id": "20",
            "text": "See",
            "edit_history_tweet_ids": [],
            "referenced_tweets": [{"type": "quoted", "id": "19"}],
        },
        "includes": {"tweets": [{"id": "18", "text": "no"}, {"id": "19", "text": "The dam broke."}]},
    }
    post = read(tmp_path / "posts.jsonl", stream)
    assert (post.text, post.extra["x_quoted_text"]) == ("See", "The dam broke.")
    card = event(
        text="See", embed={"external": {"uri": "https://a.example", "title": "The dam", "description": ""}}
    )
    assert read(tmp_path / "posts.jsonl", card).text == "See"


@pytest.mark.parametrize(
    ("record", "text", "quoted"),
    [
        (
            {**STATUS, "content": "<p>See</p>", "quote": {"quoted_status": {"content": "<p>The dam</p>"}}},
            "See",
            "The dam",
        ),
        (
            {
                **STATUS,
                "content": "<p>See</p>",
                "quote_id": "3",
                "quote": {"id": "3", "content": "<p>The dam</p>"},
            },
            "See",
            "The dam",
        ),
        (
            {
                "id": "a",
                "title": "See",
                "selftext": "",
                "subreddit": "news",
                "crosspost_parent_list": [{"title": "The dam", "selftext": "It broke."}],
            },
            "See",
            "The dam\n\nIt broke.",
        ),
        (
            {
                "rest_id": "20",
                "legacy": {"full_text": "See"},
                "article": {"article_results": {"result": {"title": "Why", "preview_text": "It rained."}}},
                "quoted_status_result": {
                    "result": {
                        "legacy": {"full_text": "The…"},
                        "note_tweet": {"note_tweet_results": {"result": {"text": "The dam"}}},
                    }
                },
            },
            "See\n\nWhy\n\nIt rained.",
            "The dam",
        ),
        (event(text="See", tags=["dam"]), "See\n\ndam", None),
        (
            {
                "id": "71",
                "desc": "See",
                "createTime": 1767225601,
                "imagePost": {"title": "The dam"},
                "stickersOnItem": [{"stickerText": ["It broke", "today"]}],
            },
            "The dam\n\nSee\n\nIt broke\n\ntoday",
            None,
        ),
    ],
)
def test_texts_of_others_are_a_column_beside_the_text_of_the_author(
    record: dict[str, Any], text: str, quoted: str | None, tmp_path: Path
) -> None:
    post = read(tmp_path / "posts.jsonl", record)
    assert (post.text, post.extra.get("x_quoted_text")) == (text, quoted)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", ["pages.json", "pages.jsonl"])
def test_pages_of_x_join_the_records_beside_their_tweets(
    name: str, indent: int | None, tmp_path: Path
) -> None:
    tweet = {"text": "See", "edit_history_tweet_ids": []}
    page = {
        "data": [
            {**tweet, "id": "20", "attachments": {"media_keys": ["3_1"]}},
            {**tweet, "id": "21", "referenced_tweets": [{"type": "quoted", "id": "19"}]},
        ],
        "includes": {
            "media": [{"media_key": "3_1", "alt_text": "A river"}, {"media_key": "3_2", "alt_text": "A dam"}],
            "tweets": [{"id": "19", "text": "The dam broke."}],
        },
        "meta": {"result_count": 2},
    }
    later = {**page, "data": [{**tweet, "id": "22", "attachments": {"media_keys": ["3_2"]}}]}
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(each, indent=indent) for each in (page, later)))

    posts = list(read_posts([str(path)]))

    assert [post.text for post in posts] == ["See\n\nA river", "See", "See\n\nA dam"]
    assert [post.extra.get("x_quoted_text") for post in posts] == [None, "The dam broke.", None]


@pytest.mark.parametrize(
    ("record", "columns"),
    [
        (
            {
                **STATUS,
                "content": "<p>a</p>",
                "favourites_count": 3,
                "sensitive": True,
                "account": {"acct": "ann"},
            },
            {"x_favourites_count": 3, "x_sensitive": True},
        ),
        (
            {"id": "a", "body": "b", "link_id": "t3_c", "subreddit": "news", "score": -2, "author": "ann"},
            {"x_subreddit": "news", "x_score": -2},
        ),
        (
            {
                "id": "20",
                "text": "a",
                "edit_history_tweet_ids": [],
                "public_metrics": {"like_count": 0, "impression_count": 9},
                "author": {"username": "ann"},
            },
            {"x_like_count": 0, "x_impression_count": 9},
        ),
        ({"id": "71", "desc": "a", "createTime": 1767225601, "stats": {"playCount": 5}}, {"x_playCount": 5}),
    ],
)
def test_other_fields_stay_without_names(
    record: dict[str, Any], columns: dict[str, Any], tmp_path: Path
) -> None:
    post = read(tmp_path / "posts.jsonl", record)
    assert {name: value for name, value in post.extra.items() if name.startswith("x_")} == columns
    assert "ann" not in json.dumps(post.extra)


def test_columns_of_tables_stay_without_names(tmp_path: Path) -> None:
    path = tmp_path / "4cat.csv"
    path.write_text(
        "id,thread_id,timestamp,unix_timestamp,author,author_fullname,body,likes,subreddit,sentiment,mentions\n"
        "1,1,2026-01-01 00:00:01,1767225601,ann,Ann A,Dam,12,news,0.5,bob\n"
    )
    (post,) = read_posts(str(path))
    assert {name: value for name, value in post.extra.items() if name.startswith("x_")} == {
        "x_likes": "12",
        "x_subreddit": "news",
        "x_sentiment": "0.5",
    }
    assert not {"Ann A", "ann", "bob"} & set(map(str, post.extra.values()))
