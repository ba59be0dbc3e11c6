"""Rankings of a corpus are read as they are gone through."""

import csv
import json

import pytest

from linker.corpus.corpus import Corpus
from linker.corpus.storage.rows import Rows
from linker.ranking import ranked_post, search
from linker.ranking.output import write_rankings
from tests.corpus.conftest import build_of, some_posts

ARTICLE = "harbour0 harbour1 harbour2 harbour3 w1 w2"


@pytest.fixture
def corpus(tmp_path, model_folder):
    posts = some_posts(60)
    posts[7]["a field of one post"] = [1, "two"]
    return Corpus.open(build_of(tmp_path / "corpus", posts, model_folder))


@pytest.fixture
def read(monkeypatch):
    """How many posts were read at once, each time."""
    sizes: list[int] = []
    whole = Rows.at

    def at(self, places, columns):
        if len(columns) > 2:  # not ids of posts with equal scores, nor the sample of languages
            sizes.append(len(places))
        return whole(self, places, columns)

    monkeypatch.setattr(Rows, "at", at)
    for module in (ranked_post, search):
        monkeypatch.setattr(module, "AT_ONCE", 7)
    return sizes


def test_only_what_is_looked_at_is_read(corpus, read):
    expected = list(corpus.rank(ARTICLE, None, copies=True))
    assert (sum(read), max(read)) == (60, 7)
    read.clear()
    lazily = corpus.rank(ARTICLE, None, copies=True)
    assert len(lazily) == 60
    assert read == []
    assert (lazily[0], lazily[-1]) == (expected[0], expected[-1])
    assert lazily[3:9:2] == expected[3:9:2]
    assert read == [1, 1, 3]
    with pytest.raises(IndexError):
        lazily[60]
    assert list(lazily) == list(lazily) == expected


@pytest.mark.parametrize("format_", ["csv", "jsonl", "trec"])
def test_written_as_it_is_read(corpus, read, tmp_path, format_):
    lazily = corpus.rank(ARTICLE, None, copies=True)
    write_rankings([lazily], tmp_path / "out", format_)
    assert (sum(read), max(read)) == (60, 7)
    expected = [one.post.id for one in lazily]
    with open(tmp_path / "out", newline="") as file:
        if format_ == "csv":
            rows = list(csv.DictReader(file))
            assert {row["id"]: row["a field of one post"] for row in rows if row["a field of one post"]} == {
                "p00007": "1, two"
            }
            got = [row["id"] for row in rows]
        elif format_ == "jsonl":
            got = [json.loads(line)["id"] for line in file]
        else:
            got = [line.split()[2] for line in file]
    assert got == expected
