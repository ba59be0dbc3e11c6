"""Small additions to a corpus by the hundred, deletions and compactions, killed in between, with few descriptors."""

import random
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from tests.reliability.harness import DATA, SAMPLE, Tally, fresh, must, read_rows, run, write_rows

#: Shell text around a command: few open files.
_FEW = 'ulimit -n 64; exec "$@"'
#: Additions of files in one process, since Python takes longer to start than to add.
_ADDING = """
import sys
from linker.corpus.builder import build_corpus
from linker.data.io.columns import PostColumns
from pathlib import Path
for path in sys.argv[2:]:
    build_corpus(Path("corpus"), [path], sys.argv[1], PostColumns())
"""
_ADDITIONS = 20
_COUNTING = """
from linker.corpus.storage.store import Store
from pathlib import Path
print(len(Store.open(Path("corpus")).shards() or ()))
"""
_SEARCHES = (("--copies",), ("--since", "2031-03-10", "--lang", "en", "--top", "20", "--explain"))
#: Files of at most this number of posts are merged, some 30 in a row.
_MOST_FILES = 33


def many_adds(tally: Tally, folder: Path, additions: int, chance: random.Random) -> None:
    """Add, delete and compact with 64 descriptors, killed in between; a corpus that was built at once is the same."""
    files = []
    for model in ("distilled", "bm25"):
        with fresh(folder) as place:
            batches = [_batch(place, number, chance) for number in range(additions // 2 // _ADDITIONS)]
            there: list[dict[str, object]] = []
            for names in batches:
                command = ("-c", _ADDING, model, *names)
                tally.without(_again(command, place, tally, chance, (sys.executable,)), f"{model}: add")
                there += [row for name in names for row in read_rows(place / name)]
                there = _without_some(there, model, place, tally, chance)
                files.append(int(must(("-c", _COUNTING), place, program=(sys.executable,)).out))
                tally.check(files[-1] <= _MOST_FILES, f"{model}: {files[-1]} data files")
                if chance.random() < 0.2:
                    tally.without(
                        _again(("corpus", "compact", "corpus"), place, tally, chance), f"{model}: compact"
                    )
            _compare(there, model, place, tally)
    tally.notes = f"{tally.kills} kills; {max(files, default=0)} data files at most; same results"


def _batch(place: Path, number: int, chance: random.Random) -> list[str]:
    """Write the files of some additions, of 1 to 50 posts each; returns their names."""
    sample, names = read_rows(DATA / "posts.jsonl"), []
    for nth in range(_ADDITIONS):
        rows = chance.sample(sample, chance.choice((1, 1, 3, 10, 50)))
        names.append(f"{number}-{nth}.jsonl")
        write_rows(place / names[-1], [{**row, "id": f"{number}-{nth}-{row['id']}"} for row in rows])
    return names


def _without_some(
    there: list[dict[str, object]], model: str, place: Path, tally: Tally, chance: random.Random
) -> list[dict[str, object]]:
    """Delete some posts; returns the others."""
    gone = {str(row["id"]) for row in chance.sample(there, len(there) // 20)}
    (place / "gone.txt").write_text("".join(f"{id_}\n" for id_ in sorted(gone)), encoding="utf-8")
    tally.without(
        _again(("corpus", "delete", "corpus", "gone.txt"), place, tally, chance), f"{model}: delete"
    )
    return [row for row in there if row["id"] not in gone]


def _again(
    command: Sequence[str], place: Path, tally: Tally, chance: random.Random, program: Sequence[str] = ()
) -> str:
    """Kill a command, then let it end; returns a fault."""
    how = {"shell": _FEW, **({"program": program} if program else {})}
    if chance.random() < 0.7:
        tally.kill(command, place, chance.uniform(0.5, 5), **how)
    return run(command, place, 300, **how).fault((0,))


def _compare(there: list[dict[str, object]], model: str, place: Path, tally: Tally) -> None:
    """Compare the corpus with one that is built at once."""
    write_rows(place / "there.jsonl", there)
    must(("corpus", "build", "there.jsonl", "--out", "whole", "--model", model), place)
    tally.run(("corpus", "verify", "corpus"), place, shell=_FEW)
    for more in _SEARCHES:
        outs = [
            tally.run(
                ("corpus", "search", name, *SAMPLE[:2], "--format", "jsonl", *more), place, shell=_FEW
            ).out
            for name in ("corpus", "whole")
        ]
        tally.check(outs[0] == outs[1] and outs[0], f"{model}: other results of {more}")
    if model == "distilled":
        for name in ("corpus", "whole"):
            tally.run(("corpus", "export", name, "--out", f"{name}.parquet"), place, shell=_FEW)
        tally.check(
            pq.read_table(place / "corpus.parquet") == pq.read_table(place / "whole.parquet"), "other export"
        )
