"""The configs that the pages on getting started show are right."""

import re
import shutil
from pathlib import Path

from linker.config import EXPERIMENT, check, load_config

ROOT = Path(__file__).parents[2]


def test_the_configs_in_getting_started_are_right(tmp_path: Path) -> None:
    pages = [
        page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs/getting-started").glob("*.md"))
    ]
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    found = re.findall(r"<!-- file: (\S+) -->\n```jsonnet\n(.*?)```", "\n".join(pages), re.DOTALL)
    assert found
    for name, body in found:
        (tmp_path / name).write_text(body, encoding="utf-8")
        assert check(EXPERIMENT, load_config(tmp_path / name)) == []
