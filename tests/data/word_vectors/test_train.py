"""`train_vectors`: what it reads, what it writes, and that a seed makes it repeatable."""

from __future__ import annotations

import builtins
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from linker.common.errors import DataError, LinkerError
from linker.data.readers.texts import texts_of
from linker.data.tokenizers.tokenizer import Tokenizer
from linker.data.word_vectors import train
from linker.data.word_vectors.file import VectorFile
from linker.data.word_vectors.train import train_vectors, write_vectors


class Spaces(Tokenizer):
    def tokenize(self, text: str) -> list[str]:
        return text.split()


def two_topics(count: int = 1500) -> list[str]:
    # Words of one topic (even or odd numbers) stand together, words of different topics never do.
    generator = np.random.default_rng(0)
    return [" ".join(f"{2 * n + i % 2}" for n in generator.integers(0, 100, 12)) for i in range(count)]


def test_words_of_one_topic_come_together(tmp_path: Path) -> None:
    out = tmp_path / "v.txt.gz"
    counts = train_vectors(two_topics(), Spaces(), out, dim=16, epochs=30)
    assert counts == (200, 1500 * 12)
    words, matrix = VectorFile(str(out)).read()
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    cosine = matrix @ matrix.T
    np.fill_diagonal(cosine, -1)
    parity = np.array([int(word) % 2 for word in words])
    neighbors = np.argsort(-cosine)[:, :20]
    assert sorted(map(int, words)) == list(range(200))
    assert (parity[neighbors] == parity[:, None]).mean() > 0.9


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / f"{i}.txt.gz" for i in range(3)]
    for file, seed in zip(files, (1, 1, 2)):
        train_vectors(two_topics(60), Spaces(), file, dim=8, epochs=2, seed=seed)
    first, again, other = (file.read_bytes() for file in files)
    assert first == again
    assert first != other


def test_texts_count_once_and_long_ones_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "LONGEST_TEXT", 3)
    out = tmp_path / "v.txt"
    assert train_vectors(["a b c d e", "a b c d e", "e f"], Spaces(), out, dim=4, min_count=1) == (6, 7)
    assert out.read_text().startswith("6 4\n")
    assert train_vectors(["a b c d e", "a b c d e", "e f"], Spaces(), out, dim=4, min_count=2) == (1, 7)


def test_training_begins_with_given_vectors(tmp_path: Path) -> None:
    start, out = tmp_path / "start.txt", tmp_path / "v.txt"
    given = np.random.default_rng(0).normal(size=(2, 4)).astype(np.float32) * 100
    write_vectors(start, ["A", "absent"], given)
    # So long are the given vectors that the little training there is hardly turns them.
    train_vectors(["a b c a b c"], Spaces(), out, dim=4, min_count=1, epochs=1, start=str(start))
    words, matrix = VectorFile(str(out)).read()
    assert sorted(words) == ["a", "b", "c"]
    np.testing.assert_allclose(matrix[words.index("a")], given[0], atol=1)
    assert np.abs(matrix[words.index("b")]).max() < 1
    with pytest.raises(DataError, match=r"start\.txt: vectors of length 4, not 5; give --dim 4"):
        train_vectors(["a b c"], Spaces(), out, dim=5, min_count=1, start=str(start))


def test_too_few_words_leave_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "v.txt"
    out.write_text("old")
    with pytest.raises(DataError, match="no word occurs 3 times in 2 tokens; lower --min-count"):
        train_vectors(["a b"], Spaces(), out)
    assert out.read_text() == "old"


def test_missing_gensim_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: object, **kwargs: object) -> object:
        if name.startswith("gensim"):
            raise ImportError(name)
        return real(name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(LinkerError, match=r"pip install 'article-linker\[vectors\]'"):
        train_vectors(["a b"], Spaces(), tmp_path / "v.txt")


@pytest.mark.parametrize("name", ["v.txt", "v.txt.gz"])
def test_written_vectors_are_read_again(tmp_path: Path, name: str) -> None:
    matrix = np.array([[1.5, -2e-7, 3], [0, 1e9, -1 / 3]], dtype=np.float32)
    write_vectors(tmp_path / name, ["é", "<user>"], matrix)
    words, again = VectorFile(str(tmp_path / name)).read()
    assert words == ["é", "<user>"]
    np.testing.assert_allclose(again, matrix, rtol=1e-4)
    if name.endswith("gz"):
        assert gzip.decompress((tmp_path / name).read_bytes()).startswith(b"2 3\n\xc3\xa9 1.5 -2e-07 3\n")


def test_texts_of_all_named_columns(tmp_path: Path) -> None:
    articles, posts = tmp_path / "articles.jsonl", tmp_path / "posts.csv"
    articles.write_text(
        "".join(
            json.dumps(row) + "\n"
            for row in [{"title": "T", "text": "B", "id": 1}, {"title": None, "text": ""}]
        )
    )
    posts.write_text("id,text\n1,hello there\n")
    assert list(texts_of([str(articles), str(posts)], ["title", "text"])) == ["T", "B", "hello there"]
    with pytest.raises(
        DataError, match=r"posts\.csv: column body is missing .columns: id, text.; .*--column"
    ):
        list(texts_of([str(posts)], ["body"]))
    articles.write_text('{"text": "a"}\n{broken\n')
    with pytest.raises(DataError, match=r"articles\.jsonl, line 2"):
        list(texts_of([str(articles)], ["text"]))
