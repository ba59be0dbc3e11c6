"""The tutorial's own blocks, in order, as a newcomer would run them; only the sample is cut to a few stories."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tests.helpers.forked import run_linker

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/guides/add-your-own-encoder.md"
BLOCK = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w+)\n(?P<body>.*?)```", re.DOTALL)
LINKER = re.compile(r"(?P<variables>(?:[A-Z_]+=\S+ )*)linker (?P<arguments>[^|&;<>$]+)")
STORIES = ("s01", "s16")


def prepare(folder: Path) -> None:
    """A working folder as the page expects it: configs, and a sample small enough for a test."""
    shutil.copytree(ROOT / "configs", folder / "configs")
    (folder / "data").mkdir()
    for name in ("article.html", "vectors.txt.gz"):
        shutil.copy(ROOT / "data" / name, folder / "data")
    for name in ("articles.jsonl", "posts.jsonl"):
        lines = (ROOT / "data" / name).read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["id"].startswith(STORIES)]
        (folder / "data" / name).write_text("".join(kept), encoding="utf-8")


def run(command: list[str], folder: Path) -> str:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "COLUMNS": "200",
    }
    if found := LINKER.fullmatch(command[-1]):
        variables = dict(word.split("=") for word in found["variables"].split())
        words = shlex.split(found["arguments"])
        done = run_linker(folder, *words, environment=environment | variables)
    else:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_every_block_runs_and_the_encoder_is_used(tmp_path: Path) -> None:
    prepare(tmp_path)
    outputs: dict[str, str] = {}
    blocks = list(BLOCK.finditer(PAGE.read_text(encoding="utf-8")))
    for block in blocks:
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["body"], encoding="utf-8")
        elif block["kind"] == "python":
            outputs["python"] = run([sys.executable, "-c", block["body"]], tmp_path)
        else:
            assert block["kind"] == "bash", f"a {block['kind']} block that belongs to no file"
            for line in block["body"].splitlines():
                outputs[line] = run(["bash", "-c", line], tmp_path)

    said = {command.split(" --")[0]: output for command, output in outputs.items()}
    assert "hidden_dim" in said["linker config components Encoder.gated_mean"]
    assert ": ok" in said["linker config check configs/quickstart.jsonnet"]
    config = json.loads((tmp_path / "runs/gated/config.json").read_text())
    assert config["model"]["encoder"] == {"type": "gated_mean", "hidden_dim": 16, "dropout": 0.05}
    assert "words of the article by TF-IDF" in said["LINKER_PACKAGES=my_linker linker rank"]
    assert "gated" in said["linker evaluate"]
    score, text = outputs["python"].split(" ", 1)
    assert 0 <= float(score) <= 100
    assert text.strip() in (tmp_path / "data/posts.jsonl").read_text(encoding="utf-8")
