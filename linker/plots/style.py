"""How all figures look, and how they are written: the same numbers give the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linker.common.errors import LinkerError
from linker.common.files import atomic_write, check_writable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".png", ".pdf")

#: Distinct for readers with any kind of colour vision (Okabe and Ito 2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#6b6b6b"

_STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    # Texts of strangers are no formulas.
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "linker",
}
# What would differ from one run to the next.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}


def need_matplotlib() -> None:
    """See that figures can be drawn.

    Raises:
        LinkerError: matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise LinkerError("figures need matplotlib: pip install 'article-linker[plots]'") from None


def check_figure(path: Path, inputs: Iterable[str | Path] = ()) -> None:
    """Find out before any work whether a figure can be drawn and written.

    Raises:
        LinkerError: matplotlib is missing, the ending says no format, or the file cannot be written.
    """
    if path.suffix.lower() not in ENDINGS:
        raise LinkerError(
            f"{path}: the ending says what is written; figures are {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        )
    need_matplotlib()
    check_writable(path, inputs)


@contextmanager
def style() -> Iterator[None]:
    """The house style for what is drawn within; also a decorator.

    Raises:
        LinkerError: matplotlib is not installed.
    """
    need_matplotlib()
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        # Emojis are not in the font; a box stands for them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def panels(
    width: float, height: float, columns: int = 1, ratios: Iterable[float] | None = None, rows: int = 1
) -> tuple[Figure, list[Axes]]:
    """An empty figure (inches) with panels, row by row; to be used within `style`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    drawn = figure.subplots(rows, columns, squeeze=False, width_ratios=list(ratios) if ratios else None)
    return figure, list(drawn.flat)


@style()
def rendered(figure: Figure, format_: str, dpi: int = 150) -> bytes:
    """The figure as `svg`, `png` or `pdf`; `dpi` counts for `png`."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=format_, dpi=dpi, metadata=_METADATA[format_])
    return buffer.getvalue()


def save(figure: Figure, path: Path) -> None:
    """Write a figure whole or not at all, in the format that the ending says.

    Raises:
        LinkerError: the file cannot be written.
    """
    content = rendered(figure, path.suffix.lower()[1:])
    with atomic_write(path, "wb") as file:
        file.write(content)


def label(text: str, longest: int = 60) -> str:
    """A text of strangers on one line, without what no font can show, cut where it is longer."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return clean if len(clean) <= longest else clean[: longest - 1].rstrip() + "…"
