"""A model that learns to say what a teacher says of texts; no links are needed.

As the static models of Tulkens and van Dongen 2024 (model2vec) and the small transformers of Reimers and Gurevych 2020
(EMNLP, section 3), the student's vectors of whole texts are drawn to the teacher's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import torch
from torch import Tensor, nn

from linker.common.console import progress_bar, stderr
from linker.common.errors import ConfigError, DataError
from linker.data.types import LinkedPosts, Post
from linker.data.vocabulary import EncodedText
from linker.models.siamese.siamese import SiameseModel
from linker.modules.precision import Precision, lower_type
from linker.training.distillation.losses import distillation_loss, pca_procrustes
from linker.training.distillation.teacher import CachedTeacher, split_into_chunks

BATCH = 512
# Of all texts so many are kept out of the fitting, to see how well the student speaks of new ones.
KEPT_OUT = 0.02
WARMUP = 30
# Of so many texts the student's own vectors are looked at where the teacher's are longer.
TURNED_BY = 4096


def distil_model(
    student: SiameseModel,
    ready: Callable[[LinkedPosts], None],
    texts: Iterable[str],
    said: CachedTeacher,
    epochs: int,
    rate: float,
    seed: int,
    device: torch.device,
    precision: Precision,
    on_epoch: Callable[[int, float], None],
) -> tuple[int, float]:
    """Fit the part of a model that has weights to the teacher, whose vectors may be longer.

    Args:
        student: the part.
        ready: prepares the model; told the texts.
        texts: the texts; one that comes again counts once.
        said: the teacher.
        epochs: times that the texts are gone through.
        rate: Adam's learning rate at its highest; it rises over 30 steps and falls to a fiftieth.
        seed: of the order of the texts, and of which are kept out.
        device: where the student learns.
        precision: of what the student computes while it learns; weights and loss are float32.
        on_epoch: told after each how many there were, and the cosine.

    Returns:
        Texts read, and the mean cosine to the teacher's vectors on the 2 % of the texts that were kept out.

    Raises:
        ConfigError: the teacher's vectors are shorter, or the student has nothing to learn with.
        DataError: fewer than 2 texts to learn from.
    """
    pieces = split_into_chunks(texts)
    order = np.random.default_rng(seed)
    shuffled = order.permutation(len(pieces))
    out = shuffled[: round(KEPT_OUT * len(pieces))]
    learned = shuffled[len(out) :]
    if len(learned) < 2:
        raise DataError(f"{len(pieces)} texts to learn from; give more")
    posts = [Post(str(i), piece) for i, piece in enumerate(pieces)]
    ready(LinkedPosts([], posts))
    lower = lower_type(precision, device)
    with torch.autocast(device.type, lower, enabled=lower is not None):
        wanted = said.about(pieces, "texts")
    if wanted.shape[1] < student.output_dim:
        raise ConfigError(
            f"the teacher's vectors have {wanted.shape[1]} numbers, the model's {student.output_dim}; "
            "make the model's encoder give no more"
        )
    student.to(device)
    encoded = [student.post_tokens(post) for post in posts]
    if wanted.shape[1] > student.output_dim:
        some = shuffled[:TURNED_BY]
        wanted = pca_procrustes(wanted, some, student.encode([encoded[i] for i in some], "comparing vectors"))
    targets = nn.functional.normalize(torch.from_numpy(wanted), dim=1)
    weights = [weight for weight in student.parameters() if weight.requires_grad]
    if not weights:
        raise ConfigError(
            "the model has nothing to learn with: its encoder has no weights, its embedder is frozen"
        )
    optimizer = torch.optim.Adam(weights, lr=rate)
    steps = epochs * (len(learned) // min(BATCH, len(learned)))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / WARMUP, max(0.02, 1 - step / steps))
    )
    scaler = torch.amp.GradScaler(device.type, enabled=precision == "float16")
    cosine = float("nan")
    with progress_bar() as progress:
        bar = progress.add_task("learning from the teacher", total=steps)
        for epoch in range(1, epochs + 1):
            student.train()
            for part in _batches(order.permutation(learned)):
                with torch.autocast(device.type, lower, enabled=lower is not None):
                    given = student([encoded[i] for i in part])
                loss, own = distillation_loss(given.float(), targets[torch.from_numpy(part)].to(device))
                optimizer.zero_grad()
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(weights, 1.0)
                scaler.step(optimizer)
                scaler.update()
                schedule.step()
                progress.update(bar, advance=1, description=f"cosine to the teacher {own:.3f}")
            cosine = _cosine(student, [encoded[i] for i in out], targets[torch.from_numpy(out)])
            stderr.print(
                f"epoch {epoch}/{epochs}  cosine to the teacher on texts kept out {cosine:.3f}",
                highlight=False,
            )
            on_epoch(epoch, cosine)
    return len(pieces), cosine


def _batches(order: np.ndarray) -> Iterator[np.ndarray]:
    """Whole batches only: the neighbourhoods of a few texts say little."""
    size = min(BATCH, len(order))
    for begin in range(0, len(order) - size + 1, size):
        yield order[begin : begin + size]


def _cosine(student: SiameseModel, texts: list[EncodedText], targets: Tensor) -> float:
    if not texts:
        return float("nan")
    given = nn.functional.normalize(torch.from_numpy(student.encode(texts)), dim=1)
    return float((given * targets).sum(1).mean())
