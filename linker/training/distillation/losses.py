"""How far the vectors of a batch of texts are from those that a teacher gave them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F


def pca_procrustes(vectors: np.ndarray, rows: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """The vectors in the directions in which most of them lies, turned to where the student's lie already.

    No other directions of that number keep the dot products between the vectors as well (Eckart and Young 1936).
    Turning changes no dot product, and spares the student from learning other axes (orthogonal Procrustes problem,
    Schönemann 1966).

    Args:
        vectors: the teacher's, float, texts × many.
        rows: of which of the texts the student's own vectors are known, int.
        towards: these, float, as many × fewer.

    Returns:
        float32, texts × fewer, no longer than they were.
    """
    dim = towards.shape[1]
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    kept = vectors @ directions[:, ::-1][:, :dim]
    left, _, right = np.linalg.svd(kept[rows].T @ towards)
    turned: np.ndarray = (kept @ (left @ right)).astype(np.float32)
    return turned


# How sharply the teacher tells near texts from far ones.
TEMPERATURE = 20.0


def distillation_loss(given: Tensor, wanted: Tensor) -> tuple[Tensor, float]:
    """Twice the mean angle's lack of cosine, and the divergence of the texts' neighbourhoods, added.

    Args:
        given: float, texts × dim, of unit length.
        wanted: the teacher's, likewise.

    Returns:
        The sum, to be made small, and the mean cosine.
    """
    cosine = (given * wanted).sum(1).mean()
    return 2 * (1 - cosine) + _neighbours(given, wanted), float(cosine.detach())


def _neighbours(given: Tensor, wanted: Tensor) -> Tensor:
    """How far the texts' likeness to each other is from that which the teacher sees: a mean divergence in nats."""
    itself = torch.eye(len(given), dtype=torch.bool, device=given.device)
    ours = torch.log_softmax((TEMPERATURE * given @ given.T).masked_fill(itself, -1e4), dim=1)
    theirs = torch.softmax((TEMPERATURE * wanted @ wanted.T).masked_fill(itself, -1e4), dim=1)
    return F.kl_div(ours, theirs, reduction="batchmean")
