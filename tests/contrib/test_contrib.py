"""The papers in linker/contrib: found without options, described, and unknown to the core."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linker.config.registry import Catalog

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ("deboom2016", "twitter4sse", "wrapresentations")


def test_every_component_is_found_without_options_and_loads() -> None:
    catalog = Catalog()
    found = {
        name: reference
        for family in catalog.families()
        for name, reference in catalog.components(family).items()
        if reference.startswith("linker.contrib.")
    }
    assert {reference.split(".")[2] for reference in found.values()} == {"deboom2016", "wrapresentations"}
    for name in ("passages", "median_based", "drop_then_stop", "labeled_texts", "class_pairs"):
        module, _, class_name = found[name].partition(":")
        assert catalog.load(found[name]).__name__ == class_name
        assert catalog.load(found[name]).__module__ == module


def test_the_core_imports_nothing_of_contrib() -> None:
    imports = re.compile(r"^\s*(?:from|import) linker\.contrib\b", re.MULTILINE)
    contrib = ROOT / "linker/contrib"
    core = [path for path in ROOT.glob("linker/**/*.py") if contrib not in path.parents]
    assert len(core) > 100
    assert [path for path in core if imports.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_each_paper_names_its_config_its_command_and_its_benchmark(paper: str) -> None:
    text = (ROOT / "linker/contrib" / paper / "README.md").read_text(encoding="utf-8")
    assert (ROOT / f"configs/papers/{paper}.jsonnet").is_file()
    assert (ROOT / f"benchmarks/papers/{paper}.py").is_file()
    assert f"linker train configs/papers/{paper}.jsonnet" in text
    assert f"python -m benchmarks.papers.{paper}" in text
    links = re.findall(r"\]\(([^)#]+)", text)
    assert [link for link in links if not (ROOT / "linker/contrib" / paper / link).exists()] == []
