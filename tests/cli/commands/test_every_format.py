"""Every format of posts in every command that reads posts: fresh processes, no option that names a format."""

import csv
import io
import json
import re
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from linker.annotation.session.session import Session
from linker.data.platforms.platform import Platform
from tests.data.platforms.exports import DID, EXPORTS, URL
from tests.helpers.forked import run_linker

ARTICLE = "The dam broke at night and the river rose, says the news of today"
#: Formats whose records have links.
LINKED = (
    "bluesky_api", "bluesky_jetstream", "bluesky_jetstream_2", "bluesky_tap", "crowdtangle", "fourcat", "gab",
    "mastodon", "mastodon_archive", "reddit_submissions", "snscrape", "snscrape_telegram", "telegram",
    "telegram_desktop", "threads", "twitter_archive", "x", "x_1",
)  # fmt: skip
#: Formats with a post that is no copy of another format's; records of Zeeschuimer and listings are of what is in them.
DISTINCT = set(EXPORTS) - {"zeeschuimer", "youtube_minet", "tiktok_research"}


def address(name: str) -> str:
    return f"https://news.example/2026/01/dam-{name.replace('_', '-')}-broke-at-night"


def distinct(name: str, content: str) -> str:
    """Return records with a link to an article, a text and ids that no other format has."""
    own = re.sub("[^a-z2-7]", "z", name)
    letters = f"{own:z<24}"[-24:]
    content = re.sub(re.escape(URL) + r"\?[\w=&;]+", f"{URL}?utm_source=x", content)
    content = content.replace(DID, f"did:plc:{letters}").replace(URL, address(name))
    content = content.replace(
        "news.example%2Fdam", address(name).removeprefix("https://").replace("/", "%2F")
    )
    for number in ("1001", "2001", "3001", "t3_abc", "5101", '"id": 1,'):
        content = content.replace(number, f"{number.rstrip(',')}{len(name)}{',' * number.endswith(',')}")
    if name.startswith("youtube"):
        content = re.sub(r"\bc(?=\d\b)", f"{own}c", content)
    words = f"{own}neighbors complained {own}loudly about {own}water {own}council {own}otters"
    content = re.sub(r"(?<![\w#-])(?=Dam\b|a long tweet)", f"{words}. ", content)
    return content


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    (folder / "exports").mkdir()
    for name, cases in EXPORTS.items():
        path = folder / "exports" / f"{name}{Path(cases[0].name).suffix}"
        path.write_text(distinct(name, cases[0].content), encoding="utf-8")
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = run_linker(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done


def assert_recognized(messages: str) -> None:
    found = dict(re.findall(r"exports/(\w+)\.\w+: read as (.+?): \d", messages))
    assert found == {name: Platform.by_name(name).title for name in EXPORTS}


def test_ranked(exports: Path) -> None:
    about = ("--article", ARTICLE, "--posts", "exports/*", "--model", "bm25")
    done = run(exports, "rank", *about, "--format", "csv", "--top", "1000")
    assert_recognized(done.stderr)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {row["platform"] for row in rows} >= DISTINCT
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1]


def test_labeled(exports: Path) -> None:
    (exports / "article.txt").write_text(f"{ARTICLE}.\n\n" + "The dam broke and the river rose. " * 10)
    arguments = ("--article", "article.txt", "--posts", "exports/*", "--model", "bm25")
    done = run(exports, "annotate", "start", "session", *arguments)
    assert_recognized(done.stderr)
    shown = run(exports, "annotate", "next", "session", "--count", "1000", "--json").stdout.splitlines()
    suggested = {row["id"]: row for row in map(json.loads, shown)}
    with closing(Session.open(exports / "session")) as session:
        for post, row in suggested.items():
            session.label("ann", post, "relevant" if "dam" in row["text"].lower() else "not")
    run(exports, "annotate", "export", "session", "--out", "labels.jsonl")
    labels = [
        json.loads(line) for line in (exports / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert {row["extra"]["platform"] for row in suggested.values()} >= DISTINCT
    assert {row["post_id"] for row in labels} >= suggested.keys()


def test_put_into_a_corpus(exports: Path) -> None:
    pytest.importorskip("lance")
    done = run(exports, "corpus", "build", "exports/*", "--out", "corpus", "--model", "distilled")
    assert_recognized(done.stderr)
    found = run(
        exports, "corpus", "search", "corpus", "--article", ARTICLE, "--top", "1000", "--format", "csv"
    )
    rows = list(csv.DictReader(io.StringIO(found.stdout)))
    assert {row["platform"] for row in rows} >= DISTINCT


def test_mined_and_every_record_accounted_for(exports: Path) -> None:
    articles = [
        {
            "id": name,
            "url": address(name),
            "title": f"Report on {name}: {ARTICLE}",
            "text": f"Officials of {name} explained it.",
        }
        for name in EXPORTS
    ]
    (exports / "articles.jsonl").write_text("".join(json.dumps(row) + "\n" for row in articles))
    done = run(exports, "mine", "links", "exports/*", "--articles", "articles.jsonl", "--out", "set")
    assert_recognized(done.stderr)
    posts = (exports / "set" / "posts.jsonl").read_text(encoding="utf-8").splitlines()
    mined = {json.loads(post)["article_id"] for post in posts}
    assert mined >= {address(name).removeprefix("https://") for name in LINKED}
    counts = json.loads((exports / "set" / "report.json").read_text(encoding="utf-8"))
    for section in ("posts", "linked posts"):
        whole, *parts = counts[section].values()
        assert whole == sum(parts), section
