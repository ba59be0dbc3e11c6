"""No command makes a connection unless it is given an address: each runs with sockets that record and refuse."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from linker.cli.main import app

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data"

# Runs lines of arguments one after the other, where name look-ups and connections fail and are written down.
WATCHED = """
import json, shlex, socket, sys
tried = []

def refuse(kind):
    def refused(*arguments, **options):
        tried.append(f"{kind} {arguments[-2:]}")
        raise OSError("no connection in this test")
    return refused

def watched(name, real):
    def call(self, address, *rest):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            return refuse(name)(address)
        return real(self, address, *rest)
    return call

for name in ("connect", "connect_ex"):
    setattr(socket.socket, name, watched(name, getattr(socket.socket, name)))
socket.getaddrinfo = refuse("getaddrinfo")
socket.gethostbyname = refuse("gethostbyname")

from linker.cli.main import main
codes = {}
for line in sys.stdin.read().splitlines():
    sys.argv = ["linker", *shlex.split(line)]
    try:
        main()
        codes[line] = 0
    except SystemExit as end:
        codes[line] = end.code or 0
with open("report.json", "w") as file:
    json.dump({"codes": codes, "tried": tried}, file)
"""

COMMANDS = f"""
rank --article {DATA}/wolf.html --posts {DATA}/posts.jsonl --explain --out ranking.html
rank --article {DATA}/wolf.html --posts {DATA}/posts.jsonl --model distilled --out ranking.jsonl
corpus build {DATA}/posts.jsonl --out corpus --model distilled
corpus add corpus {DATA}/posts.jsonl
corpus info corpus
corpus verify corpus
corpus delete corpus ids.txt
corpus compact corpus
corpus export corpus --out exported.parquet
corpus search corpus --article {DATA}/wolf.html
annotate simulate --articles seed.jsonl --posts labeled.jsonl --model bm25 --seeds 1 --out simulated
annotate start session --article {DATA}/wolf.html --posts {DATA}/posts.jsonl --model bm25
annotate next session --annotator ann
annotate status session
annotate export session --out labels.csv
annotate agreement session
train {ROOT}/configs/quickstart.jsonnet -o trainer.epochs=1 --out model
evaluate --model model bm25 --articles {DATA}/articles.jsonl --posts {DATA}/posts.jsonl
calibrate --model bm25 --articles {DATA}/articles.jsonl --posts {DATA}/posts.jsonl --out calibration.json
config components
doctor
config new loss a_loss
config show {ROOT}/configs/ast.jsonnet
config check {ROOT}/configs/ast.jsonnet
config list
mine links linked.jsonl --out set
""".strip().splitlines()

#: They connect to addresses that are given, listen, ask for labels, or need what the sample has not (teachers, archives
#: of tweets); their modules are imported with the others.
NOT_RUN = {
    "annotate import", "annotate label", "annotate run", "annotate undo", "mcp", "mine augmented",
    "mine benchmarks", "mine coquotes", "mine coreplies", "mine fetch", "mine quotes", "mine replies",
    "model export", "model push", "serve",
}  # fmt: skip


@pytest.mark.slow
def test_no_command_connects_to_anything(tmp_path: Path) -> None:
    subjects = ("otters", "bridges", "harvests", "libraries")
    rows = [
        {
            "id": subject,
            "text": f"neighbors{n} complain{n} about{n} the {subject} loudly{n}",
            "links": [f"https://news.example/2031/a-story-about-{subject}"],
            "card_title": f"What {subject} and their keepers{n} do in winter{n}",
            "created_at": f"2031-0{n + 1}-15T12:00:00Z",
        }
        for n, subject in enumerate(subjects)
    ]
    (tmp_path / "linked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    seed = {"id": "a", "title": "Otters in winter", "text": "Otters sleep in the reeds."}
    (tmp_path / "ids.txt").write_text("unknown\n", encoding="utf-8")
    (tmp_path / "seed.jsonl").write_text(json.dumps(seed), encoding="utf-8")
    labeled = ({"id": f"l{n}", "text": f"otters{n % 2} in winter{n}", "relevant": n % 2} for n in range(20))
    (tmp_path / "labeled.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in labeled), encoding="utf-8"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    result = subprocess.run(
        [sys.executable, "-c", WATCHED],
        input="\n".join(COMMANDS),
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["tried"] == [], result.stderr
    assert {line: code for line, code in report["codes"].items() if code} == {}, result.stderr


def test_every_command_is_run_or_excused() -> None:
    run = {name for name in _names() if any(line.startswith(f"{name} ") or line == name for line in COMMANDS)}
    assert run | NOT_RUN == set(_names())
    assert not run & NOT_RUN


def _names() -> Iterator[str]:
    def below(command: object, path: tuple[str, ...]) -> Iterator[str]:
        subcommands = getattr(command, "commands", None)
        if subcommands is None:
            yield " ".join(path)
        else:
            for name, subcommand in subcommands.items():
                yield from below(subcommand, (*path, name))

    yield from below(typer.main.get_command(app), ())
