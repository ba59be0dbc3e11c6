"""The dev metrics of a model, computed by all processes together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from linker.data.types import LinkedPosts
from linker.evaluation.evaluate import evaluate
from linker.models.model import Model, Text
from linker.models.siamese.siamese import SiameseModel
from linker.training.distributed.context import DistributedContext


def dev_metrics(
    model: SiameseModel, whole: Model, dev: LinkedPosts | None, workers: DistributedContext
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
        metrics = evaluate(whole.score(dev.articles, dev.posts), dev) if workers.is_main else {}
        return workers.all_gather_object(metrics)[0]
    articles = _encode(model.article_vectors, dev.articles, [len(a.full_text) for a in dev.articles], workers)
    posts = _encode(model.post_vectors, dev.posts, [len(post.text) for post in dev.posts], workers)
    metrics = evaluate(model.similarities(articles, posts), dev) if workers.is_main else {}
    return workers.all_gather_object(metrics)[0]


def _encode(
    encode: Callable[[Sequence[Text]], np.ndarray],
    texts: Sequence[Text],
    lengths: Sequence[int],
    workers: DistributedContext,
) -> np.ndarray:
    """What `encode` gives, of which every process does a share: float32, texts × dim."""
    shares = workers.split_by_tokens(list(lengths))
    own = encode([texts[i] for i in shares[workers.rank]])
    return workers.gather(torch.from_numpy(own).to(workers.device), shares).cpu().numpy()
