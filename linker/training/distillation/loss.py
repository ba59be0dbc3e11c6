"""The distillation loss: a student's embeddings of texts are drawn to those of a teacher.

As in model2vec (Tulkens and van Dongen 2024) and in the small transformers of Reimers and Gurevych 2020 (EMNLP, section
3), the student learns the teacher's embeddings of whole texts; no links are needed.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from typing_extensions import override

from linker.common.checks import above
from linker.common.errors import ConfigError
from linker.data.types import Post
from linker.models.siamese.siamese import SiameseModel
from linker.modules.losses.loss import Loss
from linker.modules.miners import MinedPairs
from linker.training.distillation.teacher import CachedTeacher

#: The dev metric of distillation: the mean cosine to the teacher's embeddings.
TEACHER_COSINE = "teacher_cosine"
#: Texts whose student embeddings decide the rotation of a larger teacher's.
ROTATION_SAMPLE = 4096


@Loss.register("distillation")
class DistillationLoss(Loss):
    """Twice one minus the mean cosine to the teacher, plus a KL divergence between in-batch similarities.

    For the reader and the batch sampler `texts`. If the teacher's embeddings have more dimensions than the student's,
    they are projected (see `pca_procrustes`); they cannot have fewer.

    Paper: Reimers and Gurevych 2020, https://arxiv.org/abs/2004.09813

    Args:
        teacher: a folder of sentence-transformers or its name on the Hugging Face hub, or a model folder of linker.
        cache: folder of the teacher's embeddings, which several runs can share; null: `teacher-cache` in the folder of
            the run's logs.
        temperature: inverse temperature of the softmax over in-batch cosines.

    Attributes:
        targets: the teacher's embeddings of the training posts, float32, posts × dim, unit length.
        dev_targets: the same of the dev posts.
    """

    counts = "texts"

    def __init__(self, teacher: str, cache: str | None = None, temperature: float = 20.0) -> None:
        above(0, temperature=temperature)
        super().__init__()
        self.teacher, self.cache, self.temperature = teacher, cache, temperature
        self.targets = torch.zeros(0)  # (training posts, dim)
        self.dev_targets = torch.zeros(0)  # (dev posts, dim)

    def prepare(
        self, student: SiameseModel, train: Sequence[Post], dev: Sequence[Post], teacher: CachedTeacher
    ) -> None:
        """Get the teacher's embeddings of all texts; needed before training.

        Args:
            student: the model that will be trained, on its device.
            train: the training posts.
            dev: the dev posts.
            teacher: the teacher.

        Raises:
            ConfigError: if the teacher's embeddings have fewer dimensions than the student's.
        """
        embeddings = teacher.encode([post.text for post in (*train, *dev)], "texts")
        if embeddings.shape[1] < student.output_dim:
            raise ConfigError(
                f"loss.teacher: its embeddings have {embeddings.shape[1]} dimensions, the model's "
                f"{student.output_dim}; configure an encoder with at most as many as the teacher"
            )
        if embeddings.shape[1] > student.output_dim:
            rows = np.random.default_rng(0).permutation(len(train))[:ROTATION_SAMPLE]
            with torch.autocast(student.device.type, enabled=False):
                anchors = student.post_vectors([train[i] for i in rows])
            embeddings = pca_procrustes(embeddings, rows, anchors)
        unit = F.normalize(torch.from_numpy(embeddings), dim=1)
        self.targets, self.dev_targets = unit[: len(train)].to(student.device), unit[len(train) :]

    @override
    def batch_loss(
        self, articles: Tensor, posts: Tensor, pairs: MinedPairs, post_rows: Sequence[int]
    ) -> tuple[Tensor, dict[str, float]]:
        targets = self.targets[torch.as_tensor(post_rows, device=self.targets.device)]
        loss, cosine = distillation_loss(posts, targets.to(posts), self.temperature)
        return loss, {"texts": float(len(posts)), TEACHER_COSINE: cosine}

    def evaluate(self, posts: np.ndarray) -> dict[str, float]:
        """Return the dev metrics, from the student's embeddings of the dev posts: float32, posts × dim."""
        unit = F.normalize(torch.from_numpy(posts), dim=1)
        return {TEACHER_COSINE: float((unit * self.dev_targets).sum(1).mean())}


def distillation_loss(student: Tensor, teacher: Tensor, temperature: float = 20.0) -> tuple[Tensor, float]:
    """Return `2 · (1 − mean cosine) + KL` between the in-batch similarity distributions of teacher and student.

    Args:
        student: float, texts × dim, unit length.
        teacher: float, texts × dim, unit length.
        temperature: inverse temperature of the distributions.

    Returns:
        The loss, a scalar, and the mean cosine.
    """
    cosine = (student * teacher).sum(1).mean()
    itself = torch.eye(len(student), dtype=torch.bool, device=student.device)
    # A text's distribution is over the other texts of the batch: (texts, texts).
    student_log = torch.log_softmax((temperature * student @ student.T).masked_fill(itself, -1e4), dim=1)
    teacher_shares = torch.softmax((temperature * teacher @ teacher.T).masked_fill(itself, -1e4), dim=1)
    divergence = F.kl_div(student_log, teacher_shares, reduction="batchmean")
    return 2 * (1 - cosine) + divergence, float(cosine.detach())


def pca_procrustes(vectors: np.ndarray, rows: np.ndarray, anchors: np.ndarray) -> np.ndarray:
    """Reduce the teacher's vectors by PCA, then rotate them onto the student's (orthogonal Procrustes).

    No other projection to as many dimensions preserves the dot products as well (Eckart and Young 1936). The rotation
    changes no dot product, and spares the student from learning other axes (Schönemann 1966).

    Args:
        vectors: the teacher's vectors, float, texts × teacher dim.
        rows: int, texts whose student vectors are known.
        anchors: the student's vectors of these, float, rows × dim.

    Returns:
        float32, texts × dim, no longer than before.
    """
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    reduced = vectors @ directions[:, ::-1][:, : anchors.shape[1]]
    left, _, right = np.linalg.svd(reduced[rows].T @ anchors)
    projected: np.ndarray = (reduced @ (left @ right)).astype(np.float32)
    return projected
