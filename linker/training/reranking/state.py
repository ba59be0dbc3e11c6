"""The training step of a cross-encoder."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from typing_extensions import override

from linker.common.errors import ConfigError
from linker.data.vocabulary import EncodedText
from linker.models.reranking.cross_encoder import CrossEncoderModel
from linker.modules.losses.listwise import ListwiseLoss
from linker.training.batch_sampler import PairBatch
from linker.training.reranking.hard_negatives import HardNegativesSampler, ListBatch
from linker.training.training_state import TrainingState, TrainingTask


class RerankingState(TrainingState):
    """The state of a run that trains a cross-encoder: a batch has lists of pairs instead of articles and posts.

    Args:
        task: what is trained; its model is a `cross_encoder`, its loss is `listwise`.
        sampler: `hard_negatives`.
        options: those of `TrainingState`.

    Raises:
        ConfigError: if loss or sampler are others, or a memory bank is configured.
    """

    def __init__(self, task: TrainingTask, *, sampler: Any, **options: Any) -> None:
        if not isinstance(task.loss, ListwiseLoss):
            raise ConfigError("loss: a cross_encoder is trained with the loss `listwise`")
        if not isinstance(sampler, HardNegativesSampler):
            raise ConfigError("trainer.batches: a cross_encoder is trained with batches of `hard_negatives`")
        if options.get("memory") is not None:
            raise ConfigError("trainer.memory: a cross_encoder has no embeddings to keep; set it to null")
        assert isinstance(task.model, CrossEncoderModel)
        self._network, self._listwise = task.model, task.loss
        super().__init__(task, sampler=sampler, **options)

    @override
    def _texts(self, batch: PairBatch) -> list[EncodedText]:
        pairs = zip(batch.posts, batch.articles)
        return [self._network.joined(self.posts[j], self.articles[i]) for j, i in pairs]

    @override
    def _loss_of(self, vectors: Tensor, batch: PairBatch) -> tuple[Tensor, dict[str, float]]:
        assert isinstance(batch, ListBatch)  # of the sampler
        scores = vectors.view(batch.lists, -1)  # (lists, pairs of a list)
        return self._listwise.list_loss(scores), {"lists": float(batch.lists)}
