"""Measure the speed of MiniLM with some of its layers, in float32 and bfloat16, against sentence-transformers.

    python -m benchmarks.quality.layers --posts POSTS [--rounds 5]

Prints a Markdown table: posts per second, medians over alternating rounds, and the smallest cosine between a post's
embeddings in the two precisions. Needs MiniLM (extra `bench`) and a processor with bfloat16 multiplication.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch

from benchmarks.minilm import minilm_folder
from benchmarks.quality.models import sentence_transformer
from linker.data import read_posts
from linker.data.types import LinkedPosts, Post
from linker.models.siamese.transformer import TransformerModel

LAYERS: dict[str, list[int] | None] = {
    "all six": None,
    "0, 1, 3, 5": [0, 1, 3, 5],
    "0, 2, 5": [0, 2, 5],
    "0, 5": [0, 5],
}
Encode = Callable[[Sequence[Post]], np.ndarray]


def in_bfloat16(encode: Encode) -> Encode:
    """The same in bfloat16."""

    def encode_lower(posts: Sequence[Post]) -> np.ndarray:
        with torch.autocast("cpu", torch.bfloat16):
            return encode(posts)

    return encode_lower


def encoders() -> dict[str, tuple[Encode, Encode]]:
    """Of each model: in float32, in bfloat16."""
    mini = sentence_transformer().post_vectors
    found: dict[str, tuple[Encode, Encode]] = {"sentence-transformers": (mini, in_bfloat16(mini))}
    for name, layers in LAYERS.items():
        both = []
        for precision in ("float32", "auto"):
            model = TransformerModel(str(minilm_folder()), layers=layers, precision=precision)
            model.prepare(LinkedPosts([], []))
            both.append(model.post_vectors)
        found[f"linker, layers {name}"] = (both[0], both[1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--posts", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    posts = read_posts(arguments.posts)
    seconds: dict[str, list[list[float]]] = {}
    nearness: dict[str, float] = {}
    models = encoders()
    for _ in range(arguments.rounds):
        for name, both in models.items():
            vectors = []
            for place, encode in enumerate(both):
                started = time.perf_counter()
                vectors.append(encode(posts))
                seconds.setdefault(name, [[], []])[place].append(time.perf_counter() - started)
            nearness[name] = float(np.einsum("ij,ij->i", *vectors).min())
    print(f"{len(posts):,} posts, torch {torch.__version__}, {torch.get_num_threads()} threads\n")
    print("| | float32, posts/s | bfloat16, posts/s | times | least cosine |\n|---|---|---|---|---|")
    for name, both_seconds in seconds.items():
        exact, lower = (len(posts) / statistics.median(own) for own in both_seconds)
        print(f"| {name} | {exact:,.0f} | {lower:,.0f} | {lower / exact:.1f} | {nearness[name]:.5f} |")


if __name__ == "__main__":
    main()
