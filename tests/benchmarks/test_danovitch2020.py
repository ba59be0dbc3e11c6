"""Attention that is exactly zero, against counting by hand."""

import numpy as np
import pytest

from benchmarks.papers.danovitch2020_attention import attention_of, attention_rows, groups, head_rows, summary
from linker.config import build
from linker.data.types import Article, LinkedPosts, Post
from linker.data.vocabulary import EncodedText
from linker.models.model import Model


def star_model(alpha):
    """A small model and its data: a short post and a long article."""
    words = [f"word{number}" for number in range(40)]
    rng = np.random.default_rng(0)
    long = " ".join(rng.choice(words, 300))
    linked = LinkedPosts([Article("a", long)], [Post("p", " ".join(words[:6]), ("a",))])
    config = {
        "type": "siamese",
        "encoder": {"type": "star_transformer", "num_heads": 2, "alpha": alpha, "score": "cosine"},
        "embedder": {"type": "word_vectors", "dim": 8, "trainable": True},
        "tokenizer": "social",
        "min_count": 1,
    }
    model = build(Model, config)
    model.prepare(linked)
    return model, linked


def test_weights_of_a_text_are_summarized():
    even = summary(np.full((4, 2), 0.2))
    assert (even.tokens, even.zero) == (4, 0)
    assert even.in_force == pytest.approx(4)
    half = summary(np.array([[0.5, 0.2], [0.5, 0.0], [0.0, 0.0], [0.0, 0.0]]))
    assert half.zero == pytest.approx(5 / 8)
    assert half.in_force == pytest.approx((2 + 1) / 2)
    assert summary(np.zeros((3, 1))).zero == 1


def test_softmax_has_no_zeros_and_sparsemax_has_more_in_longer_texts():
    model, linked = star_model(1.0)
    soft = attention_of(model, model.article_tokens(linked.articles[0]))
    assert (soft.tokens, soft.zero) == (300, 0)
    sparse, _ = star_model(2.0)
    short = attention_of(sparse, sparse.post_tokens(linked.posts[0]))
    long = attention_of(sparse, sparse.article_tokens(linked.articles[0]))
    assert long.zero > short.zero
    assert long.in_force < soft.in_force
    table = attention_rows({"softmax": model, "sparsemax": sparse}, [linked])
    assert (
        f"| 256–511 | 1 | 0.0 ({soft.in_force:.0f}) | {100 * long.zero:.1f} ({long.in_force:.0f}) |" in table
    )
    assert "| 1–7 | 1 |" in table


def test_the_learned_alphas_start_at_one_and_a_half():
    model, _ = star_model(None)
    assert "| ring | 1.500 | 1.500, 1.500 |" in head_rows(model)
    assert "| star | 1.500 | 1.500, 1.500 |" in head_rows(model)


def test_texts_are_grouped_by_length():
    texts = [EncodedText(np.zeros(length, np.int32), ()) for length in (0, 1, 7, 8, 999, 1000)]
    found = {name: [len(text.ids) for text in own] for name, own in groups(texts, 10).items()}
    assert found == {"1–7": [1, 7], "8–15": [8], "512–999": [999], "1000, cut there": [1000]}
    assert len(groups([EncodedText(np.zeros(1, np.int32), ())] * 30, 10)["1–7"]) == 10
