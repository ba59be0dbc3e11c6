"""The dev metrics of a model, computed by all processes together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from linker.evaluation.evaluate import ARTICLE_METRICS, PAIR_METRICS, evaluate
from linker.models.model import Text
from linker.training.distillation.loss import TEACHER_COSINE, DistillationLoss
from linker.training.distributed.context import DistributedContext
from linker.training.training_state import TrainingTask

#: The metrics that can choose the best epoch.
METRICS = [*PAIR_METRICS, *ARTICLE_METRICS, TEACHER_COSINE]


def dev_metrics(task: TrainingTask) -> dict[str, float]:
    """Measure the model on the dev set.

    Args:
        task: the model, its dev set, and the processes that share the work. A `whole` that is more than the model is
            scored by the main process alone.

    Returns:
        All metrics by name, equal in every process; none without a dev set.
    """
    model, dev, workers = task.model, task.dev, task.workers
    whole = task.whole or model
    if dev is None:
        return {}
    post_lengths = [len(post.text) for post in dev.posts]
    if isinstance(task.loss, DistillationLoss):
        metrics = task.loss.evaluate(_encode(model.post_vectors, dev.posts, post_lengths, workers))
    elif workers.size == 1 or whole is not model:
        metrics = evaluate(whole.score(dev.articles, dev.posts), dev) if workers.is_main else {}
    else:
        lengths = [len(article.full_text) for article in dev.articles]
        articles = _encode(model.article_vectors, dev.articles, lengths, workers)
        posts = _encode(model.post_vectors, dev.posts, post_lengths, workers)
        metrics = evaluate(model.similarities(articles, posts), dev) if workers.is_main else {}
    return workers.all_gather_object(metrics)[0]


def _encode(
    encode: Callable[[Sequence[Text]], np.ndarray],
    texts: Sequence[Text],
    lengths: Sequence[int],
    workers: DistributedContext,
) -> np.ndarray:
    """Return the vectors of all texts, of which every process encodes a share: float32, texts × dim."""
    shares = workers.split_by_tokens(list(lengths))
    vectors = encode([texts[i] for i in shares[workers.rank]])
    return workers.gather(torch.from_numpy(vectors).to(workers.device), shares).cpu().numpy()
