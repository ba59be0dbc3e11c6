"""The attention of the Adaptive Star Transformer: α of each head, and the weights that are exactly zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor

from linker.data.batch import collate
from linker.data.types import LinkedPosts
from linker.data.vocabulary import EncodedText
from linker.models.siamese.word_siamese import WordSiamese
from linker.modules.encoders import star_transformer
from linker.modules.encoders.star_transformer import Cycle, StarTransformerEncoder
from linker.modules.kernels.dispatch import kernels_for
from linker.modules.kernels.inputs import StarInput

EDGES = (1, 8, 16, 32, 64, 128, 256, 512, 1000)
"""Lengths in tokens at which a group of texts begins; the last is where texts are cut."""


@dataclass(frozen=True)
class TextAttention:
    """The relay's attention to one text.

    Attributes:
        tokens: number of tokens.
        zero: share of the weights, tokens × heads, that are exactly 0.
        in_force: exponential of the entropy of the weights on the tokens, a mean over the heads.
    """

    tokens: int
    zero: float
    in_force: float


@torch.no_grad()
def attention_of(model: WordSiamese, text: EncodedText) -> TextAttention:
    """Return the attention of the last relay of a model with the encoder `star_transformer`."""
    encoder = model.encoder
    assert isinstance(encoder, StarTransformerEncoder)
    model.eval()
    batch = collate([text], len(model.vocabulary))
    vectors = model.embedder(batch)[batch.rows]  # (tokens, dim)
    kernels, weights = kernels_for(vectors), []

    def star(inputs: StarInput) -> tuple[Tensor, Tensor, Tensor]:
        result = kernels.star(inputs)
        weights.append(result[2])  # (tokens, heads)
        return result

    recording = SimpleNamespace(ring=kernels.ring, norm=kernels.norm, star=star)
    with patch.object(star_transformer, "kernels_for", lambda _: recording):
        encoder(vectors, batch.lengths)
    return summary(weights[-1].double().numpy())


def summary(weights: np.ndarray) -> TextAttention:
    """Summarize the weights of a text: float, tokens × heads. The relay's own weight is left out."""
    total = weights.sum(axis=0)
    shares = weights[:, total > 0] / total[total > 0]
    positive = np.where(shares > 0, shares, 1.0)
    entropy = -(shares * np.log(positive)).sum(axis=0)
    in_force = float(np.exp(entropy).mean()) if shares.size else 0.0
    return TextAttention(len(weights), float((weights == 0).mean()), in_force)


def attention_rows(models: dict[str, WordSiamese], sets: Iterable[LinkedPosts], most: int = 150) -> str:
    """Return a table: per model and length, the share of zeros and the tokens in force.

    Args:
        models: label → model.
        sets: their articles and posts, the title of an article included, are measured.
        most: maximum number of texts of a length; of more, a sample that is always the same.
    """
    linked = list(sets)
    cells: dict[str, dict[str, str]] = {}
    counts: dict[str, int] = {}
    for label, model in models.items():
        texts = [model.article_tokens(article) for one in linked for article in one.articles]
        texts += [model.post_tokens(post) for one in linked for post in one.posts]
        for name, group in groups(texts, most).items():
            counts[name] = len(group)
            found = [attention_of(model, text) for text in group]
            zero, in_force = np.mean([one.zero for one in found]), np.mean([one.in_force for one in found])
            cells.setdefault(label, {})[name] = f"{100 * zero:.1f} ({in_force:.0f})"
    lines = ["| tokens | texts | " + " | ".join(cells) + " |", "|---" * (len(cells) + 2) + "|"]
    lines += [
        f"| {name} | {count} | " + " | ".join(own[name] for own in cells.values()) + " |"
        for name, count in counts.items()
    ]
    return "\n".join(["% exactly zero (tokens in force):\n", *lines])


def groups(texts: Sequence[EncodedText], most: int) -> dict[str, list[EncodedText]]:
    """Group texts by their number of tokens, shortest first; empty texts and groups are left out."""
    found = {}
    for low, high in zip(EDGES, (*EDGES[1:], None)):
        own = [text for text in texts if low <= len(text.ids) and (high is None or len(text.ids) < high)]
        if own:
            chosen = np.sort(np.random.default_rng(0).permutation(len(own))[:most])
            found[f"{low}–{high - 1}" if high else f"{low}, cut there"] = [own[i] for i in chosen]
    return found


@torch.no_grad()
def head_rows(model: WordSiamese) -> str:
    """Return a table of α per head, ring and star apart, lowest first."""
    lines = ["| | mean | lowest to highest |", "|---|---|---|"]
    encoder = model.encoder
    assert isinstance(encoder, StarTransformerEncoder)
    for number, cycle in enumerate(encoder.cycles, 1):
        assert isinstance(cycle, Cycle)
        of = f", cycle {number}" if len(encoder.cycles) > 1 else ""
        for part, alphas in (("ring", cycle.ring.alphas), ("star", cycle.star.alphas)):
            values = alphas().tolist()
            sorted_values = ", ".join(f"{value:.3f}" for value in sorted(values))
            lines.append(f"| {part}{of} | {np.mean(values):.3f} | {sorted_values} |")
    return "\n".join(lines)
