"""Token embeddings and tokenizer of the multilingual part of `best`; `scripts/make_pretrained.py` writes them.

The whole vocabulary is kept: where a script has a twentieth of its tokens, as Malayalam had, Hindi loses 12 points of
MAP and Punjabi 20; where they are quantized by groups, 2 and none (benchmarks/quality/results/choices.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]
from sklearn.cluster import KMeans

from linker.common.console import progress_bar
from linker.models.onnx.token_embeddings import LARGEST, ZERO
from scripts.multilingual_heads import sampled

_CENTROIDS, _ROWS_OF_CENTROIDS, _ITERATIONS = 256, 40_000, 15


def frequent_tokens(
    tokenizer: Any, links: Sequence[Path], of_links: int = 50_000, count: int = 62_000
) -> np.ndarray:
    """Return which tokens are in 4 bits: bool, (tokens,).

    Args:
        tokenizer: a `tokenizers.Tokenizer`, whose ids ascend from the most probable to the least.
        links: folders of articles and posts, each counted once.
        of_links: up to so many are the most frequent tokens of the links, the others the most probable.
        count: of the tokens in 4 bits; 62,000 fit the wheel.
    """
    shares = np.zeros(tokenizer.get_vocab_size())
    for folder in links:
        linked = sampled(folder)
        texts = [article.full_text for article in linked.articles] + [post.text for post in linked.posts]
        ids = np.concatenate([text.ids for text in tokenizer.encode_batch(texts)])
        shares += np.bincount(ids, minlength=len(shares)) / len(ids)
    frequent = np.zeros(len(shares), dtype=bool)
    frequent[np.argsort(-shares, kind="stable")[: min(of_links, np.count_nonzero(shares))]] = True
    frequent[np.flatnonzero(~frequent)[: max(0, count - frequent.sum())]] = True
    return frequent


def quantized(matrix: np.ndarray, frequent: np.ndarray, width: int = 6) -> dict[str, np.ndarray]:
    """Return the arrays of `linker.models.onnx.token_embeddings.TokenEmbeddings`.

    Args:
        matrix: float32, tokens × dim; dim is a multiple of 32, or less and even.
        frequent: bool, (tokens,).
        width: numbers of a group.
    """
    packed, scales = in_four_bits(matrix[frequent])
    codes, centroids = in_groups(matrix[~frequent], width)
    bits = np.packbits(frequent)
    return {"packed": packed, "scales": scales, "codes": codes, "centroids": centroids, "frequent": bits}


def in_four_bits(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers and the scales of blocks of 32."""
    blocks = matrix.reshape(len(matrix), max(1, matrix.shape[1] // 32), -1)
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=2)[..., None], axis=2)[..., 0]
    scales = (largest / -ZERO).astype(np.float16)
    divisors = np.where(scales == 0, 1, scales).astype(np.float32)[..., None]
    numbers = np.clip(np.rint(blocks / divisors) + ZERO, 0, LARGEST).astype(np.uint8).reshape(matrix.shape)
    return numbers[:, ::2] | numbers[:, 1::2] << 4, scales


def in_groups(matrix: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the centroid of each group of a row: uint8, rows × groups; and the centroids: groups × 256 × width."""
    rows = np.random.default_rng(0).permutation(len(matrix))[:_ROWS_OF_CENTROIDS]
    groups = np.split(matrix, matrix.shape[1] // width, axis=1)
    codes, centroids = [], []
    with progress_bar() as progress:
        for group in progress.track(groups, description="token embeddings"):
            number = min(_CENTROIDS, len(rows))
            means = KMeans(number, init="random", n_init=1, max_iter=_ITERATIONS, random_state=0)
            codes.append(means.fit(group[rows]).predict(group).astype(np.uint8))
            centroids.append(means.cluster_centers_.astype(np.float16))
    return np.stack(codes, axis=1), np.stack(centroids)


def split_tokenizer(tokenizer: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """Return a model of SentencePiece with the tokens of a `tokenizer.json`, and a tokenizer that only normalizes."""
    model = ModelProto()
    model.normalizer_spec.name = "identity"
    ids = {token: number for number, (token, _) in enumerate(tokenizer["model"]["vocab"])}
    spec = model.trainer_spec
    spec.model_type, spec.vocab_size = spec.UNIGRAM, len(ids)
    spec.bos_id, spec.pad_id, spec.eos_id, spec.unk_id = (
        ids[name] for name in ("<s>", "<pad>", "</s>", "<unk>")
    )
    special = {token["content"] for token in tokenizer["added_tokens"]}
    kind = ModelProto.SentencePiece
    for token, score in tokenizer["model"]["vocab"]:
        type_ = kind.UNKNOWN if token == "<unk>" else kind.CONTROL if token in special else kind.NORMAL
        # Further digits of the logarithm of a probability cannot be compressed.
        model.pieces.add(piece=token, score=round(score * 8192) / 8192, type=type_)
    unknown = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0]]}
    parts = dict.fromkeys(("truncation", "padding", "pre_tokenizer", "post_processor", "decoder"))
    rest = {"version": "1.0", "added_tokens": [], "normalizer": tokenizer["normalizer"], "model": unknown}
    return model.SerializeToString(), parts | rest
