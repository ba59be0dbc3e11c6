"""A training set from posts that link to articles, from files to a folder."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from linker.common.errors import DataError, LinkerError
from linker.data import DataSource
from linker.data.readers.articles_and_posts import ArticlesAndPosts
from linker.mining.mine_links import mine_links
from linker.mining.options import MiningOptions
from linker.mining.selection import densest

# Of each story: title, description, and what somebody says about it.
SUBJECTS = (
    "otters", "bridge", "harvest", "library", "election", "museum", "railway", "stadium", "orchestra",
    "vineyard",
)  # fmt: skip


def url(number: int) -> str:
    return (
        f"https://www.site{number % 3}.example/news/story-about-{SUBJECTS[number % 10]}-{number}?utm_source=x"
    )


def post(number: int, article: int, day: int = 1, **extra: Any) -> dict[str, Any]:
    """A post about an article, with its own words."""
    subject = SUBJECTS[article % 10]
    words = " ".join(f"{word}{number}" for word in ("opinion", "neighbors", "complain", "council"))
    return {
        "id": f"p{number}",
        "text": f"{words} {url(article)}",
        "author": f"a{number}",
        "created_at": f"2026-01-{article % 28 + day:02}T12:00:00Z",
        "card_url": url(article),
        "card_title": f"The {subject} of number{article} reopens amid protest{article}",
        "card_description": f"Officials explained{article} why {subject} matters{article} to visitors{article}.",
        **extra,
    }


def write(path: Path, rows: Iterable[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def twenty() -> list[dict[str, Any]]:
    """Two posts about each of ten articles."""
    return [post(10 * n + article, article) for n in range(2) for article in range(10)]


def assert_adds_up(report: dict[str, Any]) -> None:
    for section, counts in report.items():
        whole, *parts = counts.values()
        assert section == "settings" or whole == sum(parts), section
    assert report["posts"]["linked to one article"] == report["linked posts"]["found"]
    assert report["linked posts"]["pairs"] == report["pairs"]["in all"]


def test_a_training_set(tmp_path: Path, twenty: list[dict[str, Any]]) -> None:
    out = tmp_path / "set"
    mine_links([write(tmp_path / "posts.jsonl", twenty)], out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["posts.jsonl", "set"]
    articles, posts = read(out, "articles"), read(out, "posts")
    assert len(articles) == 10
    assert articles[0] == {
        "id": "site0.example/news/story-about-otters-0",
        "title": "The otters of number0 reopens amid protest0",
        "text": "Officials explained0 why otters matters0 to visitors0.",
        "url": url(0),
        "published": "2026-01-01T12:00:00+00:00",
        "story": "site0.example/news/story-about-otters-0",
        "split": "train",
    }
    assert [article["split"] for article in articles] == ["train"] * 9 + ["dev"]
    assert len(posts) == 20
    assert next(row for row in posts if row["id"] == "p10") == {
        "id": "p10",
        "text": "opinion10 neighbors10 complain10 council10",
        "article_id": "site0.example/news/story-about-otters-0",
        "created_at": "2026-01-01T12:00:00+00:00",
    }
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert_adds_up(report)
    assert report["articles"] == {"in all": 10, "train": 9, "dev": 1}
    assert report["texts of articles"] == {"in all": 10, "given": 0, "link cards": 10}
    sites = {"in all": 20, "site0.example": 8, "site1.example": 6, "site2.example": 6}
    assert report["pairs by site"] == sites
    splits = DataSource(ArticlesAndPosts(str(out / "articles.jsonl"), str(out / "posts.jsonl"))).load()
    assert (len(splits.train.articles), len(splits.train.posts)) == (9, 18)
    assert splits.dev is not None
    assert splits.dev.relevance().sum() == 2


def test_each_filter_counts_its_posts(
    tmp_path: Path, twenty: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # bad lines are set aside there
    rows = [
        *twenty,
        twenty[0],  # delivered twice
        post(100, 0, text="reposted words here", repost_of="p0"),
        post(101, 0, text="plain words", card_url=None, links=["https://bit.ly/3abc"]),
        {"id": "p102", "text": "no link here"},
        post(103, 1, day=20),  # 19 days later than the others
        post(104, 2, text=f"The harvest of number2 reopens amid protest2: wow! {url(2)}"),
        post(105, 3, text=f"{twenty[3]['text']}!!"),
        post(106, 4, text=twenty[5]["text"]),
        {
            "id": "p107",
            "text": "words about an article without card",
            "links": ["https://none.example/a-b-c-d"],
        },
        *(post(200 + n, 7, author=f"b{n}") for n in range(30)),
        *(post(300 + n, 60 + n, author="bot", created_at="2026-01-05T12:00:00Z") for n in range(12)),
        *(post(400 + n, 3 * (n + 30), author="outlet", day=n % 4) for n in range(1, 12)),
        *(post(500 + n, n % 10, author="busy", day=1 + n // 10) for n in range(30)),
    ]
    options = MiningOptions(max_links_a_day=11, max_per_author=4)
    out = tmp_path / "set"
    source = write(tmp_path / "posts.jsonl", rows)
    with open(source, "a", encoding="utf-8") as file:
        file.write("{broken\n")
    mine_links([source], out, options=options, on_error="skip")
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert_adds_up(report)
    assert report["posts"]["reposts"] == report["posts"]["only shortened links"] == 1
    assert report["posts"]["without a link"] == 1
    counts = report["linked posts"]
    assert counts["met again"] == 1
    assert counts["by authors with too many links a day"] == 12
    assert counts["by authors with one site"] == 11
    assert counts["of articles without title and text"] == 1
    assert counts["outside the days around the article"] == 1
    assert counts["with fewer than 4 words of their own"] == 1
    assert counts["copies of another post of the article"] == 1
    assert counts["same text as a post of another article"] == 1
    kept = read(out, "posts")
    per_article = {article["id"]: 0 for article in read(out, "articles")}
    for row in kept:
        per_article[row["article_id"]] += 1
    assert max(per_article.values()) <= 20
    assert min(per_article.values()) >= 1
    assert counts["more than 20 of an article"] >= 12
    assert counts["more than 4 of an author"] + sum(row["id"] in BUSY for row in kept) <= 30
    assert sum(row["id"] in BUSY for row in kept) == 4


BUSY = {f"p{500 + n}" for n in range(30)}


def test_the_bytes_depend_on_the_posts_alone(tmp_path: Path, twenty: list[dict[str, Any]]) -> None:
    source = write(tmp_path / "posts.jsonl", twenty)
    mine_links([source], tmp_path / "a")
    mine_links([source], tmp_path / "b")
    again = {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()} == again
    mine_links([write(tmp_path / "others.jsonl", reversed(twenty))], tmp_path / "b")  # replaces it
    assert (tmp_path / "b" / "articles.jsonl").read_bytes() == again["articles.jsonl"]
    assert sorted((tmp_path / "b" / "posts.jsonl").read_bytes().splitlines()) == sorted(
        again["posts.jsonl"].splitlines()
    )


def test_comments_on_reddit_are_about_the_article_of_their_thread(
    tmp_path: Path, twenty: list[dict[str, Any]]
) -> None:
    title = "Mountain rescuers search for missing hikers near glacier"
    link = "https://news.example/rescuers-search-for-hikers"
    on_reddit: dict[str, Any] = {"platform": "reddit", "created_at": "2026-01-09T12:00:00Z"}
    rows = [
        {"id": "t1_c", "text": "My cousin guided tours around that valley", "thread": "t3_s", **on_reddit},
        {"id": "t3_s", "text": title, "links": [link], "card_title": title, **on_reddit},
        {"id": "t1_d", "text": "Another thread without any article", "thread": "t3_unknown", **on_reddit},
    ]
    out = tmp_path / "set"
    report = mine_links([write(tmp_path / "posts.jsonl", [*rows, *twenty])], out)
    comments = [
        row for row in read(out, "posts") if row["article_id"] == "news.example/rescuers-search-for-hikers"
    ]
    assert [row["id"] for row in comments] == ["t1_c"]  # the submission only repeats the title
    assert report["linked posts"]["comments on posts without an article"] == 1


def test_articles_of_the_user(tmp_path: Path, twenty: list[dict[str, Any]], article_html: str) -> None:
    bare = [{name: row[name] for name in ("id", "text", "created_at")} for row in twenty]
    bare.append(
        {
            "id": "x",
            "text": "My brothers photographed herons near there, beautiful https://news.example/2021/05/otters",
        }
    )
    folder = tmp_path / "articles"
    folder.mkdir()
    rows = [
        {
            "id": n,
            "url": f"http://m.{url(n)[12:]}",
            "title": f"Title words{n} of{n} article{n}",
            "text": "Body.",
        }
        for n in range(10)
    ]
    rows[0]["published"] = "2025-12-31"
    rows[1]["published"] = "2025-11-01"
    (folder / "some.jsonl.gz").write_bytes(
        gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())
    )
    page = article_html.replace(
        "<head>", '<head><link rel="canonical" href="https://news.example/2021/05/otters">'
    )
    (folder / "page.html").write_text(page, encoding="utf-8")
    (folder / "README.md").write_text("not an article", encoding="utf-8")
    out = tmp_path / "set"
    report = mine_links([write(tmp_path / "posts.jsonl", bare)], out, [str(folder)])
    articles = {article["id"]: article for article in read(out, "articles")}
    otters = articles["news.example/2021/05/otters"]
    assert otters["title"] == "Otters return to the Brell after forty years"
    assert articles["site0.example/news/story-about-otters-0"]["title"] == "Title words0 of0 article0"
    assert articles["site0.example/news/story-about-otters-0"]["published"] == "2025-12-31T00:00:00+00:00"
    assert report["linked posts"]["outside the days around the article"] == 2  # both posts of article 1
    assert report["articles given"] == {"read": 11, "linked by posts": 11}


def test_cards_that_many_pages_share_are_those_of_the_site(
    tmp_path: Path, twenty: list[dict[str, Any]]
) -> None:
    wall = [
        post(600 + n, 600 + n, card_title="Subscribe today for unlimited access", card_description="")
        for n in range(15)
    ]
    report = mine_links([write(tmp_path / "posts.jsonl", [*twenty, *wall])], tmp_path / "set")
    assert report["linked posts"]["of articles without title and text"] == 15


def test_faults_leave_nothing_behind(tmp_path: Path, twenty: list[dict[str, Any]]) -> None:
    source = write(tmp_path / "posts.jsonl", [*twenty, {"id": "x"}])
    with pytest.raises(DataError, match=r"posts\.jsonl, line 21"):
        mine_links([source], tmp_path / "set")
    with pytest.raises(DataError, match="--articles nowhere: file not found"):
        mine_links([source], tmp_path / "set", ["nowhere"])
    with pytest.raises(DataError, match="are of one story"):
        mine_links([write(tmp_path / "one.jsonl", twenty[:1])], tmp_path / "set")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.jsonl", "posts.jsonl"]


def test_only_folders_of_its_own_are_replaced(tmp_path: Path, twenty: list[dict[str, Any]]) -> None:
    source = write(tmp_path / "posts.jsonl", twenty)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(LinkerError, match=r"has other files \(thesis\.tex\)"):
        mine_links([source], tmp_path / "mine")
    with pytest.raises(LinkerError, match="is a file"):
        mine_links([source], source)
    with pytest.raises(LinkerError, match="among the posts"):
        mine_links([str(tmp_path)], tmp_path / "set")


def test_the_window_with_most_posts() -> None:
    assert densest([0, 10, 11, 12, 30], 5) == 10
    assert densest([0, 10], 5) == 0
    assert densest([3], 5) == 3
    assert densest([0, 5, 6], 5) == 0


def test_near_duplicate_articles_are_on_one_side(tmp_path: Path, twenty: list[dict[str, Any]]) -> None:
    text = (
        "A report on the state of rivers, wells and lakes, which took the authors nine years, was published."
    )
    copy: dict[str, Any] = {"card_title": "Rivers wells lakes", "card_description": text}
    rows = [
        *twenty,
        post(700, 700, created_at="2025-06-01T12:00:00Z", **copy),
        post(701, 701, created_at="2026-06-01T12:00:00Z", **copy),
    ]
    mine_links([write(tmp_path / "posts.jsonl", rows)], tmp_path / "set")
    articles = read(tmp_path / "set", "articles")
    assert (articles[0]["published"][:10], articles[-1]["published"][:10]) == ("2025-06-01", "2026-06-01")
    assert articles[0]["story"] == articles[-1]["story"] == articles[0]["id"]
    # Twelve articles: dev reaches a tenth with the two latest stories.
    assert [article["split"] for article in articles] == ["train"] * 9 + ["dev", "dev", "train"]


def test_articles_of_a_development_set_are_left_out(tmp_path: Path, twenty: list[dict[str, Any]]) -> None:
    held = [
        {
            "id": "1",
            "url": url(0).replace("https://www.", "http://m.") + "&fbclid=1",
            "title": "another title",
        },
        {
            "id": "2",
            "title": "The bridge of number1 reopens amid protest1!",
        },  # that of article 1, without address
        {"id": "3", "title": "The harvest of number77 closes after a strike"},
        {"id": "4", "text": "no title"},
    ]
    out = tmp_path / "set"
    source, other = write(tmp_path / "posts.jsonl", twenty), write(tmp_path / "dev.jsonl", held)
    report = mine_links([source], out, not_in=[other])
    assert {int(article["id"].rpartition("-")[2]) for article in read(out, "articles")} == set(range(2, 10))
    assert report["linked posts"] == {"found": 20, "of articles in --not-in": 4, "pairs": 16}
    assert_adds_up(json.loads((out / "report.json").read_text(encoding="utf-8")))


def test_a_development_set_must_have_articles(tmp_path: Path, twenty: list[dict[str, Any]]) -> None:
    source, other = write(tmp_path / "posts.jsonl", twenty), write(tmp_path / "dev.jsonl", [{"name": "x"}])
    with pytest.raises(DataError, match=r"--not-in .*dev\.jsonl: not a table of articles"):
        mine_links([source], tmp_path / "set", not_in=[other])
    with pytest.raises(DataError, match=r"--articles .*dev\.jsonl: not a table of articles"):
        mine_links([source], tmp_path / "set", [other])
    assert not (tmp_path / "set").exists()
