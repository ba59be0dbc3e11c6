"""Corpora with files of texts that were not made `plain`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linker.common.errors import DataError
from linker.corpus.builder import build_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.deletion import condition_of, delete_posts
from linker.corpus.export import export_parquet
from linker.corpus.storage.array_files import ArrayFiles
from linker.corpus.storage.store import Store
from linker.corpus.verify import faults
from linker.data.io.columns import PostColumns
from linker.data.types import Post
from linker.models.embedding_model import EmbeddingModel
from tests.conftest import toy_posts
from tests.corpus.conftest import some_posts, write_posts


def test_files_of_texts_that_were_not_plain_are_computed_again(
    tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = some_posts(20)
    posts[7]["text"] = posts[6]["text"].translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})
    path = write_posts(tmp_path / "posts.jsonl", posts)
    build_corpus(tmp_path / "corpus", [path], str(model_folder), PostColumns())
    (shard,) = (tmp_path / "corpus" / "shards").glob("*/")
    article = toy_posts().articles[0]

    def ranked(fusion: str) -> list[tuple[str, float, int]]:
        rows = Corpus.open(tmp_path / "corpus").rank(article, top=None, copies=True, fusion=fusion)
        return [(row.post.id, row.score, row.copies) for row in rows]

    expected = [ranked(fusion) for fusion in ("none", "zscore")]
    files = ArrayFiles(shard)
    for name, former in (("embeddings", "vectors"), ("plain-words.english", "words.english")):
        arrays = {key: np.array(values) for key, values in (files.read(name) or {}).items()}
        arrays.get("values", np.zeros((8, 1)))[7] = 0.1  # as of words that the model did not know
        files.write(former, arrays)
        files.remove(name)
    files.remove("plain-signatures")

    with pytest.raises(DataError, match="search the corpus, which computes them again"):
        export_parquet(Store.open(tmp_path / "corpus"), tmp_path / "posts.parquet")
    encoded: list[str] = []
    post_vectors = EmbeddingModel.post_vectors

    def counted(self: EmbeddingModel, posts: list[Post]) -> np.ndarray:
        encoded.extend(post.text for post in posts)
        return post_vectors(self, posts)

    monkeypatch.setattr(EmbeddingModel, "post_vectors", counted)
    assert [ranked(fusion) for fusion in ("none", "zscore")] == expected
    assert encoded == [posts[7]["text"]]  # the others are still right
    of_posts = {id_: score for id_, score, _ in expected[0]}
    assert of_posts["p00006"] == pytest.approx(of_posts["p00007"], abs=1e-4)
    store = Store.open(tmp_path / "corpus")
    delete_posts(store, condition_of(["p00001"]))
    assert "words.english" not in files.names()
    assert not list(faults(store))
