"""A training run's state: the model and its optimizer, how far it has come, and the training step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer as TorchOptimizer

from linker.common.console import progress_bar
from linker.common.errors import ConfigError, LinkerError
from linker.data.types import LinkedPosts
from linker.data.vocabulary import EncodedText
from linker.models.model import Model
from linker.models.siamese.siamese import SiameseModel
from linker.modules.kernels.dropout import Masks, mixed
from linker.modules.losses.loss import Loss
from linker.modules.miners import Miner
from linker.modules.precision import Precision, lower_type
from linker.training.batch_sampler import BatchSampler, PairBatch
from linker.training.distributed.context import DistributedContext
from linker.training.distributed.errors import add_step_context
from linker.training.grad_cache import CachedBatch
from linker.training.optimizers import Optimizer, Schedule, set_step


@dataclass
class TrainingTask:
    """What is trained, and on what.

    Attributes:
        model: a prepared model; training changes its weights.
        miner: chooses the pairs of a batch.
        loss: computed over the chosen pairs.
        train: the training set.
        dev: the dev set, by which the best epoch is chosen; without it the last epoch counts as best.
        seed: decides the order of the batches and dropout.
        workers: the processes that share the work.
        whole: the model that the dev set is scored with, if `model` is only a part of it.
    """

    model: SiameseModel
    miner: Miner
    loss: Loss
    train: LinkedPosts
    dev: LinkedPosts | None = None
    seed: int = 13
    workers: DistributedContext = field(default_factory=DistributedContext)
    whole: Model | None = None


@dataclass
class TrainingResult:
    """The history of a run.

    Attributes:
        epochs: the dev metrics after each epoch, in order; empty dicts without a dev set.
        losses: the mean training loss of each epoch.
        best_epoch: counted from 1; 0 if nothing was trained.
        best_state: the weights after the best epoch.
        stopped_by: number of the signal that ended the run early (SIGINT for Ctrl-C), else 0.
    """

    epochs: list[dict[str, float]] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    best_epoch: int = 0
    best_state: dict[str, Tensor] = field(default_factory=dict)
    stopped_by: int = 0

    @property
    def interrupted(self) -> bool:
        """Whether a signal ended the run early."""
        return self.stopped_by != 0


class TrainingState:
    """Model, optimizer and schedule, the tokenized training set, and how far the run has come.

    Args:
        task: what is trained.
        sampler: which articles and posts form a batch.
        optimizer: the optimizer.
        schedule: the learning-rate schedule.
        epochs: length of the run, for the schedule.
        precision: of the encoder's computations.
        chunk_tokens: encode at most this many tokens at a time; None encodes a batch at once.
        max_norm: gradients longer than this are shortened to it; None leaves them as they are.

    Attributes:
        result: the history of the run.
        step: number of steps done.
        batch: number of batches done in the current epoch.
        loss_sum: sum of the losses of these batches.
        count_sum: pairs, triplets or texts that the losses were computed from, summed over these batches.
        counted: what `count_sum` counts, in words.

    Raises:
        ConfigError: if the model has no trainable weights.
    """

    def __init__(
        self,
        task: TrainingTask,
        *,
        sampler: BatchSampler,
        optimizer: Optimizer,
        schedule: Schedule,
        epochs: int,
        precision: Precision = "float32",
        chunk_tokens: int | None = None,
        max_norm: float | None = None,
    ) -> None:
        self.task, self.result, self.workers = task, TrainingResult(), task.workers
        self.model, self.miner, self.loss, self.data = task.model, task.miner, task.loss, task.train
        self.sampler, self.chunk_tokens, self.max_norm = sampler, chunk_tokens, max_norm
        self.steps = sampler.count(self.data)
        self.articles = [self.model.article_tokens(article) for article in self.data.articles]
        self.posts = [self.model.post_tokens(post) for post in self.data.posts]
        row = {article.id: i for i, article in enumerate(self.data.articles)}
        # Posts of one class share the ids of their articles.
        ids = dict.fromkeys(post.article_ids for post in self.data.posts)
        links = {linked: frozenset(row[a] for a in linked if a in row) for linked in ids}
        self._articles_of = [links[post.article_ids] for post in self.data.posts]
        self._model_parameters = [p for p in self.model.parameters() if p.requires_grad]
        self._loss_parameters = [p for p in self.loss.parameters() if p.requires_grad]
        self.parameters = self._model_parameters + self._loss_parameters
        if not self.parameters:
            raise ConfigError(
                "the model has nothing to train: its encoder has no weights and its embedder is frozen"
            )
        device = self.workers.device
        self._lower = lower_type(precision, device)
        self.optimizer = optimizer.build(self.parameters)
        self.scheduler = schedule.build(self.optimizer, self.steps * epochs)
        self.scaler = torch.amp.GradScaler(device.type, enabled=precision == "float16")
        self.step = self.batch = 0
        self.loss_sum = self.count_sum = 0.0
        mined = self.miner.chooses and self.loss.counts != "texts"
        self.counted = f"{'mined ' if mined else ''}{self.loss.counts}"

    def epoch(self, number: int, after_step: Callable[[dict[str, float]], None]) -> None:
        """Train for one epoch, or for the rest of it.

        Args:
            number: of the epoch, from 1.
            after_step: called after every step with the figures to log.
        """
        self.model.train()
        with progress_bar() as progress:
            bar = progress.add_task(f"epoch {number}", total=self.steps, completed=self.batch)
            batches = self.sampler.epoch(self.data, self.task.seed * 100_003 + number)
            for batch in islice(batches, self.batch, None):
                values = self._step(batch)
                self.step += 1
                self.batch += 1
                self.loss_sum += values["loss"]
                count = values[self.loss.counts]
                self.count_sum += count
                description = f"epoch {number}  loss {values['loss']:.4f}  {self.counted} {count:,.0f}"
                progress.update(bar, advance=1, description=description)
                after_step(values)

    def next_epoch(self) -> None:
        """Reset what is counted per epoch."""
        self.batch, self.loss_sum, self.count_sum = 0, 0.0, 0.0

    def _step(self, batch: PairBatch) -> dict[str, float]:
        with add_step_context(
            self.workers, self.step + 1, [self.data.articles[i].id for i in batch.articles]
        ):
            started = time.monotonic()
            loss, figures = self._gradients(batch)
            self.scaler.unscale_(self.optimizer)
            self._clip()
            rate = self.optimizer.param_groups[0]["lr"]
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.scheduler.step()
            seconds = time.monotonic() - started
        return {"loss": loss, **figures, "lr": rate, "seconds": seconds}

    def _gradients(self, batch: PairBatch) -> tuple[float, dict[str, float]]:
        """Compute the gradients of a batch; return the loss and the figures to log.

        Every process encodes its share of the texts, gathers all vectors and computes the whole loss, then
        backpropagates through its own texts. The sum over processes is the gradient of the batch.
        """
        every = self._texts(batch)
        # A text of several pairs is encoded once.
        number: dict[int, int] = {}
        rows = [number.setdefault(id(text), len(number)) for text in every]
        texts = list({id(text): text for text in every}.values())
        lengths = [len(text.ids) for text in texts]
        shares = self.workers.split_by_tokens(lengths)
        mine = shares[self.workers.rank]
        # Dropout is that of a single process.
        masks = Masks.of_batch(mixed(self.task.seed, self.step), lengths).of(mine)
        cached = CachedBatch(self._encode, [texts[i] for i in mine], self.chunk_tokens, masks)
        vectors = self.workers.gather(
            cached.vectors.detach(), shares
        ).requires_grad_()  # (distinct texts, dim)
        of_batch = vectors if len(texts) == len(every) else vectors[torch.tensor(rows)]  # (texts, dim)
        loss, figures = self._loss_of(of_batch, batch)
        value = loss.item()
        if not math.isfinite(value):
            raise LinkerError(f"the loss is {value}")
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(loss).backward()
        assert vectors.grad is not None
        cached.backward(vectors.grad[torch.tensor(mine, dtype=torch.int64, device=vectors.device)])
        self.workers.sum_gradients(self._model_parameters, self._loss_parameters)
        return value, figures

    def _texts(self, batch: PairBatch) -> list[EncodedText]:
        """Return the texts that the model reads for a batch."""
        return [self.articles[i] for i in batch.articles] + [self.posts[j] for j in batch.posts]

    def _loss_of(self, vectors: Tensor, batch: PairBatch) -> tuple[Tensor, dict[str, float]]:
        """Return the loss of what the model returned for the texts of a batch, and the figures to log.

        Args:
            vectors: float, texts × dim.
            batch: the batch.
        """
        count = len(batch.articles)
        articles, posts = vectors[:count], vectors[count:]
        pairs = self.miner(articles, posts, self._relevance(batch.articles, batch.posts).to(vectors.device))
        return self.loss.batch_loss(articles, posts, pairs, batch.posts)

    def _encode(self, texts: Any) -> Tensor:
        if not texts:  # There are fewer texts than processes.
            dtype = next(self.model.parameters()).dtype
            return torch.zeros(0, self.model.output_dim, dtype=dtype, device=self.model.device)
        with torch.autocast(self.workers.device.type, self._lower, enabled=self._lower is not None):
            vectors = self.model(texts)
        # Miner and loss sum many small numbers.
        return vectors if vectors.dtype == torch.float64 else vectors.float()

    def _clip(self) -> None:
        if self.max_norm is not None:
            norm = nn.utils.clip_grad_norm_(self.parameters, self.max_norm).item()
            # If a gradient overflows float16, the scaler skips the step and lowers its scale.
            if not math.isfinite(norm) and not self.scaler.is_enabled():
                raise LinkerError(f"the loss is finite, but its gradient is {norm}")

    def _relevance(self, articles: list[int], posts: list[int]) -> Tensor:
        """Return which of these rows of the training set are linked: bool, articles × posts."""
        rows: dict[int, list[int]] = {}
        for i, article in enumerate(articles):
            rows.setdefault(article, []).append(i)
        relevance = torch.zeros(len(articles), len(posts), dtype=torch.bool)
        links = [
            (i, j)
            for j, post in enumerate(posts)
            for a in rows.keys() & self._articles_of[post]
            for i in rows[a]
        ]
        if links:
            relevance[tuple(torch.tensor(links).T)] = True
        return relevance

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return everything that decides the rest of the run except RNG states: tensors, and JSON values."""
        tensors = {}
        for part, module in self._modules().items():
            tensors.update({f"{part}/{name}": tensor for name, tensor in module.state_dict().items()})
        optimizer = self.optimizer.state_dict()
        plain: dict[str, dict[str, Any]] = {}
        for index, values in optimizer["state"].items():
            for name, value in values.items():
                if isinstance(value, Tensor):
                    tensors[f"optimizer/{index}/{name}"] = value
                else:
                    plain.setdefault(str(index), {})[name] = value
        schedule = {
            name: value for name, value in self.scheduler.state_dict().items() if name != "lr_lambdas"
        }
        metadata = {
            "scaler": self.scaler.state_dict(),
            "step": self.step,
            "batch": self.batch,
            "steps_in_epoch": self.steps,
            "loss_sum": self.loss_sum,
            "count_sum": self.count_sum,
            "optimizer": {"values": plain, "groups": optimizer["param_groups"]},
            "schedule": schedule,
        }
        return tensors, metadata

    def restore(
        self, parts: Callable[[str], dict[str, Tensor]], metadata: dict[str, Any], same: bool
    ) -> None:
        """Restore what `state` returned.

        Args:
            parts: returns the tensors of `model`, `loss`, `miner` or `optimizer`.
            metadata: the JSON values.
            same: whether the config is unchanged; otherwise learning rates and schedule are those of the new config.

        Raises:
            LinkerError: if the state belongs to another model, loss, miner or optimizer.
        """
        try:
            for part, module in self._modules().items():
                module.load_state_dict(parts(part))
            if metadata["scaler"] and self.scaler.is_enabled():
                self.scaler.load_state_dict(metadata["scaler"])
            _load_optimizer(self.optimizer, parts("optimizer"), metadata["optimizer"], same)
        except (RuntimeError, ValueError, KeyError) as error:
            raise LinkerError(f"the checkpoint does not fit the config: {error}") from error
        self.step, self.batch = metadata["step"], metadata["batch"]
        self.loss_sum, self.count_sum = metadata["loss_sum"], metadata["count_sum"]
        if same:
            self.scheduler.load_state_dict({"lr_lambdas": [None], **metadata["schedule"]})
        else:
            set_step(self.scheduler, self.step)

    def _modules(self) -> Mapping[str, nn.Module]:
        return {"model": self.model, "loss": self.loss, "miner": self.miner}


def _load_optimizer(
    optimizer: TorchOptimizer, tensors: dict[str, Tensor], metadata: dict[str, Any], same: bool
) -> None:
    values: dict[int, dict[str, Any]] = {int(i): dict(value) for i, value in metadata["values"].items()}
    for key, tensor in tensors.items():
        index, name = key.split("/", 1)
        values.setdefault(int(index), {})[name] = tensor
    groups = metadata["groups"] if same else optimizer.state_dict()["param_groups"]
    count = _count(groups)
    if _count(metadata["groups"]) != count:
        raise ValueError("the number of trained weights differs")
    optimizer.load_state_dict({"state": values, "param_groups": groups})


def _count(groups: Iterable[dict[str, Any]]) -> int:
    return sum(len(group["params"]) for group in groups)
