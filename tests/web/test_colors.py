"""Texts can be read in both themes: contrasts by WCAG 2.2, computed from the page's own colors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import linker.web

STYLE = (Path(linker.web.__file__).parent / "static" / "style.css").read_text()
THEMES = {
    name: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", STYLE.split(selector, 1)[1].split("}", 1)[0]))
    for name, selector in (("light", ":root {"), ("dark", ':root[data-theme="dark"] {'))
}
# What is written on what.
TEXTS = [
    *[(ink, ground) for ink in ("ink", "muted", "accent") for ground in ("page", "surface", "raised")],
    ("accent-ink", "accent"), ("accent", "accent-soft"),
    ("yes-ink", "yes"), ("yes", "yes-soft"), ("muted", "yes-soft"), ("no-ink", "no"), ("no", "no-soft"),
    ("no", "surface"),
    ("skip", "skip-soft"), ("muted", "skip-soft"), ("surface", "skip"), ("warn", "warn-soft"),
    *[("mark-ink", f"mark-{n}") for n in range(1, 5)],
]  # fmt: skip
# Edges of fields and what shows where the keyboard is.
SHAPES = [(line, ground) for line in ("edge", "focus") for ground in ("page", "surface", "raised")]


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_formula() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_both_themes_have_the_same_colours() -> None:
    assert THEMES["light"].keys() == THEMES["dark"].keys()
    assert len(THEMES["light"]) > 20


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("ink", "ground"), TEXTS)
def test_texts_can_be_read(theme: str, ink: str, ground: str) -> None:
    assert contrast(THEMES[theme][ink], THEMES[theme][ground]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("line", "ground"), SHAPES)
def test_fields_and_focus_can_be_seen(theme: str, line: str, ground: str) -> None:
    assert contrast(THEMES[theme][line], THEMES[theme][ground]) >= 3
