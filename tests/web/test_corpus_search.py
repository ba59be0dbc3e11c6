"""A served corpus: search, pages, conditions, export, limits."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("lance", reason="a corpus needs the extra `corpus`")

from linker.corpus.builder import add_to_corpus, build_corpus
from linker.corpus.corpus import Corpus
from linker.data.io.columns import PostColumns
from linker.ranking.request import RankRequest
from linker.web.api import corpus_search
from linker.web.api.corpus_search import CorpusSearch
from linker.web.api.rankings import read_article
from linker.web.app import Served, create_app
from linker.web.server.access import Access
from tests.web.conftest import ARTICLE, TEXT, Client, make_posts, rows_of

COUNT = 60


@pytest.fixture(scope="module")
def corpus(corpus_folder: Path) -> CorpusSearch:
    return CorpusSearch(corpus_folder)


@pytest.fixture
def client(corpus: CorpusSearch) -> Iterator[Client]:
    with Client(create_app(Served(corpus=corpus))) as one:
        yield one


def found(client: Client, **query: object) -> dict:
    answer = client.post("/api/corpus/search", json={"article": TEXT, **query})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_it_says_what_it_holds(client: Client) -> None:
    assert client.get("/api/about").json()["corpus"] is True
    about = client.get("/api/corpus").json()
    assert about == {
        "name": "otters",
        "posts": COUNT,
        "first": "2031-03-01T00:00:00+00:00",
        "last": "2031-03-28T00:00:00+00:00",
        "languages": {"de": 30, "en": 30},
        "model": "distilled",
    }


def test_posts_and_scores_are_those_of_the_corpus(client: Client, corpus_folder: Path) -> None:
    expected = Corpus.open(corpus_folder).rank(TEXT, top=20)
    answer = found(client)
    assert [(post["rank"], post["id"], post["score"]) for post in answer["posts"]] == [
        (ranked.rank, ranked.post.id, ranked.score) for ranked in expected
    ]
    assert answer["article"]["title"] == ARTICLE.title
    assert answer["total"] == COUNT
    assert answer["meaning"] == expected.meaning
    assert "parts" not in answer["posts"][0]


def test_explained_posts_say_what_decided(client: Client) -> None:
    answer = found(client, top=1, explain=True)
    post = answer["posts"][0]
    assert "".join(text for text, _ in post["parts"]) == post["text"]
    assert "otters" in [text.lower() for text, marked in post["parts"] if marked]
    assert answer["article"]["words"]


def test_pages_make_the_whole_ranking(client: Client) -> None:
    whole = [post["id"] for post in found(client, top=50)["posts"]]
    pages = [
        post["id"]
        for offset in range(0, 50, 7)
        for post in found(client, top=min(7, 50 - offset), offset=offset)["posts"]
    ]
    assert pages == whole


def test_conditions_filter_without_changing_scores(client: Client, corpus_folder: Path) -> None:
    conditions = {"languages": ["de"], "since": "2031-03-10T00:00:00Z", "until": "2031-03-20T00:00:00Z"}
    answer = found(client, top=200, **conditions)
    scores = {post["id"]: post["score"] for post in found(client, top=200)["posts"]}
    assert answer["posts"]
    for post in answer["posts"]:
        assert post["lang"] == "de"
        assert "2031-03-10" <= post["created_at"][:10] < "2031-03-20"
        assert post["score"] == scores[post["id"]]
    reached = found(client, top=200, threshold=answer["posts"][2]["score"], **conditions)
    assert [post["id"] for post in reached["posts"]] == [post["id"] for post in answer["posts"][:3]]
    expected = Corpus.open(corpus_folder).rank(TEXT, top=None, lang="de")
    assert len(found(client, top=200, languages=["de"])["posts"]) == len(expected)


def test_exports_are_the_ranking_in_a_file(client: Client) -> None:
    posts = found(client, top=5)["posts"]
    answer = client.post("/api/corpus/export", json={"article": TEXT, "top": 5})
    assert answer.headers["content-disposition"] == 'attachment; filename="posts.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert [row["id"] for row in rows] == [post["id"] for post in posts]
    lines = client.post("/api/corpus/export", json={"article": TEXT, "top": 5, "format": "jsonl"}).text
    assert [json.loads(line)["score"] for line in lines.splitlines()] == [post["score"] for post in posts]


def test_exports_leave_no_file(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert client.post("/api/corpus/export", json={"article": TEXT}).status_code == 200
    assert client.post("/api/corpus/export", json={"article": " "}).status_code == 400
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("body", "status", "part"),
    [
        ({}, 422, "body.article: Field required"),
        ({"article": TEXT, "top": 201}, 422, "body.top"),
        ({"article": TEXT, "lang": "de"}, 422, "body.lang: Extra inputs"),
        ({"article": TEXT, "since": "soon"}, 422, "body.since"),
        ({"article": TEXT, "since": 1_400_000_000}, 422, "write dates like"),
        ({"article": TEXT, "threshold": True}, 422, "body.threshold"),
        ({"article": TEXT, "top": "5"}, 422, "body.top: Input should be a valid integer"),
        ({"article": TEXT, "copies": "yes"}, 422, "body.copies"),
        ({"article": ""}, 422, "body.article"),
        ({"article": "  "}, 400, "the article is empty"),
        ({"article": "http://127.0.0.1:1/x"}, 400, "127.0.0.1"),
    ],
)
def test_faults_are_named(client: Client, body: dict[str, object], status: int, part: str) -> None:
    answer = client.post("/api/corpus/search", json=body)
    assert answer.status_code == status
    assert part in answer.json()["error"]


def test_a_body_that_is_not_json_is_named(client: Client) -> None:
    answer = client.post("/api/corpus/search", content=b"\xff", headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert "body" in answer.json()["error"]
    assert client.get("/api/corpus/nothing").json() == {"error": "Not Found"}


@pytest.mark.parametrize("year", ["0001", "0541", "9999"])
def test_any_year_is_a_condition(client: Client, year: str) -> None:
    since = found(client, since=f"{year}-01-01", top=200)["posts"]
    until = found(client, until=f"{year}-01-01", top=200)["posts"]
    assert (len(since), len(until)) == ((COUNT, 0) if year < "2000" else (0, COUNT))


_TIMES = st.datetimes(timezones=st.timezones() | st.none()).map(datetime.isoformat)
_VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)


@given(
    sent=st.fixed_dictionaries(
        {"article": st.text(min_size=1).map(TEXT.__add__)},
        optional={
            "since": _TIMES | _VALUES,
            "until": _TIMES | _VALUES,
            "languages": st.lists(st.text(), max_size=3) | _VALUES,
            "threshold": st.floats(0, 100) | _VALUES,
            "top": st.integers(1, 200) | _VALUES,
            "offset": st.integers(0, 100) | _VALUES,
            "copies": _VALUES,
            "explain": _VALUES,
            "ignore_dates": _VALUES,
        },
    )
)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_request_is_a_fault_of_the_server(client: Client, sent: dict[str, object]) -> None:
    body = json.dumps(sent).encode()
    answer = client.post("/api/corpus/search", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 400, 422)
    assert ("error" in answer.json()) == (answer.status_code != 200)


def test_a_token_is_needed_where_there_is_one(corpus: CorpusSearch) -> None:
    token = "0123456789abcdef"
    with Client(create_app(Served(corpus=corpus), Access(token=token))) as client:
        assert client.post("/api/corpus/search", json={"article": TEXT}).status_code == 401
        assert client.get("/api/openapi.json").status_code == 401
        given = {"Authorization": f"Bearer {token}"}
        assert client.post("/api/corpus/search", json={"article": TEXT}, headers=given).status_code == 200


def test_added_posts_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    posts, folder, file = make_posts(12), tmp_path / "growing", tmp_path / "posts.jsonl"
    file.write_text(rows_of(posts[:6]))
    build_corpus(folder, [str(file)], "distilled", PostColumns())
    with Client(create_app(Served(corpus=CorpusSearch(folder)))) as client:
        assert len(found(client, top=50)["posts"]) == 6
        file.write_text(rows_of(posts))
        add_to_corpus(folder, [str(file)], None, PostColumns())
        monkeypatch.setattr(corpus_search, "_REFRESH_SECONDS", 0.0)
        assert len(found(client, top=50)["posts"]) == 12
        assert client.get("/api/corpus").json()["posts"] == 12


def test_searches_at_once_are_those_made_one_by_one(
    corpus_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_search, "cores", lambda: 4)
    texts = [
        f"{TEXT} {number} {word}" for number, word in enumerate(["otters", "bridge", "storm", "river"] * 3)
    ]

    def search(corpus: CorpusSearch, text: str) -> dict:
        return corpus.search(read_article(text), RankRequest(top=5, explain=True))

    served = CorpusSearch(corpus_folder)  # nothing is loaded yet
    with ThreadPoolExecutor(len(texts)) as pool:
        at_once = list(pool.map(partial(search, served), texts))
    assert at_once == [search(CorpusSearch(corpus_folder), text) for text in texts]


def test_the_description_names_every_endpoint(client: Client) -> None:
    description = client.get("/api/openapi.json").json()
    assert set(description["paths"]) == {"/api/corpus", "/api/corpus/search", "/api/corpus/export"}
    search = description["components"]["schemas"]["SearchPage"]["properties"]
    assert {"article", "since", "until", "languages", "top", "offset"} <= set(search)
    assert all(field["description"] for field in search.values())


def test_without_a_corpus_there_is_nothing_to_search() -> None:
    with Client(create_app(Served())) as client:
        assert client.get("/api/about").json()["corpus"] is False
        assert client.post("/api/corpus/search", json={"article": TEXT}).status_code in (404, 405)
