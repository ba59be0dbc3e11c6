"""One model being trained: its state, and the step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.optim import Optimizer as TorchOptimizer

from linker.common.console import progress_bar
from linker.common.errors import ConfigError, LinkerError
from linker.data.types import LinkedPosts
from linker.models.siamese.siamese import SiameseModel
from linker.modules.kernels.dropout import Masks, mixed
from linker.modules.losses.loss import Loss
from linker.modules.miners import MinedPairs, Miner
from linker.modules.precision import Precision, lower_type
from linker.training.batch_sampler import BatchSampler, PairBatch
from linker.training.distributed.context import DistributedContext
from linker.training.distributed.errors import add_step_context
from linker.training.grad_cache import CachedBatch
from linker.training.memory_bank import CrossBatchMemory, MemoryBank
from linker.training.optimizers import Optimizer, Schedule, set_step


class Settings(Protocol):
    """What of a trainer the steps follow; `Trainer` tells what each means."""

    batches: BatchSampler
    optimizer: Optimizer
    schedule: Schedule
    epochs: int
    precision: Precision
    chunk_tokens: int | None
    clip_norm: float | None
    memory: CrossBatchMemory | None


class Run:
    """Model, optimiser and schedule, the tokenized training set, and how far the run has come.

    Attributes:
        step: steps done.
        batch: batches of the present epoch that are done.
        loss_sum: over the batches of this epoch so far.
        count_sum: the pairs or triplets that the loss was computed from, over the same batches.
        counted: what `count_sum` counts, in words.
    """

    def __init__(
        self,
        trainer: Settings,
        model: SiameseModel,
        miner: Miner,
        loss: Loss,
        data: LinkedPosts,
        seed: int,
        workers: DistributedContext,
    ) -> None:
        self.model, self.miner, self.loss, self.data, self.seed = model, miner, loss, data, seed
        self.trainer, self.workers = trainer, workers
        self.steps = trainer.batches.count(data)
        self.articles = [model.article_tokens(article) for article in data.articles]
        self.posts = [model.post_tokens(post) for post in data.posts]
        row = {article.id: i for i, article in enumerate(data.articles)}
        # Posts of one class share the ids of their articles.
        ids = dict.fromkeys(post.article_ids for post in data.posts)
        links = {own: frozenset(row[a] for a in own if a in row) for own in ids}
        self._articles_of = [links[post.article_ids] for post in data.posts]
        self._model_parameters = [p for p in model.parameters() if p.requires_grad]
        self._loss_parameters = [p for p in loss.parameters() if p.requires_grad]
        self.parameters = self._model_parameters + self._loss_parameters
        if not self.parameters:
            raise ConfigError(
                "the model has nothing to train: its encoder has no weights and its embedder is frozen"
            )
        self._lower = lower_type(trainer.precision, workers.device)
        self.optimizer = trainer.optimizer.build(self.parameters)
        self.scheduler = trainer.schedule.build(self.optimizer, self.steps * trainer.epochs)
        self.memory = trainer.memory
        self.remembered = MemoryBank(self.memory.posts if self.memory else 0)
        self.scaler = torch.amp.GradScaler(workers.device.type, enabled=trainer.precision == "float16")
        self.step = self.batch = 0
        self.loss_sum = self.count_sum = 0.0
        self.counted = f"{'mined ' if miner.chooses else ''}{loss.counts}"

    def epoch(self, number: int, after_step: Callable[[dict[str, float]], None]) -> None:
        """One pass over the training posts, or the rest of it."""
        self.model.train()
        with progress_bar() as progress:
            bar = progress.add_task(f"epoch {number}", total=self.steps, completed=self.batch)
            batches = self.trainer.batches.epoch(self.data, self.seed * 100_003 + number)
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
        """The present epoch is over."""
        self.batch, self.loss_sum, self.count_sum = 0, 0.0, 0.0

    def _step(self, batch: PairBatch) -> dict[str, float]:
        with add_step_context(
            self.workers, self.step + 1, [self.data.articles[i].id for i in batch.articles]
        ):
            started = time.monotonic()
            loss, pairs = self._gradients(batch)
            self.scaler.unscale_(self.optimizer)
            self._clip()
            rate = self.optimizer.param_groups[0]["lr"]
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.scheduler.step()
            seconds = time.monotonic() - started
        counts = {"pairs": float(pairs.pairs), "triplets": float(pairs.triplets)}
        return {"loss": loss, **counts, "lr": rate, "seconds": seconds}

    def _gradients(self, batch: PairBatch) -> tuple[float, MinedPairs]:
        """Fill in the weights' gradients; the loss, and the pairs it was computed from.

        Vectors are gathered from all processes, and each computes the whole loss; so each has the gradient of all
        vectors, and carries that of its own texts on to the weights. The sum over processes is the batch's gradient.
        """
        texts = [self.articles[i] for i in batch.articles] + [self.posts[j] for j in batch.posts]
        lengths = [len(text.ids) for text in texts]
        shares = self.workers.split_by_tokens(lengths)
        mine = shares[self.workers.rank]
        # Every process drops what a single one would.
        masks = Masks.of_batch(mixed(self.seed, self.step), lengths).of(mine)
        own = CachedBatch(self._encode, [texts[i] for i in mine], self.trainer.chunk_tokens, masks)
        vectors = self.workers.gather(own.vectors.detach(), shares).requires_grad_()
        count = len(batch.articles)
        articles, posts, rows = vectors[:count], vectors[count:], batch.posts
        if self.memory is not None and self.step >= self.memory.after_steps:
            earlier, remembered = self.remembered.excluding(rows)
            if remembered is not None:
                posts, rows = torch.cat([posts, remembered]), rows + earlier
        pairs = self.miner(articles, posts, self._relevance(batch.articles, rows).to(vectors.device))
        loss = self.loss(articles, posts, pairs)
        value = loss.item()
        if not math.isfinite(value):
            raise LinkerError(f"the loss is {value}")
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(loss).backward()
        assert vectors.grad is not None
        own.backward(vectors.grad[torch.tensor(mine, dtype=torch.int64, device=vectors.device)])
        self.workers.sum_gradients(self._model_parameters, self._loss_parameters)
        if self.memory is not None:
            self.remembered.enqueue(batch.posts, vectors[count:])
        return value, pairs

    def _encode(self, texts: Any) -> Tensor:
        if not texts:  # fewer texts than processes
            dtype = next(self.model.parameters()).dtype
            return torch.zeros(0, self.model.output_dim, dtype=dtype, device=self.model.device)
        with torch.autocast(self.workers.device.type, self._lower, enabled=self._lower is not None):
            vectors = self.model(texts)
        # Miner and loss add up many small numbers.
        return vectors if vectors.dtype == torch.float64 else vectors.float()

    def _clip(self) -> None:
        if self.trainer.clip_norm is not None:
            norm = nn.utils.clip_grad_norm_(self.parameters, self.trainer.clip_norm).item()
            # A gradient too large for float16 makes the scaler leave out the step and scale less.
            if not math.isfinite(norm) and not self.scaler.is_enabled():
                raise LinkerError(f"the loss is a number, but its gradient is {norm}")

    def _relevance(self, articles: list[int], posts: list[int]) -> Tensor:
        """bool, articles × posts, both given by their rows in the training set."""
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
        """All that decides the rest of the run but chance: tensors, and JSON values."""
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
        tensors.update({f"memory/{name}": tensor for name, tensor in self.remembered.state().items()})
        facts = {
            "scaler": self.scaler.state_dict(),
            "step": self.step,
            "batch": self.batch,
            "steps_in_epoch": self.steps,
            "loss_sum": self.loss_sum,
            "count_sum": self.count_sum,
            "optimizer": {"values": plain, "groups": optimizer["param_groups"]},
            "schedule": schedule,
        }
        return tensors, facts

    def restore(self, parts: Callable[[str], dict[str, Tensor]], facts: dict[str, Any], same: bool) -> None:
        """Go on from what `state` gave.

        Args:
            parts: gives the tensors of `model`, `loss`, `miner`, `memory` and `optimizer` by name.
            facts: the JSON values.
            same: the config is that of the state; otherwise learning rates and the like are those of the new config.

        Raises:
            LinkerError: the state is that of another model, loss, miner or optimiser.
        """
        try:
            for part, module in self._modules().items():
                module.load_state_dict(parts(part))
            self.remembered.restore(parts("memory"), self.workers.device)
            if facts["scaler"] and self.scaler.is_enabled():
                self.scaler.load_state_dict(facts["scaler"])
            _load_optimizer(self.optimizer, parts("optimizer"), facts["optimizer"], same)
        except (RuntimeError, ValueError, KeyError) as error:
            raise LinkerError(f"the checkpoint does not fit the config: {error}") from error
        self.step, self.batch = facts["step"], facts["batch"]
        self.loss_sum, self.count_sum = facts["loss_sum"], facts["count_sum"]
        if same:
            self.scheduler.load_state_dict({"lr_lambdas": [None], **facts["schedule"]})
        else:
            set_step(self.scheduler, self.step)

    def _modules(self) -> Mapping[str, nn.Module]:
        return {"model": self.model, "loss": self.loss, "miner": self.miner}


def _load_optimizer(
    optimizer: TorchOptimizer, tensors: dict[str, Tensor], facts: dict[str, Any], same: bool
) -> None:
    values: dict[int, dict[str, Any]] = {int(i): dict(own) for i, own in facts["values"].items()}
    for key, tensor in tensors.items():
        index, name = key.split("/", 1)
        values.setdefault(int(index), {})[name] = tensor
    groups = facts["groups"] if same else optimizer.state_dict()["param_groups"]
    count = _count(groups)
    if _count(facts["groups"]) != count:
        raise ValueError("the optimiser had another number of weights to train")
    optimizer.load_state_dict({"state": values, "param_groups": groups})


def _count(groups: Iterable[dict[str, Any]]) -> int:
    return sum(len(group["params"]) for group in groups)
