"""Approximate search: the posts that it scores have their exact scores, and the best ones are among them."""

from __future__ import annotations

import random
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

from linker.common.errors import DataError, LinkerError
from linker.config import build, resolve
from linker.corpus.builder import add_to_corpus, build_corpus
from linker.corpus.compaction import compact
from linker.corpus.corpus import Corpus
from linker.corpus.deletion import delete_posts
from linker.corpus.indexes import partitions
from linker.corpus.search import probing
from linker.corpus.search.filters import Filter
from linker.corpus.search.parts import PartsQuery
from linker.corpus.search.pruning import PrunedQuery
from linker.corpus.storage.store import Store
from linker.corpus.verify import faults
from linker.data.io.columns import PostColumns
from linker.data.types import Article, LinkedPosts, Post
from linker.models.archive import save_model
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.model import Model
from tests.corpus.conftest import write_posts

TOPICS = [
    "river flood bridge water rain dam boats rescue",
    "election vote senate campaign ballot poll candidate governor",
    "football goal striker match referee league penalty coach",
    "vaccine hospital doctor nurse virus clinic patients fever",
    "rocket orbit launch moon astronaut telescope satellite mars",
    "bakery bread oven flour cake chef recipe butter",
    "guitar album concert singer drummer stage tour melody",
    "wolf forest bear deer hunters wildlife park ranger",
]
DAY = datetime(2031, 3, 1, tzinfo=timezone.utc)
POSTS = 2_400


def posts_about(count: int, start: int = 0) -> list[dict]:
    chance = random.Random(start)
    found = []
    for number in range(start, start + count):
        words = [*chance.sample(TOPICS[number % len(TOPICS)].split(), 5), f"n{number}"]
        time = DAY + timedelta(hours=chance.randrange(24 * 200))
        found.append({"id": f"p{number:05d}", "text": " ".join(words), "created_at": time.isoformat()})
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("probing")
    posts = write_posts(folder / "posts.jsonl", posts_about(POSTS))
    build_corpus(folder / "corpus", [posts], "distilled", PostColumns())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions, "_POSTS_PER_PARTITION", 60)
        assert Corpus.open(folder / "corpus").build_index() == POSTS // 60
    return folder / "corpus"


@pytest.fixture
def copied(built, tmp_path) -> Path:
    subprocess.run(["cp", "-r", str(built), str(tmp_path / "corpus")], check=True)
    return tmp_path / "corpus"


@pytest.fixture(autouse=True)
def few_posts(monkeypatch):
    """Probe few posts, as in a large corpus."""
    monkeypatch.setattr(probing, "_LEAST", 120)
    monkeypatch.setattr(probing, "_ALL", 240)
    monkeypatch.setattr(probing, "_BY_WORDS", 20)
    monkeypatch.setattr(probing, "_STEP", 4)


def article(topic: int, day: int | None = None) -> Article:
    published = None if day is None else DAY + timedelta(days=day)
    return Article("a", f"{TOPICS[topic]} {TOPICS[topic][:12]}", published=published)


def ranked(corpus: Corpus, asked: Article, top: int = 10, **options) -> dict[str, float]:
    return {hit.post.id: hit.score for hit in corpus.rank(asked, top, copies=True, **options)}


@pytest.mark.parametrize("day", [None, 0, 60, 199])
def test_the_best_posts_are_found_with_their_exact_scores(built, day):
    corpus, recalls = Corpus.open(built), []
    for topic in range(len(TOPICS)):
        exact = ranked(corpus, article(topic, day))
        everything = ranked(corpus, article(topic, day), POSTS)
        found = ranked(corpus, article(topic, day), approximate=True)
        assert len(found) == 10
        assert found.items() <= everything.items()
        assert list(found.values()) == sorted(found.values(), reverse=True)
        least = min(exact.values())
        recalls.append(np.mean([score >= least for score in found.values()]))
    assert np.mean(recalls) >= 0.95


def test_few_posts_are_scored(built, monkeypatch):
    monkeypatch.setattr(probing, "_BY_WORDS", 0)
    probed = chosen(Corpus.open(built), article(3, 50))
    assert 100 <= len(probed) <= POSTS / 6  # 5 %, and the rest of the last partition
    assert (np.diff(probed) > 0).all()


def test_posts_without_dates_are_found_by_partition_and_words(tmp_path, monkeypatch):
    monkeypatch.setattr(partitions, "_POSTS_PER_PARTITION", 30)
    posts = [{"id": post["id"], "text": post["text"]} for post in posts_about(600)]
    build_corpus(tmp_path / "corpus", [write_posts(tmp_path / "posts.jsonl", posts)], "best", PostColumns())
    corpus = Corpus.open(tmp_path / "corpus")
    corpus.build_index()
    exact = ranked(corpus, article(2, 30))
    assert len(chosen(corpus, article(2, 30))) < 500  # those of a partition promise the same
    found = ranked(corpus, article(2, 30), approximate=True)
    assert np.mean([score >= min(exact.values()) for score in found.values()]) >= 0.9


@pytest.mark.parametrize("weight", [1.0, -0.5])
def test_the_best_of_the_probed_posts_are_found(tmp_path, monkeypatch, weight):
    monkeypatch.setattr(partitions, "_POSTS_PER_PARTITION", 30)
    posts = write_posts(tmp_path / "posts.jsonl", posts_about(600))
    build_corpus(tmp_path / "corpus", [posts], "best", PostColumns())
    corpus = Corpus.open(tmp_path / "corpus")
    corpus.build_index()
    assert isinstance(corpus.model, ArticleSoftmaxModel)
    # Of the transformer, words and word vectors.
    monkeypatch.setattr(corpus.model.model, "weights", [1.0, weight, 0.1])
    for topic, day in [(2, 30), (5, None)]:
        parts, asked = corpus._posts.parts, article(topic, day)
        probed = chosen(corpus, asked)
        scores = PartsQuery(parts, [asked], corpus._engine).scores(0)
        query = PrunedQuery(parts, PartsQuery(parts, [asked], corpus._engine), probed)
        found, at = query.scored(None, 10)
        np.testing.assert_array_equal(found, scores[at])
        np.testing.assert_array_equal(np.sort(found)[-10:], np.sort(scores[probed])[-10:])
        bounds = query._bounds_of(corpus.model)
        assert (bounds + query._error >= scores[probed]).all()


def chosen(corpus: Corpus, asked: Article) -> np.ndarray:
    parts = corpus._posts.parts
    return probing.Probe(parts, PartsQuery(parts, [asked], corpus._engine)).chosen(None)


def test_dates_decide_between_posts_of_a_partition(built, monkeypatch):
    monkeypatch.setattr(probing, "_BY_WORDS", 0)
    corpus, asked = Corpus.open(built), article(3, 50)
    with_date = chosen(corpus, asked)
    without = chosen(corpus, article(3))
    days = np.array([(datetime.fromisoformat(post["created_at"]) - DAY).days for post in posts_about(POSTS)])
    assert np.mean(np.abs(days[with_date] - 53) <= 8) > 2 * np.mean(np.abs(days[without] - 53) <= 8)


def test_all_posts_are_scored_where_there_are_few(built, monkeypatch):
    monkeypatch.setattr(probing, "_ALL", POSTS)
    corpus = Corpus.open(built)
    assert ranked(corpus, article(1, 9), 50) == ranked(corpus, article(1, 9), 50, approximate=True)


def test_only_posts_that_pass_a_filter_are_found(built):
    corpus, since = Corpus.open(built), DAY + timedelta(days=100)
    for hit in corpus.rank(article(2, 20), 10, filter=Filter(since=since), approximate=True):
        assert hit.post.created_at is not None
        assert hit.post.created_at >= since


def test_without_the_native_library_the_posts_are_the_same(built, monkeypatch):
    expected = ranked(Corpus.open(built), article(5, 80), approximate=True)
    monkeypatch.setenv("LINKER_KERNELS", "plain")
    assert ranked(Corpus.open(built), article(5, 80), approximate=True) == expected


def test_later_posts_are_found_and_deleted_ones_are_not(copied, tmp_path):
    more = write_posts(tmp_path / "more.jsonl", posts_about(200, start=POSTS))
    add_to_corpus(copied, [more], None, PostColumns())
    best = ranked(Corpus.open(copied), article(4), 40, approximate=True)
    assert any(id_ >= f"p{POSTS:05d}" for id_ in best)
    gone = list(best)[:5]
    delete_posts(Store.open(copied), f"id in ({', '.join(map(repr, gone))})")
    left = ranked(Corpus.open(copied), article(4), 30, approximate=True)
    assert not set(gone) & set(left)
    compact(Store.open(copied))
    assert ranked(Corpus.open(copied), article(4), 30, approximate=True) == left
    assert not list(faults(Store.open(copied)))


def test_a_new_index_replaces_the_former(copied):
    def files() -> set[str]:
        return {path.name for path in copied.rglob("*.safetensors") if path.name.startswith(("part", "cent"))}

    before = files()
    assert Corpus.open(copied).build_index() == POSTS // 256
    assert len(files()) == len(before) == 2
    assert not files() & before


def test_a_damaged_file_of_partitions_is_reported(copied):
    (path,) = copied.rglob("partitions.*.safetensors")
    content = path.read_bytes()
    path.write_bytes(content[:-2] + b"\xff\xff")
    with pytest.raises(DataError, match=r"partitions.*: damaged; delete it, and it is created again"):
        ranked(Corpus.open(copied), article(0), approximate=True)
    path.unlink()
    ranked(Corpus.open(copied), article(0), approximate=True)
    assert path.read_bytes() == content


@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_models_of_one_part(tmp_path, monkeypatch, similarity):
    import torch

    torch.manual_seed(0)
    config = {
        "type": "siamese",
        "similarity": similarity,
        "encoder": "mean",
        "embedder": {"dim": 8, "trainable": True},
    }
    model = build(Model, config)
    model.prepare(LinkedPosts([article(0)], [Post(p["id"], p["text"]) for p in posts_about(POSTS)]))
    save_model(model, tmp_path / "model", {"model": resolve(Model, config)}, {}, "")
    posts = write_posts(tmp_path / "posts.jsonl", posts_about(POSTS))
    build_corpus(tmp_path / "corpus", [posts], str(tmp_path / "model"), PostColumns())
    corpus, recalls = Corpus.open(tmp_path / "corpus"), []
    monkeypatch.setattr(partitions, "_POSTS_PER_PARTITION", 60)
    corpus.build_index()
    for topic in range(len(TOPICS)):
        exact, found = (ranked(corpus, article(topic), approximate=one) for one in (False, True))
        recalls.append(np.mean([score >= min(exact.values()) for score in found.values()]))
    assert np.mean(recalls) >= 0.8


def test_posts_are_in_the_partition_of_the_nearest_centroid(built):
    parts = Corpus.open(built)._posts.parts
    ((part, _),), (centroids,) = parts.weighted, parts.partitions.centroids
    vectors = np.concatenate([one.rows() for one in parts.vectors(part)])
    distances = ((vectors[:, None] - centroids[None]) ** 2).sum(axis=2)
    nearest = np.take_along_axis(distances, parts.partitions.numbers[:, None].astype(int), axis=1)[:, 0]
    np.testing.assert_allclose(nearest, distances.min(axis=1), atol=1e-5)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"fusion": "zscore"}, "--approximate: is for one whole article"),
        ({"passages": "best"}, "--approximate: is for one whole article"),
    ],
)
def test_options_that_do_not_fit(built, options, problem):
    with pytest.raises(LinkerError, match=problem):
        Corpus.open(built).rank(article(0), approximate=True, **options)


def linker(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "linker", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_commands(tmp_path):
    posts = write_posts(tmp_path / "posts.jsonl", posts_about(300))
    corpus, story = tmp_path / "corpus", tmp_path / "story.txt"
    story.write_text(
        "The river flood took the bridge; boats came to the rescue in the rain.", encoding="utf-8"
    )
    build_corpus(corpus, [posts], "distilled", PostColumns())
    search = (
        "corpus",
        "search",
        corpus,
        "--article",
        story,
        "--top",
        3,
        "--format",
        "jsonl",
        "--approximate",
    )
    refused = linker(*search)
    assert refused.returncode == 2
    assert f"{corpus} has no index; build one with `linker corpus index {corpus}`" in refused.stderr
    assert "Traceback" not in refused.stderr
    indexed = linker("corpus", "index", corpus)
    assert (indexed.returncode, indexed.stdout) == (0, f"{corpus}: 300 posts in 1 partition\n")
    found = linker(*search)
    assert found.returncode == 0
    assert len(found.stdout.splitlines()) == 3
