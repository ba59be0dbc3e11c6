"""The α that each attention head has learned (Danovitch 2020, figure 3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn

from linker.common.errors import ModelError
from linker.models.model import Model
from linker.modules.encoders.attention import HeadAlphas
from linker.plots.style import COLORS, GREY, panels, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAME = re.compile(r"cycles\.(\d+)\.(ring|star)\.alphas$")


@dataclass(frozen=True)
class Cycle:
    """The α of the heads of one cycle."""

    ring: list[float]
    star: list[float]


@dataclass(frozen=True)
class Alphas:
    """Data of the figure: the cycles in order, and whether α was learned or fixed by the config."""

    learned: bool
    cycles: list[Cycle]


@torch.no_grad()
def alphas(model: Model, name: str = "the model") -> Alphas:
    """Return the α of each head.

    Args:
        model: a model with the encoder `star_transformer`.
        name: name of the model in messages.

    Raises:
        ModelError: if the model has no α.
    """
    found: dict[int, dict[str, HeadAlphas]] = {}
    for path, module in model.named_modules() if isinstance(model, nn.Module) else ():
        if isinstance(module, HeadAlphas) and (match := _NAME.search(path)):
            found.setdefault(int(match[1]), {})[match[2]] = module
    if not found:
        raise ModelError(
            f"{name}: has no α per head; use a model with the encoder star_transformer, such as that of "
            "`linker train configs/ast.jsonnet`"
        )
    cycles = [
        Cycle(
            *(
                [float(f"{value:.6g}") for value in found[number][part]().tolist()]
                for part in ("ring", "star")
            )
        )
        for number in sorted(found)
    ]
    return Alphas(all(one.theta is not None for parts in found.values() for one in parts.values()), cycles)


@style()
def figure(numbers: Alphas) -> Figure:
    """Plot α over its whole range on the left, and a close-up on the right."""
    heads = len(numbers.cycles[0].ring)
    figure, axes = panels(max(7.2, 2.5 + 0.5 * heads * len(numbers.cycles)), 3.2, 2, [1, 1.6])
    for axis in axes:
        _draw(axis, numbers, heads)
    whole, near = axes
    whole.set_ylim(0.95, 2.05)
    whole.set_yticks(
        [1, 1.5, 2], ["1\nsoftmax", "1.5\nat the start" if numbers.learned else "1.5", "2\nsparsemax"]
    )
    whole.set_ylabel("α")
    whole.set_title(f"{'learned' if numbers.learned else 'fixed'} α per head")
    near.set_title("close-up")
    low, high = near.get_ylim()
    if high - low < 0.02:  # differences due to rounding must not be visible
        near.set_ylim((low + high) / 2 - 0.01, (low + high) / 2 + 0.01)
    handles, names = near.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3)
    return figure


def _draw(axis: Axes, numbers: Alphas, heads: int) -> None:
    places = []
    for number, cycle in enumerate(numbers.cycles):
        x = [number * (heads + 1) + head + 1 for head in range(heads)]
        places += x
        first = number == 0
        for part, color, marker, text, size in (
            (cycle.ring, COLORS[0], "o", "ring (tokens to neighbors)", 6),
            (cycle.star, COLORS[1], "*", "star (relay to all tokens)", 9),
        ):
            axis.plot(x, part, marker, color=color, markersize=size, label=text if first else None)
            mean = sum(part) / len(part)
            axis.plot([x[0] - 0.4, x[-1] + 0.4], [mean, mean], color=color, linewidth=1, alpha=0.6)
    if numbers.learned:
        axis.axhline(1.5, color=GREY, linestyle=":", linewidth=1.2)
    several = len(numbers.cycles) > 1
    step = max(1, heads // 10)
    shown = [place for place in places if (place - 1) % (heads + 1) % step == 0]
    axis.set_xticks(shown, [str((place - 1) % (heads + 1) + 1) for place in shown])
    axis.set_xlabel("head, cycle after cycle" if several else "head")
    axis.grid(axis="x", visible=False)
