"""Peak memory of a training step or of encoding, each in a separate process."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import torch

from benchmarks.measurement import process_status, reset_peak_memory, say
from benchmarks.speed.workloads import Training, contender, zipf_texts
from linker.data.vocabulary import EncodedText


def memory_of(
    work: str, names: Sequence[str], words: int, articles: list[EncodedText], posts: list[EncodedText]
) -> dict[str, int]:
    """Peak bytes of one training step (`work` is "step") or of encoding the articles ("encode").

    Each is run in a fresh process, after the same work on two short texts has loaded all code: the highest resident
    set while it runs (VmHWM, set back before) minus the resident set before.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.speed.workloads"])
    found = {}
    for name in names:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            arguments = (work, name, words, articles, posts, torch.get_num_threads())
            found[name] = pool.submit(_memory_job, *arguments).result()
        say(f"    {name:28} {found[name] / 2**20:10.1f} MiB")
    return found


def _memory_job(
    work: str, name: str, words: int, articles: list[EncodedText], posts: list[EncodedText], threads: int
) -> int:
    torch.set_num_threads(threads)
    who = contender(name, words)
    training = Training(who)

    def run(articles: list[EncodedText], posts: list[EncodedText]) -> None:
        if work == "step":
            training.step(articles, posts)
        else:
            who.encode(articles)

    short = zipf_texts(4, 8, words, 0)
    run(short[:2], short[2:])
    before = reset_peak_memory()
    run(articles, posts)
    return process_status("VmHWM", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) - before
