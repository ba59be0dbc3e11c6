"""Kinds of links by their addresses."""

import pytest

from linker.data.links.link_key import link_key
from linker.data.links.link_kind import link_kind

CASES = {
    "article": [
        "https://www.theguardian.com/world/2026/jan/02/otters-return-to-the-brell",
        "https://www.bbc.com/news/articles/c5y1abc0d2o",
        "https://www.bbc.co.uk/news/world-europe-65432101",
        "https://news.example/?p=123",
        "https://news.example/story.php?storyid=77",
        "https://news.example/fact-check/57-states",
        "https://news.example/otters.html",
        "https://apnews.com/article/0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "https://www.spiegel.de/politik/a-1234567.html",
        "https://news.example/2026/01/02/otters",
        "https://zh.example/%E6%96%B0%E9%97%BB",
        "https://blog.example/why_we_count_otters",
        "https://www.politico.eu/article/otters-in-the-river/",
    ],
    "front page": [
        "https://www.nytimes.com/",
        "https://www.nytimes.com/section/politics",
        "https://www.bbc.com/news",
        "https://www.bbc.com/sport/football",
        "https://www.bbc.com/news/topics/c1038wnxezpt",
        "https://www.theguardian.com/profile/a-long-name-here",
        "https://news.example/tag/the-otters-of-brell",
        "https://news.example/search?q=otter",
        "https://news.example/author/1234567",
        "https://news.example/live?page=2",
    ],
    "shortener": [
        "https://bit.ly/3xYzAbC",
        "https://t.co/AbCdEfGhIj",
        "https://nyti.ms/2xYz",
        "http://on.wsj.com/1abCDe",
        "https://news.google.com/articles/CBMiK2h0dHBz",
    ],
    "platform": [
        "https://twitter.com/a/status/1234567890123456789",
        "https://x.com/a/status/1234567890123456789",
        "https://bsky.app/profile/did:plc:abc/post/3l5abc",
        "https://mastodon.example/@someone/109876543210",
        "https://old.reddit.com/r/news/comments/1abc2d/otters_return_to_brell/",
        "https://www.facebook.com/page/posts/1234567890",
        "https://t.me/channel/1234",
    ],
    "other site": [
        "https://www.youtube.com/watch?v=abcdefghijk",
        "https://youtu.be/abcdefghijk",
        "https://www.amazon.co.uk/dp/B000123456",
        "https://www.change.org/p/save-the-otters-of-brell",
        "https://open.spotify.com/episode/0a1b2c3d4e5f",
        "https://docs.google.com/forms/d/e/1FAIpQL/viewform",
    ],
    "file": ["https://news.example/otter-in-the-river.JPG", "https://gov.example/report-of-2026.pdf"],
}


@pytest.mark.parametrize(("kind", "url"), [(kind, url) for kind, urls in CASES.items() for url in urls])
def test_kind(kind: str, url: str) -> None:
    key = link_key(url)
    assert link_kind(key) == kind


def test_lists_can_be_changed() -> None:
    video, story = "youtube.com/watch?v=abc&id=1", "shop.example/why-we-count-otters"
    assert link_kind(video, allowed=frozenset({"youtube.com"})) == "article"
    assert link_kind(f"sub.{story}", skipped=frozenset({"shop.example"})) == "other site"
    assert link_kind(f"work{story}", skipped=frozenset({"shop.example"})) == "article"
