"""Inputs of ring and star attention; texts are concatenated along the token axis.

H heads of size d, I = H · d, satellites of length D. All float tensors of a call have one dtype.
"""

from typing import NamedTuple

from torch import Tensor


class RingInput(NamedTuple):
    """Every token attends to its neighbors, to its token vector and to its text's relay.

    Attributes:
        qkv: float, n × 3I: scaled queries, keys and values of the satellites.
        rows: int64, tokens: each token's row in `qkv`; None: row i is token i.
        token: float, m × 2I: keys and values of the token vectors; None: those of the satellites.
        token_rows: int64, tokens: each token's row in `token`; None: row i is token i.
        relay: float, texts × 2I: keys and values of the relays.
        starts: int64, texts + 1: start of each text, and the end of the last one.
        alpha: float, H.
        window: number of neighbors on each side; those beyond a text's ends are masked.
    """

    qkv: Tensor
    rows: Tensor | None
    token: Tensor | None
    token_rows: Tensor | None
    relay: Tensor
    starts: Tensor
    alpha: Tensor
    window: int


class StarInput(NamedTuple):
    """Every relay attends to itself and to the satellites of its text.

    Either `folded` and `shift` are set, so that the score of vector x for head h is folded_h · x + shift_h, or `scores`
    and `relay_scores` are.

    Attributes:
        satellites: float, tokens × D.
        relay: float, texts × D.
        starts: int64, texts + 1.
        alpha: float, H.
        folded: float, H × texts × D: the relay's queries times the heads' key matrices.
        shift: float, texts × H: the relay's queries times the heads' key biases.
        scores: float, tokens × H.
        relay_scores: float, texts × H: the relays' scores for themselves.
    """

    satellites: Tensor
    relay: Tensor
    starts: Tensor
    alpha: Tensor
    folded: Tensor | None = None
    shift: Tensor | None = None
    scores: Tensor | None = None
    relay_scores: Tensor | None = None
