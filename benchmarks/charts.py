"""Bar charts and line charts as small SVG files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from linker.common.files import atomic_write

COLORS = ("#1b6ca8", "#d1495b", "#2e933c", "#edae49", "#6a4c93", "#5f6b73", "#00798c", "#a44a3f")
WIDTH = 640


def bars(title: str, groups: Mapping[str, Mapping[str, float | None]], path: Path) -> None:
    """Draw a row of bars per group, in proportion to their values."""
    longest = max((value for group in groups.values() for value in group.values() if value), default=1.0)
    lines, y = [], 40
    for label, group in groups.items():
        lines.append(_text(10, y + 10, label, weight="bold"))
        y += 18
        for i, (name, value) in enumerate(group.items()):
            if value is None:
                continue
            length = 360 * value / longest
            lines.append(_text(200, y + 10, name, anchor="end"))
            lines.append(f'<rect x="208" y="{y}" width="{length:.1f}" height="12" fill="{_color(i)}"/>')
            lines.append(_text(212 + length, y + 10, f"{value:.1f}×"))
            y += 16
        y += 10
    _save(title, lines, y, path)


def curves(title: str, series: Mapping[str, Sequence[tuple[float, float]]], path: Path) -> None:
    """Draw lines over two logarithmic axes."""
    points = [point for line in series.values() for point in line]
    left, right = (math.log2(f(x for x, _ in points)) for f in (min, max))
    low, high = (math.log10(f(y for _, y in points)) for f in (min, max))
    low, high = math.floor(low), math.ceil(high)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log2(x) - left) / max(right - left, 1e-9)
        up = (math.log10(y) - low) / max(high - low, 1e-9)
        return 60 + 400 * across, 300 - 250 * up

    lines = []
    for power in range(low, high + 1):
        x, y = place(2**left, 10**power)
        lines.append(f'<line x1="{x}" y1="{y:.1f}" x2="460" y2="{y:.1f}" stroke="#ddd"/>')
        lines.append(_text(x - 6, y + 4, f"{10**power:g}", anchor="end"))
    for x_value in sorted({x for x, _ in points}):
        lines.append(_text(place(x_value, 1)[0], 318, f"{x_value:,.0f}", anchor="middle"))
    for i, (name, line) in enumerate(series.items()):
        path_points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line))
        lines.append(f'<polyline points="{path_points}" fill="none" stroke="{_color(i)}" stroke-width="2"/>')
        lines.append(f'<rect x="474" y="{50 + 20 * i}" width="12" height="12" fill="{_color(i)}"/>')
        lines.append(_text(492, 60 + 20 * i, name))
    _save(title, lines, 330, path)


def _color(i: int) -> str:
    return COLORS[i % len(COLORS)]


def _text(x: float, y: float, text: str, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{text}</text>'


def _save(title: str, lines: list[str], height: float, path: Path) -> None:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    style = ' font-family="sans-serif" font-size="12" fill="#222">'
    ground = f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>'
    with atomic_write(path) as file:
        file.write(
            "\n".join([head + style, ground, _text(10, 20, title, weight="bold"), *lines, "</svg>"]) + "\n"
        )
