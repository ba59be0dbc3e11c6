"""A training run: what is trained, how far it has come, and the training step."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from linker.common.console import progress_bar
from linker.common.errors import ConfigError, LinkerError
from linker.data.types import LinkedPosts
from linker.evaluation.evaluate import evaluate
from linker.models.model import Model
from linker.models.siamese.siamese import SiameseModel
from linker.modules.dropout import Masks, drawing, mixed
from linker.modules.losses.loss import Loss
from linker.modules.miners import Miner
from linker.modules.precision import Precision, lower_type
from linker.training.batch_sampler import BatchSampler, PairBatch
from linker.training.distillation.loss import DistillationLoss
from linker.training.distributed.context import ConnectionLost, DistributedContext
from linker.training.optimizers import Optimizer, Schedule


class StepError(Exception):
    """A step failed with an error that is not the input's fault; the error is its cause."""


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

    def dev_metrics(self) -> dict[str, float]:
        """Measure the model on the dev set: metrics by name, equal in every process; none without a dev set."""
        metrics, dev = dict[str, float](), self.dev
        if dev is not None and self.workers.is_main:
            if isinstance(self.loss, DistillationLoss):
                metrics = self.loss.evaluate(self.model.post_vectors(dev.posts))
            else:
                metrics = evaluate((self.whole or self.model).score(dev.articles, dev.posts), dev)
        return self.workers.all_gather_object(metrics)[0]


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


class TrainingState:
    """Model, optimizer and schedule, the tokenized training set, and how far the run has come.

    Args:
        task: what is trained.
        sampler: which articles and posts form a batch.
        optimizer: the optimizer.
        schedule: the learning-rate schedule.
        epochs: length of the run, for the schedule.
        precision: of the encoder's computations.
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
        max_norm: float | None = None,
    ) -> None:
        self.task, self.result, self.workers = task, TrainingResult(), task.workers
        self.model, self.miner, self.loss, self.data = task.model, task.miner, task.loss, task.train
        self.sampler, self.max_norm = sampler, max_norm
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
        self._lower = lower_type(precision, self.workers.device)
        self.optimizer = optimizer.build(self.parameters)
        self.scheduler = schedule.build(self.optimizer, self.steps * epochs)
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
                started, rate = time.monotonic(), self.optimizer.param_groups[0]["lr"]
                with self._naming_the_batch(batch):
                    loss, figures = self._gradients(batch)
                    self._clip()
                    self.optimizer.step()
                    self.scheduler.step()
                self.step += 1
                self.batch += 1
                self.loss_sum += loss
                self.count_sum += figures[self.loss.counts]
                counts = f"{self.counted} {figures[self.loss.counts]:,.0f}"
                progress.update(bar, advance=1, description=f"epoch {number}  loss {loss:.4f}  {counts}")
                after_step({"loss": loss, **figures, "lr": rate, "seconds": time.monotonic() - started})

    def _gradients(self, batch: PairBatch) -> tuple[float, dict[str, float]]:
        """Compute the gradients of a batch; return the loss and the figures to log.

        Every process encodes its share of the texts, gathers all vectors and computes the whole loss, then
        backpropagates through its own texts. The sum over processes is the gradient of the batch.
        """
        every = [self.articles[i] for i in batch.articles] + [self.posts[j] for j in batch.posts]
        # A text of several pairs is encoded once.
        number: dict[int, int] = {}
        rows = [number.setdefault(id(text), len(number)) for text in every]
        texts = list({id(text): text for text in every}.values())
        lengths = [len(text.ids) for text in texts]
        shares = self.workers.split_by_tokens(lengths)
        mine = shares[self.workers.rank]
        # Dropout is that of a single process.
        with drawing(Masks.of_batch(mixed(self.task.seed, self.step), lengths).of(mine)):
            encoded = self._encode([texts[i] for i in mine])
        vectors = self.workers.gather(encoded.detach(), shares).requires_grad_()  # (distinct texts, dim)
        of_batch = vectors if len(texts) == len(every) else vectors[torch.tensor(rows)]  # (texts, dim)
        articles, posts = of_batch.split([len(batch.articles), len(batch.posts)])
        pairs = self.miner(articles, posts, self._relevance(batch).to(vectors.device))
        loss, figures = self.loss.batch_loss(articles, posts, pairs, batch.posts)
        value = loss.item()
        if not math.isfinite(value):
            raise LinkerError(f"the loss is {value}")
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        assert vectors.grad is not None
        if encoded.requires_grad:
            encoded.backward(vectors.grad[torch.tensor(mine, dtype=torch.int64, device=vectors.device)])
        self.workers.sum_gradients(self._model_parameters, self._loss_parameters)
        return value, figures

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
            if not math.isfinite(norm):
                raise LinkerError(f"the loss is finite, but its gradient is {norm}")

    def _relevance(self, batch: PairBatch) -> Tensor:
        """Return which articles and posts of a batch are linked: bool, articles × posts."""
        rows: dict[int, list[int]] = {}
        for i, article in enumerate(batch.articles):
            rows.setdefault(article, []).append(i)
        relevance = torch.zeros(len(batch.articles), len(batch.posts), dtype=torch.bool)
        links = [
            (i, j)
            for j, post in enumerate(batch.posts)
            for article in rows.keys() & self._articles_of[post]
            for i in rows[article]
        ]
        if links:
            relevance[tuple(torch.tensor(links).T)] = True
        return relevance

    @contextmanager
    def _naming_the_batch(self, batch: PairBatch) -> Iterator[None]:
        """Add process, step (from 1) and the batch's articles to errors raised in the block.

        Raises:
            LinkerError: if the input or memory is at fault.
            StepError: if anything else is.
        """
        size = self.workers.size
        process = f"process {self.workers.rank} of {size}: " if size > 1 else ""
        where = f"{process}step {self.step + 1}: "
        articles = f"articles of the batch: {', '.join(self.data.articles[i].id for i in batch.articles)}"
        try:
            yield
        except ConnectionLost:
            raise
        except LinkerError as error:
            raise LinkerError(f"{where}{error}; {articles}") from error
        except Exception as error:
            line = (str(error).strip().splitlines() or [type(error).__name__])[0]
            # torch has no class for it on CPUs.
            on_cpu = isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
            if on_cpu or isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)):
                advice = "set fewer trainer.batches.articles, or shorter model.max_article_tokens"
                raise LinkerError(f"{where}not enough memory ({line}); {advice}; {articles}") from error
            raise StepError(f"{where}{type(error).__name__}: {line}; {articles}") from error

    def state_dict(self) -> dict[str, Any]:
        """Return everything that decides the rest of the run except RNG states: nested tensors and JSON values."""
        modules = {name: module.state_dict() for name, module in self._modules().items()}
        # Weights that equal the current ones, such as a frozen table of word vectors, are stored once.
        best = self.result.best_state.items()
        changed = {name: tensor for name, tensor in best if not torch.equal(tensor, modules["model"][name])}
        schedule = self.scheduler.state_dict()
        del schedule["lr_lambdas"]
        return {
            **modules,
            "best": changed,
            "optimizer": self.optimizer.state_dict(),
            "schedule": schedule,
            "step": self.step,
            "batch": self.batch,
            "steps_in_epoch": self.steps,
            "loss_sum": self.loss_sum,
            "count_sum": self.count_sum,
            "epochs": self.result.epochs,
            "losses": self.result.losses,
            "best_epoch": self.result.best_epoch,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what `state_dict` of a run with the same config returned."""
        for name, module in self._modules().items():
            module.load_state_dict(state[name])
        by_weight = {int(number): values for number, values in state["optimizer"]["state"].items()}
        self.optimizer.load_state_dict({**state["optimizer"], "state": by_weight})
        self.scheduler.load_state_dict({"lr_lambdas": [None], **state["schedule"]})
        self.step, self.batch = state["step"], state["batch"]
        self.loss_sum, self.count_sum = state["loss_sum"], state["count_sum"]
        self.result = TrainingResult(state["epochs"], state["losses"], state["best_epoch"])
        if self.result.best_epoch:
            self.result.best_state = {
                name: state["best"].get(name, tensor).detach().clone().to(tensor.device)
                for name, tensor in self.model.state_dict().items()
            }

    def _modules(self) -> dict[str, nn.Module]:
        return {"model": self.model, "loss": self.loss, "miner": self.miner}


@contextmanager
def holding(model: nn.Module, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """Let a model hold other weights within the block; afterwards its own are restored exactly."""
    before = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    model.load_state_dict(weights)
    try:
        yield
    finally:
        model.load_state_dict(before)
