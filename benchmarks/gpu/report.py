"""The page about a run on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
_REHEARSAL = (
    "A rehearsal without a GPU: small sizes, gloo. The figures say that everything runs, and "
    "mean nothing else."
)


def page(results: Row) -> str:
    """Return the page, Markdown, from the figures of all parts so far."""
    about = results["device"]
    gpus = ", ".join(about["gpus"]) or "no GPU"
    parts = [
        "# linker on a GPU",
        _REHEARSAL if results["rehearsal"] else "Made by `make gpu`.",
        f"{gpus}; CUDA {about['cuda']}; {about['machine']}.",
    ]
    for name, figures in results["parts"].items():
        title, body = _SECTIONS[name]
        parts.append(f"## {title}")
        if "problem" in figures:
            parts.append(f"**Failed**: {figures['problem']}")
        else:
            parts.append(body(figures))
            parts.append(f"Took {figures['seconds']} s.")
    return "\n\n".join(parts) + "\n"


def table(rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table; numbers have three digits, what is missing is a dash."""
    if not rows:
        return "Nothing was measured."
    names = list(rows[0])
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    lines += [f"| {' | '.join(shown(row.get(name)) for name in names)} |" for row in rows]
    return "\n".join(lines)


def shown(value: Any) -> str:
    """Return a cell of a table."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return (
            f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) < 0.999 else f"{value:.4g}"
        )
    return f"{value:,}" if isinstance(value, int) else str(value)


def pivot(rows: Sequence[Row], row: str, column: str, value: str) -> str:
    """Return a table with a row per value of `row`, a column per value of `column`, and `value` in the cells."""
    columns = list(dict.fromkeys(one[column] for one in rows))
    found: dict[Any, dict[str, Any]] = {}
    for one in rows:
        found.setdefault(one[row], {row: one[row]})[one[column]] = one.get(value)
    return table([{name: cells.get(name) for name in [row, *columns]} for cells in found.values()])


def _differences(figures: Row) -> str:
    return (
        "Embeddings of a star transformer, and the gradient of its tokens as a relative difference, beside float64 on "
        f"the CPU:\n\n{table(figures['rows'])}"
    )


def _attention(figures: Row) -> str:
    rows = figures["rows"]
    return (
        f"Forward and backward pass over {figures['tokens']:,} tokens, in ms:\n\n"
        f"{pivot(rows, 'tokens a text', 'encoder', 'ms')}\n\nPeak memory, in MiB:\n\n"
        f"{pivot(rows, 'tokens a text', 'encoder', 'MiB')}"
    )


def _encoders(figures: Row) -> str:
    rows = figures["rows"]
    return (
        "A step on articles of 300 tokens and as many posts of 30: embeddings, mining, loss, Adam. In ms:\n\n"
        f"{pivot(rows, 'articles', 'encoder', 'ms')}\n\nPeak memory, in MiB:\n\n"
        f"{pivot(rows, 'articles', 'encoder', 'MiB')}"
    )


def _precisions(figures: Row) -> str:
    rows = figures["rows"]
    return (
        f"64 articles and posts. Time of a step, in ms:\n\n{pivot(rows, 'encoder', 'precision', 'ms')}\n\n"
        f"Loss after {figures['steps']} steps:\n\n{pivot(rows, 'encoder', 'precision', 'loss')}"
    )


def _devices(figures: Row) -> str:
    rows = [
        {
            "processes": one["processes"],
            "s": one["s"],
            **{name: value for name, value in one["metrics"].items() if isinstance(value, float)},
        }
        for one in figures["rows"]
    ]
    return f"`configs/quickstart.jsonnet`, two epochs, {figures['backend']}:\n\n{table(rows)}"


def _ranking(figures: Row) -> str:
    return f"Posts of the sample, encoded by the network of `best`:\n\n{table(figures['rows'])}"


_SECTIONS: dict[str, tuple[str, Callable[[Row], str]]] = {
    "differences": ("Differences from float64", _differences),
    "attention": ("Attention by length of the texts", _attention),
    "encoders": ("Training steps by batch", _encoders),
    "precisions": ("Precisions", _precisions),
    "devices": ("One process and several", _devices),
    "ranking": ("The default model", _ranking),
}
