"""`linker config components`: each with its paper and the page about it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from linker.cli.commands.config import PAGES

ROOT = Path(__file__).parents[3]


def components(*arguments: str) -> str:
    """What the command prints, without the components that other tests register."""
    done = subprocess.run(
        [sys.executable, "-m", "linker", "config", "components", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return done.stdout


def anchor(heading: str) -> str:
    """Return the anchor that code hosts give a heading."""
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).strip().replace(" ", "-")


def test_every_family_has_a_page_that_names_its_components() -> None:
    rows = json.loads(components("--json"))
    assert {row["family"] for row in rows} == set(PAGES)
    for row in rows:
        assert row["documentation"] == PAGES[row["family"]]
        page, _, section = row["documentation"].partition("#")
        text = (ROOT / page).read_text(encoding="utf-8")
        assert not section or section in map(anchor, re.findall(r"^#+ (.+)$", text, re.MULTILINE))
        assert f"`{row['name']}`" in text or f"`{row['name']}," in text, f"{page} lacks {row['name']}"


def test_papers_are_listed_with_their_addresses() -> None:
    rows = json.loads(components("--json"))
    papers = {row["name"]: row["papers"] for row in rows if row["family"] == "Encoder"}
    assert papers["cnn"] == ["Kim 2014, https://arxiv.org/abs/1408.5882"]
    assert len(papers["star_transformer"]) == 2
    assert papers["mean"] == []
    every = [paper for row in rows for paper in row["papers"]]
    assert len(every) > 25
    for paper in every:
        assert re.fullmatch(
            r"[A-Zv].* \d{4}, https://(arxiv\.org/abs/|doi\.org/10\.|aclanthology\.org/)\S+", paper
        )
    lines = components("Encoder").splitlines()
    assert lines[0] == "Encoder  (docs/components/encoders.md)"
    at = next(number for number, line in enumerate(lines) if line.startswith("  cnn "))
    assert lines[at + 1].strip() == papers["cnn"][0]
