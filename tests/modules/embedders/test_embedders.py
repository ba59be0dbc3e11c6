"""The word-vector embedder against the obvious computation, word by word."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from linker.common.errors import ConfigError
from linker.data.batch import TokenBatch, collate
from linker.data.token_axis import subword_hashes
from linker.data.vocabulary import Vocabulary
from linker.modules.embedders import subwords
from linker.modules.embedders.subwords import fit_subwords
from linker.modules.embedders.word_vectors import WordVectorsEmbedder

VOCABULARY = Vocabulary(["cat", "dog", "house"])
TEXTS = ["cat zebra dog dog zebra", "", "x a-very-long-unknown-word cat", "zebra", "émeute 🎉 dog"]
UNKNOWN = ["subwords", "learned", "zero"]


def batch_of(*texts: str) -> TokenBatch:
    return collate([VOCABULARY.encode(text.split()) for text in texts], len(VOCABULARY))


def embedder(unknown: str = "subwords", **options: object) -> WordVectorsEmbedder:
    torch.manual_seed(3)
    options = {"dim": 6, "trainable": True, "buckets": 37, "vocabulary_size": len(VOCABULARY), **options}
    return WordVectorsEmbedder(unknown=unknown, **options)  # type: ignore[arg-type]


def obvious(module: WordVectorsEmbedder, texts: list[str]) -> Tensor:
    rows = []
    for text in texts:
        for token in text.split() or ["<empty>"]:
            if token in VOCABULARY:
                rows.append(module.words.weight[VOCABULARY.words.index(token)])
            elif hasattr(module, "subwords"):
                hashes = subword_hashes(token)
                rows.append(sum(module.subwords[h % 37] for h in hashes) / math.sqrt(len(hashes)))
            elif hasattr(module, "unknown"):
                rows.append(module.unknown[0])
            else:
                rows.append(torch.zeros(6))
    return torch.stack(rows)


def of_tokens(module: WordVectorsEmbedder, batch: TokenBatch) -> Tensor:
    return module(batch)[batch.rows]


@pytest.mark.parametrize("unknown", UNKNOWN)
def test_values_and_gradients_equal_the_obvious_computation(unknown: str) -> None:
    module = embedder(unknown)
    vectors = of_tokens(module, batch_of(*TEXTS))
    expected = obvious(module, TEXTS)
    torch.testing.assert_close(vectors, expected)
    weights = torch.randn_like(vectors)
    parameters = list(module.parameters())
    found = torch.autograd.grad((vectors * weights).sum(), parameters)
    torch.testing.assert_close(found, torch.autograd.grad((expected * weights).sum(), parameters))
    assert all(gradient.abs().sum() > 0 for gradient in found)


def test_pretrained_rows_are_frozen_unless_asked() -> None:
    pretrained = torch.randn(len(VOCABULARY), 6)
    frozen = embedder(trainable=False, pretrained=pretrained)
    assert not frozen.words.weight.requires_grad
    assert [name for name, p in frozen.named_parameters() if p.requires_grad] == ["subwords"]
    torch.testing.assert_close(frozen(batch_of("cat dog")), pretrained[1:3])
    tuned = embedder(pretrained=pretrained)
    assert tuned.words.weight.requires_grad
    with torch.no_grad():
        tuned.words.weight.zero_()
    assert pretrained.abs().sum() > 0  # the caller's matrix is its own


@pytest.mark.parametrize("unknown", ["subwords", "learned"])
def test_unknown_words_are_as_long_as_known_ones(unknown: str) -> None:
    pretrained = torch.randn(len(VOCABULARY), 200)
    pretrained[0] = 0
    norms = pretrained[1:].norm(dim=1)
    for scale in (0.1, 10):
        module = embedder(unknown, dim=200, trainable=False, buckets=5000, pretrained=pretrained * scale)
        words = ["ab", "unknown", "a-much-longer-unknown-word", "xyzzy"]
        lengths = module(batch_of(" ".join(words))).norm(dim=1)
        assert (lengths / (norms.mean() * scale) - 1).abs().max() < 0.35


def test_dropout_only_in_training() -> None:
    module = embedder(dropout=0.5)
    batch = batch_of("cat dog house " * 50)
    assert (module(batch) == 0).float().mean() > 0.3
    module.eval()
    assert (module(batch) == 0).float().mean() == 0


def test_impossible_settings_are_reported() -> None:
    with pytest.raises(ConfigError, match=r"neither pretrained nor trained; .*`vectors`.*`trainable: true`"):
        embedder(trainable=False)
    with pytest.raises(ConfigError, match=r"`dim` is 6, but the word vectors have length 4; set `dim` to 4"):
        embedder(pretrained=torch.zeros(len(VOCABULARY), 4))


def spelling(words: list[str], buckets: int) -> np.ndarray:
    matrix = np.zeros((len(words), buckets))
    for i, word in enumerate(words):
        hashes = subword_hashes(word)
        for h in hashes:
            matrix[i, h % buckets] += len(hashes) ** -0.5
    return matrix


def test_fitted_table_equals_ridge_regression(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subwords, "ITERATIONS", 200)
    words = ["<empty>", "cat", "cats", "dog", "dogged", "é"]
    vectors = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))
    vectors[0] = 0
    start = torch.randn(23, 4, generator=torch.Generator().manual_seed(1))
    a, y = spelling(words[1:], 23), vectors[1:].double().numpy()
    gap = y - y.mean(axis=0) - a @ start.double().numpy()
    expected = start.double().numpy() + np.linalg.solve(a.T @ a + np.eye(23), a.T @ gap)
    np.testing.assert_allclose(fit_subwords(start, words, vectors).numpy(), expected, atol=1e-5)


def test_an_unknown_word_comes_near_words_spelled_like_it() -> None:
    generator = torch.Generator().manual_seed(0)
    stems, endings = ["walk", "talk", "jump", "climb", "shout"], ["", "s", "ed", "er", "ers"]
    centres = torch.randn(len(stems), 50, generator=generator)
    words = ["<empty>", *(stem + ending for stem in stems for ending in endings)]
    vectors = torch.cat([torch.zeros(1, 50), centres.repeat_interleave(len(endings), 0)])
    vocabulary = Vocabulary(words)
    module = WordVectorsEmbedder(50, vocabulary_size=len(words), pretrained=vectors, words=words)
    unknown = module(collate([vocabulary.encode(["walking", "jumping", "shouting", "🎉"])], len(words)))
    cosine = torch.nn.functional.cosine_similarity(unknown[:3, None], centres[None], dim=-1)
    assert cosine.argmax(dim=1).tolist() == [0, 2, 4]
    assert unknown[3].norm() > 0  # no n-gram of it is known, still it is something


def test_a_fit_without_any_vector_keeps_the_table() -> None:
    table = torch.randn(5, 3)
    assert torch.equal(fit_subwords(table, ["<empty>"], torch.zeros(1, 3)), table)
