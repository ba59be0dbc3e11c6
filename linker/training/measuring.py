"""The dev metrics of a model, computed by all processes together."""

from __future__ import annotations

import numpy as np
import torch

from linker.data.types import LinkedPosts
from linker.data.vocabulary import EncodedText
from linker.evaluation.protocol import evaluate
from linker.models.model import Model
from linker.models.siamese import SiameseModel
from linker.training.workers import Workers


def dev_metrics(
    model: SiameseModel, whole: Model, dev: LinkedPosts | None, workers: Workers
) -> dict[str, float]:
    """All metrics, the same in every process; empty without a dev set.

    Args:
        model: what is trained.
        whole: what is judged: the model, or what it is a part of, which the first process then scores with alone.
        dev: articles and posts.
        workers: all processes.
    """
    if dev is None:
        return {}
    if workers.size == 1 or whole is not model:
        metrics = evaluate(whole.score(dev.articles, dev.posts), dev) if workers.first else {}
        return workers.all_of(metrics)[0]
    articles = _encode(model, [model.article_tokens(article) for article in dev.articles], workers)
    posts = _encode(model, [model.post_tokens(post) for post in dev.posts], workers)
    metrics = evaluate(model.similarities(articles, posts), dev) if workers.first else {}
    return workers.all_of(metrics)[0]


def _encode(model: SiameseModel, texts: list[EncodedText], workers: Workers) -> np.ndarray:
    """What `SiameseModel.encode` gives: float32, texts × output_dim."""
    shares = workers.shares([len(text.ids) for text in texts])
    own = model.encode([texts[i] for i in shares[workers.rank]])
    return workers.gather(torch.from_numpy(own).to(workers.device), shares).cpu().numpy()
