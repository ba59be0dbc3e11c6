"""Style of all figures, and writing them reproducibly: the same data give the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linker.common.errors import LinkerError
from linker.common.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Distinguishable with any kind of color vision (Okabe and Ito 2008).
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#6b6b6b"

#: Dollar signs in posts must not start a formula.
_STYLE: Any = {
    "font.sans-serif": ["DejaVu Sans"], "font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GREY, "axes.grid": True,
    "axes.axisbelow": True, "grid.color": "#e4e4e4", "legend.frameon": False, "lines.linewidth": 1.8,
    "savefig.dpi": 150, "text.parse_math": False, "svg.fonttype": "none", "svg.hashsalt": "linker",
}  # fmt: skip
# Without the metadata that would differ between runs.
_METADATA: Any = {".svg": {"Date": None}, ".png": {"Software": None}, ".pdf": {"CreationDate": None}}


@contextmanager
def style() -> Iterator[None]:
    """Apply the style to figures drawn in the `with` block; also a decorator.

    Raises:
        LinkerError: if matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError:
        raise LinkerError("figures need matplotlib: pip install 'article-linker[plots]'") from None
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        # The font has no emojis and shows boxes instead.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def panels(width: float, height: float, columns: int = 1, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """Return an empty figure, its size in inches, and its panels, row by row; call it within `style`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


@style()
def rendered(figure: Figure, format_: str, dpi: int = 150) -> bytes:
    """Return a figure as `svg`, `png` or `pdf`, as notebooks show it; `dpi` applies to `png`."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=format_, dpi=dpi, metadata=_METADATA[f".{format_}"])
    return buffer.getvalue()


def save(figure: Figure, path: Path) -> None:
    """Write a figure atomically, in the format of the extension.

    Raises:
        LinkerError: if the file cannot be written.
    """
    content = rendered(figure, path.suffix.lower()[1:])
    with atomic_write(path, "wb") as file:
        file.write(content)


def label(text: str, longest: int = 60) -> str:
    """Return untrusted text on one line, without unprintable characters, truncated to `longest` characters."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return clean if len(clean) <= longest else clean[: longest - 1].rstrip() + "…"
