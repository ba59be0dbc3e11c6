"""From posts without link cards to a training set, with the articles fetched in between."""

import json
from pathlib import Path

import pytest

from linker.articles.crawl.crawl import crawl
from linker.articles.crawl.crawler import CrawlOptions
from linker.common.errors import DataError
from linker.data.links.link_key import LISTS
from linker.mining.mine_links import mine_links
from tests.helpers.loopback_web import Web, web

__all__ = ["web"]

SUBJECTS = ("otters", "bridges", "harvests", "libraries")


def test_links_lead_to_articles_once_they_are_fetched(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LISTS, "shorteners", LISTS["shorteners"] | {"b.test"})
    rows = []
    for n, subject in enumerate(SUBJECTS):
        words = " ".join(f"{subject}{k} was seen near place{n}{k}." for k in range(60))
        date = f'<meta property="article:published_time" content="2021-0{n + 1}-14T08:30:00Z">'
        head = f"<head><title>News of {subject}{n}</title>{date}</head>"
        html = f"<html>{head}<body><article><p>{words}</p></article></body></html>"
        article = web.on(f"news{n}.test/2021/a-story-about-{subject}", html)
        short = web.on(f"b.test/Kvdk{n}", status=302, Location=f"{article}?utm_source=b")
        for k, url in enumerate((article, short)):
            text = f"neighbors{n}{k} complain{n}{k} about{n}{k} the {subject}{n} loudly{k} {url}"
            rows.append({"id": f"p{n}{k}", "text": text, "created_at": f"2021-0{n + 1}-15T12:00:00Z"})
    lost = web.on("b.test/Kvdk9", status=404)
    rows.append(
        {"id": "lost", "text": f"lost words of nobody here {lost}", "created_at": "2021-01-15T12:00:00Z"}
    )
    posts = tmp_path / "posts.jsonl"
    posts.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    links = tmp_path / "links.jsonl"
    reasons = (
        "5 only shortened links, 4 of articles without title and text; give the articles with --articles"
    )
    with pytest.raises(DataError, match=f"of 9 posts: {reasons}"):
        mine_links([str(posts)], tmp_path / "set", missing=links)
    assert not (tmp_path / "set").exists()
    assert len(links.read_text(encoding="utf-8").splitlines()) == 9
    crawl(str(links), tmp_path / "articles", CrawlOptions("me@lab.example", delay=0))
    mined = mine_links([str(posts)], tmp_path / "set", [str(tmp_path / "articles")], missing=links)
    assert mined["posts"] == {"read": 9, "only shortened links": 1, "linked to one article": 8}
    pairs = (tmp_path / "set" / "posts.jsonl").read_text(encoding="utf-8").splitlines()
    of_articles = {row["id"]: row["article_id"] for row in map(json.loads, pairs)}
    assert len(of_articles) == 8
    assert len(set(of_articles.values())) == 4
    assert all(of_articles[f"p{n}0"] == of_articles[f"p{n}1"] for n in range(4))
    assert json.loads(links.read_text(encoding="utf-8")) == {"url": lost, "posts": 1}
    articles = (tmp_path / "set" / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["published"][:7] for line in articles] == [f"2021-0{n + 1}" for n in range(4)]
