"""The article that a post links to, or why it has none."""

from typing import Any

import pytest

from linker.data.types import Post
from linker.mining.linked_post import FATES, Link, linked
from linker.mining.options import MiningOptions

URL, KEY = "https://www.news.example/2026/01/otters-return?utm_source=x", "news.example/2026/01/otters-return"
OTHER = "https://news.example/2026/01/a-bridge-closes"


def link(
    text: str = "My children saw them", options: MiningOptions | None = None, **extra: Any
) -> Link | str:
    return linked(Post("1", text, extra=extra), options or MiningOptions())


def test_where_links_are_found() -> None:
    assert link(links=[URL]) == Link(KEY, URL)
    assert link(links=f"{URL}|https://bit.ly/3abc") == Link(KEY, URL)
    assert link(text=f"Look: {URL}") == Link(KEY, URL)
    card: dict[str, Any] = {
        "card_url": URL,
        "card_title": "Otters  return",
        "card_description": "Two\nwere filmed",
    }
    assert link(**card) == Link(KEY, URL, "Otters return", "Two were filmed")
    # Texts of posts with links repeat them shortened.
    assert link(text="Look: https://t.co/AbCdEf1234", links=[URL]) == Link(KEY, URL)


def test_the_card_is_that_of_the_link() -> None:
    card: dict[str, Any] = {"card_title": "Otters return", "card_description": "Filmed"}
    assert link(links=[URL], **card) == Link(KEY, URL, "Otters return", "Filmed")
    assert link(links=[URL], card_url="https://bit.ly/3abc", **card) == Link(
        KEY, URL, "Otters return", "Filmed"
    )
    assert link(links=[URL], card_url="https://youtu.be/abcdefghijk", **card) == Link(KEY, URL)


@pytest.mark.parametrize(
    ("fate", "extra"),
    [
        ("reposts", {"links": [URL], "repost_of": "7"}),
        ("reposts", {"text": f"RT @someone: read {URL}"}),
        ("deleted, or by a moderation bot", {"text": "[removed]", "links": [URL]}),
        ("deleted, or by a moderation bot", {"author": "AutoModerator", "links": [URL]}),
        ("without a link", {}),
        ("without a link", {"links": []}),
        ("with an unreadable link", {"links": ["at://did:plc:x/app.bsky.feed.post/1"]}),
        ("only shortened links", {"links": ["https://bit.ly/3abc", "https://t.co/Xy1"]}),
        ("only links to front pages and sections", {"links": ["https://www.news.example/"]}),
        ("only links to social platforms", {"links": ["https://x.com/a/status/1234567"]}),
        ("only links to social platforms", {"links": ["https://toots.example/@a/123456"]}),
        (
            "only links to social platforms",
            {"url": "https://toots.example/notes/9abc123", "links": ["https://toots.example/notes/9xyz123"]},
        ),
        ("only links to videos, shops and the like", {"links": ["https://youtu.be/abcdefghijk"]}),
        ("only links to pictures and other files", {"links": ["https://news.example/otter.jpg"]}),
        ("links to several articles", {"links": [URL, OTHER]}),
        ("replies to comments", {"platform": "reddit", "thread": "t3_a", "reply_to": "t1_b"}),
    ],
)
def test_fates(fate: str, extra: dict[str, Any]) -> None:
    assert link(**extra) == fate
    assert fate in FATES


def test_a_single_shortened_link_may_lead_to_an_article() -> None:
    assert link(links=["https://bit.ly/3abc"]) == Link("bit.ly/3abc", "https://bit.ly/3abc", shortened=True)
    assert link(links=["https://bit.ly/3abc", URL]) == link(links=[URL])


def test_several_addresses_of_one_article_are_one_link() -> None:
    assert link(links=["https://bit.ly/3abc", f"https://amp.{KEY}", URL]) == Link(KEY, f"https://amp.{KEY}")


def test_language() -> None:
    english = MiningOptions(lang=["English"])
    assert link(options=english, links=[URL], lang="en-US") == Link(KEY, URL)
    assert (
        link(options=english, links=[URL], lang="de")
        == link("42", options=english, links=[URL])
        == "another language"
    )


def test_reddit() -> None:
    assert link(platform="reddit_comments", thread="t3_a", reply_to="t3_a") == Link("", thread="a")
    assert link(platform="reddit", thread="t3_a") == Link("", thread="a")
    assert link(platform="mastodon", thread="t3_a") == "without a link"
    submission = link(text="Otters return\n\nWhat do you think?", platform="reddit", links=[URL])
    assert submission == Link(KEY, URL, "Otters return")


def test_sites_of_the_user() -> None:
    video = "https://youtu.be/watch-the-otters-swim"
    assert isinstance(link(links=[video], options=MiningOptions(keep_site=["youtu.be"])), Link)
    fate = link(links=[URL], options=MiningOptions(skip_site=["news.example"]))
    assert fate == "only links to videos, shops and the like"
