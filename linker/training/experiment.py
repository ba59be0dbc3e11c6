"""A training run from its config to a model folder."""

import hashlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import torch

from linker.common.checks import between
from linker.common.console import info, stderr
from linker.common.errors import ConfigError
from linker.common.files import unbroken
from linker.common.locks import only_writer
from linker.config import Lazy, resolve
from linker.config.jsonnet import diff_configs
from linker.data.data_source import DataSource
from linker.data.splitters.splitter import Splits
from linker.models.files.archive import check_manifest, read_config, save_model
from linker.models.files.hub import is_hub_name
from linker.models.files.model_card import model_card
from linker.models.files.resolve import resolve_model
from linker.models.model import Model, all_submodels
from linker.models.pretrained import FOLDERS
from linker.models.siamese.siamese import SiameseModel, save_weights
from linker.modules.losses.loss import Loss
from linker.modules.miners import Miner
from linker.modules.precision import lower_type
from linker.training.checkpointing.checkpointer import Checkpointer
from linker.training.distillation.loss import DistillationLoss
from linker.training.distillation.teacher import CachedTeacher, Teacher
from linker.training.distributed.context import DistributedContext
from linker.training.distributed.process_group import device_for
from linker.training.rng_state import seed_everything
from linker.training.trainer import Trainer
from linker.training.training_state import TrainingResult, TrainingTask

#: Weights after the last epoch, in the model folder.
LAST = "last.safetensors"


class Experiment:
    """What a training config describes.

    Args:
        data: where articles and posts come from, and how they are split.
        model: what is trained; of an ensemble, its only submodel with weights.
        miner: which pairs of a batch are learned from.
        loss: the loss of these pairs; or `distillation`, which needs no links.
        trainer: how the model is trained.
        seed: decides initial weights, batches and dropout.
        start: a model folder of the same model (a distilled one, for example) or `best`, the bundled model, from whose
            weights training starts.
        config: the resolved config of all this, written into the model folder.

    Raises:
        ConfigError: if the seed is out of range, or the batches have no pairs for the loss.
    """

    def __init__(
        self,
        data: DataSource,
        model: Lazy[Model],
        miner: Miner,
        loss: Loss,
        trainer: Trainer,
        seed: int = 13,
        start: str | None = None,
        *,
        config: dict[str, Any] | None = None,
    ) -> None:
        between(0, 2**32 - 1, seed=seed)  # numpy accepts no other seeds.
        if not trainer.batches.has_articles and not isinstance(loss, DistillationLoss):
            raise ConfigError(
                "trainer.batches.type: `texts` makes batches without articles, for the loss `distillation`; set "
                "`linked_posts` for a loss of pairs"
            )
        self.data, self.model, self.miner, self.loss = data, model, miner, loss
        self.trainer, self.seed, self.start = trainer, seed, start
        self.config = config or {}
        self.splits: Splits  # once `run` has read the data

    def run(
        self, out: Path, resume: bool = False, workers: DistributedContext | None = None
    ) -> TrainingResult:
        """Train the model and write its folder.

        Args:
            out: the model folder, which contains the best model so far after every epoch. Logs and checkpoints go to
                `OUT-log`.
            resume: continue from the newest checkpoint if there is one; otherwise an existing run is replaced.
            workers: the processes that share the work; None: this one alone.

        Returns:
            The history of the run.

        Raises:
            LinkerError: if data, model or output are at fault, or another process trains into `out`; see
                `Checkpointer.open` and `Trainer.train`.
        """
        workers = workers or DistributedContext(device_for(0))
        checkpointer = Checkpointer(out)
        if workers.is_main:
            checkpointer.check_places()
        with only_writer(out) if workers.is_main else nullcontext():
            checkpointer.open(self.config, resume, workers)
            with stderr.status("reading the data") if workers.is_main else nullcontext():
                splits = self.splits = self.data.load()
            seed_everything(self.seed)
            whole = self.model.construct()
            model = _trained_part(whole)
            with stderr.status("preparing the model") if workers.is_main else nullcontext():
                if self.start is None:
                    whole.prepare(splits.train)
                else:
                    load_initial_weights(whole, self.start, self.config["model"])
            model.to(workers.device)
            if workers.is_main:
                _describe(splits, model)
            miner, loss = self.miner.to(workers.device), self.loss.to(workers.device)
            if isinstance(loss, DistillationLoss):
                teacher = Teacher(loss.teacher)
                folder = Path(loss.cache or checkpointer.log_dir / "teacher-cache")
                dev = splits.dev.posts if splits.dev else []
                lower = lower_type(self.trainer.precision, workers.device)
                with torch.autocast(workers.device.type, lower, enabled=lower is not None):
                    cached = CachedTeacher(folder, teacher.name, teacher.encode, workers)
                    loss.prepare(model, splits.train.posts, dev, cached)
            checkpointer.begin(_fingerprint(model, splits), workers.is_main)

            def write_model(result: TrainingResult) -> None:
                """Write the model folder; the model holds the best weights."""
                metrics = {"best_epoch": result.best_epoch, "dev": result.epochs[result.best_epoch - 1]}
                card = model_card(self.config, metrics, splits.train, splits.dev, model)
                save_model(whole, out, self.config, metrics, card)

            def write(result: TrainingResult) -> None:
                """Write the model folder if the last epoch is the best, and the weights of the last epoch."""
                with unbroken():
                    if result.best_epoch in (0, len(result.epochs)):
                        write_model(result)
                    save_weights(model, out / LAST)

            checkpointer.on_resume = write_model
            task = TrainingTask(model, miner, loss, splits.train, splits.dev, self.seed, workers, whole)
            return self.trainer.train(task, checkpointer.log_dir, write, checkpointer)


def load_initial_weights(model: Model, start: str, config: dict[str, Any]) -> None:
    """Load the weights (and vocabulary) of a model folder; vector files that the config names are not read.

    Args:
        model: built from `config`, not prepared.
        start: a folder of the same model, or the name of a bundled one or of one on a Hugging Face hub. The two may
            differ in keys that do not affect the weights (see `Model.keys_without_weights`).
        config: the resolved `model` section.

    Raises:
        ModelError: if the folder is not found, or is damaged.
        ConfigError: if it contains another model.
    """
    folder = FOLDERS.get(start) or (resolve_model(start).folder if is_hub_name(start) else Path(start))
    harmless = set[str]().union(*(part.keys_without_weights for part in all_submodels(model)))
    for path, there, here in diff_configs(resolve(Model, read_config(folder)["model"]), config, "model"):
        if harmless.isdisjoint(path.split(".")):
            raise ConfigError(
                f"start: {folder} is another model: {path} is {there!r} there and {here!r} here; "
                "use the same model config"
            )
    check_manifest(folder)
    model.load_state(folder)


def _trained_part(model: Model) -> SiameseModel:
    """Return the model itself or its only submodel with weights."""
    trainable = [part for part in all_submodels(model) if part.trainable]
    if len(trainable) == 1:
        return cast(SiameseModel, trainable[0])
    problem = (
        "this model has no weights to train; use it without training, or set"
        if not trainable
        else f"this model has {len(trainable)} parts with weights, and a run trains one; set one"
    )
    raise ConfigError(f"model.type: {problem} `siamese` or `transformer`")


def _describe(splits: Splits, model: SiameseModel) -> None:
    """Print what is trained on what, and how much of the text has a vector."""
    parts = []
    for name, data in (("train", splits.train), ("dev", splits.dev)):
        if data is not None:
            articles = f"{len(data.articles):,} articles, {len(data.posts):,} posts"
            parts.append(f"{name}: {articles if data.articles else f'{len(data.posts):,} texts'}")
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    info("; ".join([*parts, f"{trained:,} trained weights"]))
    info(f"vocabulary: {model.description}")


def _fingerprint(model: SiameseModel, splits: Splits) -> str:
    """Return a SHA-256 of everything that the run is trained and measured on, and of the vocabulary."""
    digest = hashlib.sha256()
    for part in (splits.train, splits.dev) if splits.dev else (splits.train,):
        rows = [(article.id, article.full_text, article.story) for article in part.articles]
        for row in [*rows, *((post.id, post.text, post.article_ids) for post in part.posts)]:
            digest.update(repr(row).encode("utf-8", "replace"))
    digest.update("\n".join(model.words).encode("utf-8", "replace"))
    return digest.hexdigest()
