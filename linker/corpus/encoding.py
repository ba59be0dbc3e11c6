"""What a corpus stores of posts beside their fields: embeddings, signatures, words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from linker.common.errors import ModelError
from linker.corpus.indexes.near_duplicates import SIGNATURES, signed
from linker.corpus.indexes.vectors import VECTORS, packed
from linker.corpus.indexes.words import words_file, words_of
from linker.data.types import Post
from linker.models.article_softmax import ArticleSoftmaxModel
from linker.models.bundled_word_vectors import BundledWordVectorsModel
from linker.models.elapsed_time import ElapsedTimeModel
from linker.models.ensemble import EnsembleModel
from linker.models.lexical import BM25Model, TfidfModel
from linker.models.model import Model, embedding_submodel

#: Stop words of BM25 by `--fusion zscore`, and of explanations.
ENGLISH = "english"


def encoded(model: Model, posts: Sequence[Post]) -> dict[str, dict[str, np.ndarray]]:
    """Return the files of arrays that a corpus stores of some posts.

    Args:
        model: the model, which `check_parts` accepts.
        posts: the posts.
    """
    texts = [post.text for post in posts]
    files = {}
    for name, part in vector_parts(model).items():
        vectors = part.post_vectors(posts)
        assert vectors is not None  # it has vectors
        files[name] = packed(vectors)
    files[SIGNATURES] = signed(texts)
    for stop_words in word_lists(model):
        files[words_file(stop_words)] = words_of(texts, stop_words)
    return files


def vector_parts(model: Model) -> Mapping[str, Model]:
    """Return the parts of a model that have embeddings, by the names of their files; the first part is `vectors`."""
    first = embedding_submodel(model)
    parts = [part.vectors if isinstance(part, BundledWordVectorsModel) else part for part in leaves(model)]
    others = [
        part for part in parts if part is not first and type(part).post_vectors is not Model.post_vectors
    ]
    named = {f"{VECTORS}-{number}": part for number, part in enumerate(others, start=1)}
    return named if first is None else {VECTORS: first, **named}


def word_lists(model: Model) -> Sequence[str]:
    """Return the lists of stop words without which a model counts words, but for those of other languages."""
    found = {ENGLISH: True}
    for part in leaves(model):
        if isinstance(part, (TfidfModel, BM25Model)) and part.stop_words != "by_language":
            found[part.stop_words] = True
    return list(found)


def check_parts(model: Model) -> Model:
    """Return the first part of a model that has embeddings, after checking that a corpus can score all parts.

    Raises:
        ModelError: if no part has embeddings, or a corpus cannot score a part.
    """
    first = embedding_submodel(model)
    if first is None:
        raise ModelError("has no embeddings to store in a corpus; give a trained model folder")
    for part in leaves(model):
        known = (TfidfModel, BM25Model, ElapsedTimeModel, BundledWordVectorsModel)
        if not isinstance(part, known) and type(part).post_vectors is Model.post_vectors:
            raise ModelError(
                f"its part {type(part).__name__} cannot score the posts of a corpus; rank the files of posts (--posts)"
            )
    for part in _inner(model):
        if isinstance(part, EnsembleModel) and part.fusion == "zscore_all":
            raise ModelError(
                "has the fusion `zscore_all`, over all articles at once, but a corpus is searched for one article; "
                "use `sum` or `zscore`"
            )
    return first


def leaves(model: Model) -> Iterator[Model]:
    """Yield the models that contain no others, in order."""
    if isinstance(model, (ArticleSoftmaxModel, EnsembleModel)):
        for part in model.submodels():
            yield from leaves(part)
    else:
        yield model


def _inner(model: Model) -> Iterator[Model]:
    """Yield the model and the models that it wraps, from the outside in."""
    if isinstance(model, (ArticleSoftmaxModel, EnsembleModel)):
        yield model
        for part in model.submodels():
            yield from _inner(part)
