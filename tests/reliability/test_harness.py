"""The campaigns of tests/reliability, short ones: nothing that they try breaks linker."""

import random
import re
import sys
from pathlib import Path

import pytest

from tests.reliability.__main__ import CAMPAIGNS
from tests.reliability.fuzz import mutated
from tests.reliability.harness import Ended, Tally

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
@pytest.mark.parametrize("name", sorted(set(CAMPAIGNS) - {"server"}))
def test_everything_holds(name: str, tmp_path: Path) -> None:
    campaign, tally = CAMPAIGNS[name], Tally()
    campaign.run(tally, tmp_path, campaign.quick, random.Random(2))
    assert tally.tried > 0
    assert tally.faults == []


def test_every_guarantee_has_a_campaign_and_every_campaign_a_guarantee() -> None:
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = [line.split("|")[2] for line in page.splitlines() if line.startswith("|")][2:]
    evidence = [re.findall("`([^`]+)`", row) for row in rows]
    assert {name for row in evidence for name in row if "/" not in name} == set(CAMPAIGNS)
    assert all(row and all((ROOT / name).is_file() for name in row if "/" in name) for row in evidence)


@pytest.mark.parametrize(
    ("code", "err", "is_fault"),
    [
        (0, "", False),
        (2, "error: posts.csv: file not found", False),
        (2, "", True),
        (3, "error: x", True),
        (1, "Traceback (most recent call last):", True),
        (0, "Exception ignored in: <function>", True),
        (-9, "", True),
        (None, "", True),
    ],
)
def test_faults_are_recognized(code: int | None, err: str, is_fault: bool) -> None:
    assert bool(Ended(code, "", err).fault()) == is_fault


def test_damages_are_reproducible() -> None:
    content = b'{"id": "1", "text": "otters"}\n{"id": "2", "text": "weir"}\n'
    first = [mutated(content, random.Random(seed)) for seed in range(200)]
    assert first == [mutated(content, random.Random(seed)) for seed in range(200)]
    assert sum(one != content for one in first) > 180
