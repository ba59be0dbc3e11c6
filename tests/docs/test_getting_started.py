"""The configs that pages show as files are right."""

import re
from pathlib import Path

from linker.config import EXPERIMENT, check, load_config

ROOT = Path(__file__).parents[2]


def test_configs_on_pages_are_right_in_any_folder(tmp_path: Path) -> None:
    places = [*(ROOT / "docs/getting-started").glob("*.md"), ROOT / "docs/guides/config.md"]
    pages = "\n".join(page.read_text(encoding="utf-8") for page in places)
    found = re.findall(r"<!-- file: (\S+) -->\n```jsonnet\n(.*?)```", pages, re.DOTALL)
    assert len(found) == 2
    for name, body in found:
        (tmp_path / name).write_text(body, encoding="utf-8")
        assert check(EXPERIMENT, load_config(tmp_path / name)) == []
