"""Words ranked by idf: learned weights and pooling against texts computed one by one, by hand."""

import math

import numpy as np
import pytest
import torch

from linker.common.errors import ConfigError
from linker.config import build
from linker.contrib.deboom2016.word_weights import (
    WordPoolingEncoder,
    WordVectorsIdfEmbedder,
    WordWeightsEncoder,
    interpolated,
)
from linker.data.batch import collate
from linker.data.types import Article, LinkedPosts, Post
from linker.data.vocabulary import Vocabulary, idf_of
from linker.models.files.archive import load_model, save_model
from linker.models.model import Model


def random_texts(count=40, longest=70, dim=5, seed=1):
    """Texts of 1 to 70 tokens; idf is repeated within a text, and some words have no vector."""
    generator = torch.Generator().manual_seed(seed)
    texts = []
    for _ in range(count):
        n = int(torch.randint(1, longest + 1, (1,), generator=generator))
        text = torch.randn(n, dim + 1, generator=generator)
        text[:, -1] = torch.randint(-1, 12, (n,), generator=generator)
        without = torch.rand(n, generator=generator) < 0.1
        text[without] = 0
        text[without, -1] = -torch.inf
        texts.append(text)
    return texts


def encode(encoder, texts):
    return encoder(torch.cat(texts), torch.tensor([len(text) for text in texts]))


def ranked(text):
    """The vectors and idf of the words that count, highest idf first, as numpy."""
    kept = [row for row in text.numpy() if row[-1] != -np.inf]
    kept.sort(key=lambda row: -row[-1])
    return np.array([row[:-1] for row in kept]), np.array([row[-1] for row in kept])


def test_vectors_are_those_of_the_equations_worked_through_word_by_word():
    encoder = WordWeightsEncoder(max_words=20, input_dim=6)
    weights = np.random.default_rng(0).normal(size=20)
    encoder.weights.data = torch.from_numpy(weights).float()
    for text, got in zip(random_texts(), encode(encoder, random_texts())):
        vectors, _ = ranked(text)
        m = len(vectors)
        expected = np.zeros(5)
        for j in range(1, m + 1):
            at = 1 + (j - 1) * 19 / (m - 1) if m > 1 else 1.0
            expected += np.interp(at, np.arange(1, 21), weights) * vectors[j - 1] / m
        np.testing.assert_allclose(got.detach().numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("n", [2, 3, 7, 20, 30, 97])
def test_a_text_of_as_many_words_as_weights_uses_the_weights_themselves(n):
    weights = torch.randn(n)
    assert torch.equal(interpolated(weights, torch.arange(n), torch.full((n,), n)), weights)


def test_other_lengths_run_from_the_first_weight_to_the_last():
    weights = torch.tensor([4.0, 2.0, 0.0])
    for m, expected in (
        (1, [4]),
        (2, [4, 0]),
        (5, [4, 3, 2, 1, 0]),
        (9, [4, 3.5, 3, 2.5, 2, 1.5, 1, 0.5, 0]),
    ):
        torch.testing.assert_close(
            interpolated(weights, torch.arange(m), torch.full((m,), m)), torch.tensor(expected).float()
        )


def test_equal_weights_give_the_mean_and_their_gradient_is_that_of_finite_differences():
    encoder = WordWeightsEncoder(max_words=8, initial=1.0, input_dim=6).double()
    texts = [text.double() for text in random_texts(12, 20)]
    mean = encode(WordPoolingEncoder("mean", input_dim=6), texts)
    torch.testing.assert_close(encode(encoder, texts), mean)
    lengths = torch.tensor([len(text) for text in texts])

    def of_weights(weights):
        return torch.func.functional_call(encoder, {"weights": weights}, (torch.cat(texts), lengths))

    assert torch.autograd.gradcheck(of_weights, torch.randn(8, dtype=torch.float64, requires_grad=True))


@pytest.mark.parametrize(
    ("settings", "by_hand"),
    [
        ({"pool": "max"}, lambda v, idf: v.max(0)),
        ({"pool": "min"}, lambda v, idf: v.min(0)),
        ({"pool": "min_max"}, lambda v, idf: np.concatenate([v.min(0), v.max(0)])),
        ({"pool": "mean", "top": 0.3}, lambda v, idf: v[: math.ceil(round(0.3 * len(v), 9))].mean(0)),
        ({"pool": "max", "top": 0.3}, lambda v, idf: v[: math.ceil(round(0.3 * len(v), 9))].max(0)),
        ({"pool": "mean", "idf_weighted": True}, lambda v, idf: (v * idf[:, None]).mean(0)),
    ],
)
def test_pooling_is_what_it_says_of_the_words_that_count(settings, by_hand):
    encoder = WordPoolingEncoder(**settings, input_dim=6)
    for text, got in zip(random_texts(), encode(encoder, random_texts())):
        vectors, idf = ranked(text)
        expected = by_hand(vectors, idf) if len(vectors) else np.zeros(encoder.output_dim)
        np.testing.assert_allclose(got.numpy(), expected, atol=1e-5)


@pytest.mark.parametrize(
    "encoder", [WordWeightsEncoder(4, input_dim=3), WordPoolingEncoder("max", input_dim=3)]
)
def test_a_text_without_any_known_word_is_the_zero_vector(encoder):
    unknown = torch.tensor([[0.0, 0.0, -torch.inf]])
    known = torch.tensor([[1.0, -2.0, 3.0]])
    vectors = encode(encoder, [unknown, torch.cat([known, unknown]), unknown])
    assert torch.equal(vectors[[0, 2]], torch.zeros(2, 2))
    assert torch.equal(vectors[1], encode(encoder, [known])[0])


def test_idf_by_hand():
    texts = [["a", "b", "a"], ["a", "c"], ["a"], ["b", "a"]]
    expected = [math.log(4 / 5), math.log(4 / 3), math.log(4 / 2), math.log(4)]
    np.testing.assert_allclose(idf_of(["a", "b", "c", "unseen"], texts), expected, rtol=1e-6)


def test_the_embedder_puts_the_idf_behind_each_vector_and_marks_words_without_one():
    vocabulary = Vocabulary(["rare", "the"])
    table = torch.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]])
    idf = torch.tensor([5.0, 2.0, -0.1])
    embedder = WordVectorsIdfEmbedder(2, vocabulary_size=3, pretrained=table, idf=idf)
    batch = collate([vocabulary.encode(["the", "new", "rare"]), vocabulary.encode([])], 3)
    expected = [[3, 4, -0.1], [0, 0, -math.inf], [1, 2, 2], [0, 0, -math.inf]]
    torch.testing.assert_close(embedder(batch)[batch.rows], torch.tensor(expected))


def linked():
    texts = ["the cat the dog", "the cat", "a dog", "the the the"]
    articles = [Article(str(i), text) for i, text in enumerate(texts)]
    return LinkedPosts(articles, [Post("p", "unheard cat", ("0",)), Post("q", "nothing known", ("1",))])


def model_config(tmp_path, **changes):
    file = tmp_path / "vectors.txt"
    file.write_text("the 1 0 0\ncat 0 1 0\ndog 0 0 1\nnever 1 1 1\n")
    config = {
        "type": "siamese",
        "similarity": "euclidean",
        "tokenizer": "whitespace",
        "vectors": {"source": str(file)},
        "embedder": {"type": "word_vectors_idf", "dim": 3},
        "encoder": {"type": "word_weights", "max_words": 2},
    }
    return config | changes


def test_a_model_ranks_by_idf_of_its_training_texts_and_is_the_same_after_loading(tmp_path):
    config, data = model_config(tmp_path), linked()
    model = build(Model, config)
    model.prepare(data)
    model.encoder.weights.data = torch.tensor([2.0, 1.0])
    vectors = model.encode([model.article_tokens(article) for article in data.articles])
    # the is in 3 texts, cat in 3, dog in 2 of 6 (posts count): dog first, and of equals the earlier word.
    expected: list[list[float]] = [
        [(5 / 3 + 1) / 4, (4 / 3) / 4, 2 / 4],
        [2 / 2, 1 / 2, 0],
        [0, 0, 2],
        [(2 + 1.5 + 1) / 3, 0, 0],
    ]
    np.testing.assert_allclose(vectors[1:], expected[1:], atol=1e-6)
    # dog, the, cat, the: weights 2, 5/3, 4/3, 1.
    np.testing.assert_allclose(vectors[0], expected[0], atol=1e-6)
    scores = model.score(data.articles, data.posts)
    np.testing.assert_allclose(scores[1], [-math.hypot(1, 1.5), -math.hypot(1, 0.5)], atol=1e-6)
    save_model(model, tmp_path / "model", {"model": config}, {}, "card")
    (tmp_path / "vectors.txt").unlink()
    np.testing.assert_array_equal(load_model(tmp_path / "model").score(data.articles, data.posts), scores)


def test_without_vectors_the_message_says_what_to_name(tmp_path):
    model = build(Model, model_config(tmp_path, vectors=None))
    with pytest.raises(ConfigError, match="`vectors`"):
        model.prepare(linked())
