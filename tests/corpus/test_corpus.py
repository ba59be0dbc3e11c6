"""A corpus as its user meets it: built, added to, killed, damaged, asked."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest

import linker
from linker.common.errors import DataError, LinkerError, ModelError
from linker.corpus import builder as building
from linker.corpus.builder import add_to_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.storage.store import FACTS, Store
from linker.corpus.verify import faults
from linker.data.io.columns import PostColumns
from linker.data.types import Post
from tests.corpus.conftest import add, build_of, some_posts, write_model, write_posts

ARTICLE = "harbour0 harbour1 harbour2 harbour3 w1 w2"


@pytest.fixture
def small_appends(monkeypatch):
    monkeypatch.setattr(building, "POSTS_AT_ONCE", 40)


@pytest.fixture
def built(tmp_path, model_folder, small_appends):
    return build_of(tmp_path / "corpus", some_posts(150), model_folder)


def ids(ranking):
    return [ranked.post.id for ranked in ranking]


def test_pages_make_up_the_whole_even_with_ties(tmp_path, model_folder):
    posts = [{"id": f"p{i}", "text": "harbour1 w1" if i % 2 else "orchard1 w2"} for i in range(30)]
    corpus = Corpus.open(build_of(tmp_path / "corpus", posts, model_folder))
    whole = corpus.rank(ARTICLE, top=None, copies=True)
    assert len(whole) == 30
    assert len({r.score for r in whole}) == 2
    for same in (whole[:15], whole[15:]):
        assert ids(same) == sorted(ids(same), reverse=True)
    pages = [r for offset in range(0, 30, 7) for r in corpus.rank(ARTICLE, 7, offset=offset, copies=True)]
    assert ids(pages) == ids(whole)
    assert [r.rank for r in pages] == list(range(1, 31))


@pytest.mark.parametrize(
    ("conditions", "keeps"),
    [
        ({"lang": ("German", "fr-FR")}, lambda p: p["lang"] in ("de", "fr")),
        ({"since": "2031-05-20"}, lambda p: int(p["created_at"][8:10]) >= 20),
        ({"until": datetime(2031, 5, 3, 12, tzinfo=timezone.utc)}, lambda p: int(p["created_at"][8:10]) < 3),
        ({"where": "json_get_int(extra, 'likes') > 140"}, lambda p: p["likes"] > 140),
        ({"lang": ["Japanese"]}, lambda p: False),
    ],
)
def test_conditions(built, conditions, keeps):
    found = Corpus.open(built).rank(ARTICLE, top=None, **conditions, copies=True)
    assert sorted(ids(found)) == [p["id"] for p in some_posts(150) if keeps(p)]


def test_wrong_condition_is_reported(built):
    with pytest.raises(DataError, match="--where nonsense = 1: cannot be understood"):
        Corpus.open(built).rank(ARTICLE, where="nonsense = 1")


def test_add_encodes_only_what_is_new(built, monkeypatch):
    encoded: list[Post] = []
    from linker.models.embedding_model import EmbeddingModel

    original = EmbeddingModel.post_vectors

    def recorded(model: EmbeddingModel, posts: Sequence[Post]) -> np.ndarray:
        encoded.extend(posts)
        return original(model, posts)

    monkeypatch.setattr(EmbeddingModel, "post_vectors", recorded)
    more = some_posts(20, start=140)
    more.append({"id": "p00003", "text": "quite another text"})
    added = add(built, more)
    assert (added.new, added.known, added.conflicting) == (10, 10, 1)
    assert [post.id for post in encoded] == [f"p{i:05d}" for i in range(150, 160)]
    corpus = Corpus.open(built)
    assert len(corpus) == 160
    assert not list(faults(corpus.store))


_BUILD = """
import sys
from pathlib import Path
from linker.corpus import builder
from linker.corpus.builder import build_corpus
from linker.data.io.columns import PostColumns
builder.POSTS_AT_ONCE = 25
print("ready", flush=True)
build_corpus(Path(sys.argv[1]), [sys.argv[2]], sys.argv[3], PostColumns())
"""


def test_a_killed_build_resumes_without_loss_or_doubling(tmp_path, model_folder):
    posts = write_posts(tmp_path / "posts.jsonl", some_posts(1_500))
    command = [sys.executable, "-c", _BUILD, str(tmp_path / "corpus"), posts, str(model_folder)]
    rng, counts = random.Random(7), []
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0.05, 0.8))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if (tmp_path / "corpus" / FACTS).is_file():
            counts.append(Store.open(tmp_path / "corpus").count())
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert counts == sorted(counts)
    corpus = Corpus.open(tmp_path / "corpus")
    assert not list(faults(corpus.store))
    found = corpus.rank(ARTICLE, top=None, copies=True)
    assert sorted(ids(found)) == [post["id"] for post in some_posts(1_500)]
    expected = linker.load(model_folder).rank(ARTICLE, Path(posts), copies=True)
    assert {r.post.id: pytest.approx(r.score, abs=1e-4) for r in found} == {
        r.post.id: r.score for r in expected
    }


@pytest.mark.parametrize("at_once", [3, 1_000])
def test_changed_posts_are_updated(built, tmp_path, model_folder, monkeypatch, at_once):
    monkeypatch.setattr(building, "POSTS_AT_ONCE", at_once)
    changed = [post | {"text": f"changed {post['id']} harbour1"} for post in some_posts(5)]
    last = changed[0] | {"text": "changed twice"}
    path = write_posts(tmp_path / "new.jsonl", [*changed, *some_posts(2, start=900), last, last])
    expected = {post["id"]: post["text"] for post in [*some_posts(150), *some_posts(2, start=900), *changed]}
    expected[last["id"]] = last["text"]
    skipped = add_to_corpus(built, [path], None, PostColumns())
    assert (skipped.new, skipped.conflicting, skipped.updated) == (2, 6 + 1, 0)
    added = add_to_corpus(built, [path], None, PostColumns(), update=True)
    assert (added.conflicting, added.new - added.updated) == (0, 0)
    found = Corpus.open(built).rank(ARTICLE, top=None, copies=True)
    assert {row.post.id: row.post.text for row in found} == expected
    assert not list(faults(Store.open(built)))
    assert add_to_corpus(built, [path], None, PostColumns()).new == 0


def test_another_model_is_refused(built, tmp_path):
    other = write_model(tmp_path / "other", seed=5)
    with pytest.raises(ModelError, match="is not the model that encoded"):
        Corpus.open(built, other)
    with pytest.raises(LinkerError, match="another model encoded"):
        build_of(built, some_posts(3, start=900), other)


def test_a_moved_model_is_found_again(tmp_path, small_appends):
    model = write_model(tmp_path / "model", seed=1)
    build_of(tmp_path / "corpus", some_posts(5), model)
    os.rename(model, tmp_path / "moved")
    with pytest.raises(ModelError, match=r"no longer at .*model; give its location with --model"):
        Corpus.open(tmp_path / "corpus")
    assert len(Corpus.open(tmp_path / "corpus", tmp_path / "moved")) == 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "damaged"),
        (json.dumps({"format": 99, "linker_version": "9.9"}), "written by linker 9.9 in another format"),
        (json.dumps({"format": 4}), "damaged"),
    ],
)
def test_a_damaged_note(built, content, message):
    (built / FACTS).write_text(content)
    with pytest.raises(DataError, match=message):
        Store.open(built)


def test_what_is_not_a_corpus(tmp_path, model_folder):
    with pytest.raises(DataError, match="corpus not found"):
        Corpus.open(tmp_path / "none")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(DataError, match="not a corpus"):
        Corpus.open(tmp_path / "other")
    with pytest.raises(LinkerError, match="is not empty"):
        build_of(tmp_path / "other", some_posts(3), model_folder)
