"""Pools with planted relevant posts."""

import numpy as np

from linker.annotation.build_pool import build_pool
from linker.annotation.simulation.task import Task
from linker.data.types import Article, Post
from linker.models.model import EncoderModel, Model
from linker.models.tfidf import TfidfModel

NEWS = [
    "ferry", "island", "reef", "rescue", "captain", "passengers", "crew", "harbour", "lifeboat", "coastguard",
]  # fmt: skip
SLANG = ["boat", "aground", "lol", "omg", "wheelhouse", "creels", "stuck", "pier", "tamsin", "skipper"]
REST = [
    a + b
    for a in ("bo", "ca", "du", "fe", "gi", "ho", "ja")
    for b in ("ran", "lek", "mit", "sor", "pul", "van")
]


class VectorModel(EncoderModel):
    """Counts of letters as vectors: a model with vectors that needs no training."""

    def _vectors(self, texts: list[str]) -> np.ndarray:
        counts = np.array(
            [[text.count(letter) for letter in "abcdefghijklmnop"] for text in texts], dtype=np.float32
        )
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-6)

    def article_vectors(self, articles):
        return self._vectors([article.full_text for article in articles])

    def post_vectors(self, posts):
        return self._vectors([post.text for post in posts])


def planted(seed: int, size: int = 300, share: float = 0.1, model: Model | None = None) -> Task:
    """Relevant posts share words with each other, only some of them with the article."""
    generator = np.random.default_rng(seed)
    posts, relevant = [], set()
    for number in range(size):
        words = list(generator.choice(REST, 9))
        if generator.random() < share:
            words[:3] = generator.choice(SLANG, 3)
            words[3:4] = generator.choice(NEWS, 1) if generator.random() < 0.4 else []
            relevant.add(str(number))
        posts.append(Post(str(number), " ".join(generator.permutation(words))))
    article = Article("a", " ".join(NEWS), "ferry on the reef")
    return Task.of("planted", build_pool([article], posts, model or TfidfModel()), relevant)
