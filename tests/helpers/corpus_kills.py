"""Builds a corpus in processes that are killed: python -m tests.helpers.corpus_kills CORPUS POSTS MODEL KILLS.

What is slow to load is loaded once; each build is a fork. Half of them are killed some time after they began to write,
wherever they are then, half at some call of a function that writes, which meets the short moments between two writes.
"""

import os
import random
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

import torch

from linker.corpus import builder
from linker.corpus.builder import build_corpus
from linker.corpus.storage.store import FACTS, Store
from linker.corpus.verify import faults
from linker.data.io.columns import PostColumns
from linker.models.files.resolve import resolve_model

# Some ten appends.
CALLS = 400
ENDED = os.WEXITED | os.WNOHANG | os.WNOWAIT
WRITING = ("store.py", "checksums.py", "data_files.py", "array_files.py")


def kill_at(call: int) -> None:
    """Have this process killed at that call or return, in whatever thread."""
    left = [call]

    def count(frame: FrameType, event: str, argument: object) -> None:
        if frame.f_code.co_filename.endswith(WRITING):
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(count)
    sys.setprofile(count)


def size(folder: Path) -> int:
    found = 0
    for parent, _, names in os.walk(folder):  # skips folders that have just been removed
        for name in names:
            with suppress(FileNotFoundError):
                found += (Path(parent) / name).stat().st_size
    return found


def verify(folder: Path) -> None:
    """In a fork as well: Lance's threads do not live on in forks of this process."""
    process = os.fork()
    if not process:
        found = list(faults(Store.open(folder))) if (folder / FACTS).exists() else []
        print(*found, sep="\n", end="", file=sys.stderr, flush=True)
        os._exit(len(found))
    if os.waitpid(process, 0)[1]:
        raise SystemExit("a kill left a corpus that is not whole")


def main() -> None:
    corpus, posts, model, kills = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    torch.set_num_threads(1)
    builder.POSTS_AT_ONCE = 25
    resolve_model(model).load()
    chance = random.Random(kills)
    killed = 0
    for number in range(kills):
        process = os.fork()
        if not process:
            if number % 2:
                kill_at(chance.randrange(CALLS))
            build_corpus(corpus, [posts], model, PostColumns())
            os._exit(0)
        if not number % 2:
            before = size(corpus)
            while size(corpus) == before and not os.waitid(os.P_PID, process, ENDED):
                time.sleep(0.005)
            time.sleep(0.3 * chance.random())
            os.kill(process, signal.SIGKILL)
        chance.random()
        killed += os.waitpid(process, 0)[1] == signal.SIGKILL
        verify(corpus)
    print(killed)


if __name__ == "__main__":
    main()
