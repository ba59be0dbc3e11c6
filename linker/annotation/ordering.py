"""The family of ordering strategies: which post is labelled next."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from linker.annotation.labels import Labels
from linker.annotation.pool import Pool
from linker.config import Registrable


class OrderingStrategy(Registrable):
    """Orders the posts that have no label yet.

    An order is a function of pool, labels and generator alone, so a session can be reproduced by replaying its labels,
    and a new order may be computed in the background while the last one is still in use. Posts with equal scores come
    in the order of `Pool.shuffled`, never in that of the file.

    Attributes:
        learns: whether labels change the order of the posts that are left. Where they do not, the simulation asks once.
    """

    learns: ClassVar[bool] = True
    default_component = "learning"

    def order(self, pool: Pool, labels: Labels, generator: np.random.Generator) -> np.ndarray:
        """int64: the places of all unlabelled posts, the one to label first first."""
        raise NotImplementedError
