"""How sharp attention stays in long texts: softmax against α-entmax (Danovitch 2020, figure 1 and appendix A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from linker.common.errors import LinkerError
from linker.modules.entmax import entmax
from linker.plots.style import COLOURS, GREY, panels, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LENGTHS = (2, 5, 10, 25, 50, 100, 250, 500, 1000)
_DRAWS = 200


@dataclass(frozen=True)
class Example:
    """The weights of one text of so many tokens, the best score first."""

    tokens: int
    scores: list[float]
    softmax: list[float]
    entmax: list[float]


@dataclass(frozen=True)
class AttentionWeights:
    """What figure 1 shows.

    Attributes:
        alpha: of entmax; 2 is sparsemax.
        examples: single texts with random scores.
        lengths: tokens of the texts behind the following means over random texts.
        softmax_largest: the largest weight with softmax.
        entmax_largest: the same with α-entmax.
        entmax_nonzero: how many tokens α-entmax gives a weight above 0; with softmax it is all.
    """

    alpha: float
    examples: list[Example]
    lengths: list[int]
    softmax_largest: list[float]
    entmax_largest: list[float]
    entmax_nonzero: list[float]


def attention_weights(
    tokens: Sequence[int] = (5, 25), alpha: float = 2.0, seed: int = 13
) -> AttentionWeights:
    """Weights of tokens whose cosines with the query are uniform on [−1, 1].

    Args:
        tokens: lengths of the single texts.
        alpha: of entmax, in (1, 2].
        seed: of the scores.

    Raises:
        LinkerError: another α, or a text without tokens.
    """
    if not 1 < alpha <= 2:
        raise LinkerError(
            f"alpha is {alpha:g}, but must be above 1 (softmax itself) and at most 2 (sparsemax)"
        )
    if not tokens or min(tokens) < 1:
        raise LinkerError("a text has one token at least")
    generator = np.random.default_rng(seed)
    examples = []
    for count in tokens:
        scores = -np.sort(-generator.uniform(-1, 1, count))
        soft, sparse = _weights(scores[None], alpha)
        examples.append(Example(count, scores.tolist(), soft[0].tolist(), sparse[0].tolist()))
    means = []
    for count in _LENGTHS:
        soft, sparse = _weights(generator.uniform(-1, 1, (_DRAWS, count)), alpha)
        means.append((soft.max(1).mean(), sparse.max(1).mean(), (sparse > 0).sum(1).mean()))
    columns = [[float(value) for value in column] for column in zip(*means)]
    return AttentionWeights(alpha, examples, list(_LENGTHS), *columns)


def _weights(scores: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    given = torch.from_numpy(scores)
    return entmax(given, 1.0).numpy(), entmax(given, alpha).numpy()


@style()
def figure(numbers: AttentionWeights) -> Figure:
    """A panel for each text, and one for the largest weight against length."""
    name = "sparsemax" if numbers.alpha == 2 else f"{numbers.alpha:g}-entmax"
    count = len(numbers.examples)
    figure, axes = panels(2.6 * count + 3.4, 2.9, count + 1, [1] * count + [1.25])
    highest = max(max(example.entmax + example.softmax) for example in numbers.examples)
    for number, (axis, example) in enumerate(zip(axes, numbers.examples)):
        _draw_example(axis, example, name)
        axis.set_ylim(0, 1.08 * highest)
        if number == 0:
            axis.set_ylabel("attention weight")
            axis.legend(loc="upper right")
        else:
            axis.tick_params(labelleft=False)
    _draw_by_length(axes[-1], numbers, name)
    return figure


def _draw_example(axis: Axes, example: Example, name: str) -> None:
    places = np.arange(1, example.tokens + 1)
    axis.bar(places - 0.2, example.softmax, 0.4, color=COLOURS[0], label="softmax")
    axis.bar(places + 0.2, example.entmax, 0.4, color=COLOURS[1], label=name)
    axis.set_title(f"{example.tokens} token{'s' if example.tokens > 1 else ''}")
    axis.set_xlabel("token, best score first")
    axis.set_xlim(0.3, example.tokens + 0.7)
    axis.locator_params(axis="x", integer=True)
    axis.grid(axis="x", visible=False)


def _draw_by_length(axis: Axes, numbers: AttentionWeights, name: str) -> None:
    for weights, colour, marker, text in (
        (numbers.entmax_largest, COLOURS[1], "s", name),
        (numbers.softmax_largest, COLOURS[0], "o", "softmax"),
    ):
        axis.loglog(numbers.lengths, weights, color=colour, marker=marker, markersize=4)
        middle = numbers.lengths.index(50)
        place = numbers.lengths[middle], weights[middle]
        axis.annotate(text, place, (5, 3), textcoords="offset points", color=colour, va="bottom")
    equal = [1 / length for length in numbers.lengths]
    axis.loglog(numbers.lengths, equal, color=GREY, linestyle=":", linewidth=1.2)
    axis.annotate(
        "all equal (1/n)",
        (numbers.lengths[-3], equal[-3]),
        (-4, -14),
        textcoords="offset points",
        color=GREY,
        ha="right",
    )
    axis.set_title("largest weight")
    axis.set_xlabel("tokens in the text (n)")
    axis.yaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_major_formatter("{x:,.0f}")
    axis.minorticks_off()
