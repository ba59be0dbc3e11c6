"""Share of each stage in the running time, and the least time that the arithmetic takes."""

from __future__ import annotations

import functools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from torch import nn
from torch.profiler import profile, record_function

import linker.models.siamese.word_siamese
from benchmarks.measurement import copy_rate, gemm_rate
from benchmarks.speed.baselines import OriginalHeads, OriginalRing, OriginalStar
from benchmarks.speed.workloads import DIM, HEAD_DIM, HEADS
from linker.data.batch import collate
from linker.data.vocabulary import EncodedText
from linker.modules.embedders.word_vectors import WordVectorsEmbedder
from linker.modules.encoders.attention import AttentionHeads
from linker.modules.encoders.star_transformer import Cycle
from linker.modules.kernels.native import NativeKernels
from linker.modules.kernels.plain import PlainKernels
from linker.modules.losses.triplet_margin import TripletMarginLoss
from linker.modules.miners import MultiSimilarityMiner

MARK = "stage: "
GATHER, PROJECT, RING, NORM, STAR = "gather, collate", "projections", "ring", "norm", "star"
ENTMAX, WINDOWS, LOSS, OPTIMIZER = "entmax", "windows", "mining, loss", "optimizer"
REST = "rest, waiting"
STAGES = (GATHER, PROJECT, WINDOWS, RING, NORM, STAR, ENTMAX, LOSS, OPTIMIZER, REST)

# Where a stage is called inside another, the inner one counts.
PLACES: tuple[tuple[Any, str, str], ...] = (
    (linker.models.siamese.word_siamese, "collate", GATHER),
    (WordVectorsEmbedder, "forward", GATHER),
    (nn.functional, "embedding", GATHER),
    (AttentionHeads, "queries_keys_values", PROJECT),
    (AttentionHeads, "queries", PROJECT),
    (AttentionHeads, "keys_values", PROJECT),
    (nn.Linear, "forward", PROJECT),
    (nn.Conv2d, "forward", PROJECT),
    (PlainKernels, "ring", RING),
    (NativeKernels, "ring", RING),
    (OriginalRing, "forward", RING),
    (nn.functional, "unfold", WINDOWS),
    (PlainKernels, "norm", NORM),
    (NativeKernels, "norm", NORM),
    (nn.LayerNorm, "forward", NORM),
    (nn.functional, "leaky_relu", NORM),
    (Cycle, "_star", STAR),
    (OriginalStar, "forward", STAR),
    (PlainKernels, "entmax", ENTMAX),
    (OriginalHeads, "weights", ENTMAX),
    (MultiSimilarityMiner, "forward", LOSS),
    (TripletMarginLoss, "forward", LOSS),
)


def marked(function: Callable[..., Any], stage: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        with record_function(MARK + stage):
            return function(*arguments, **named)

    return run


@contextmanager
def stages_marked() -> Iterator[None]:
    with ExitStack() as stack:
        for owner, name, stage in PLACES:
            stack.enter_context(mock.patch.object(owner, name, marked(getattr(owner, name), stage)))
        yield


def shares(task: Callable[[], object], repeats: int) -> dict[str, float]:
    """Return each stage's share of the task's time; backward passes count with their forward passes.

    From torch's profiler: every operator's own time goes to the stage that encloses it, or, in the backward pass,
    to that of the operator with the same sequence number. What passed outside operators is rest.
    """
    task()
    with stages_marked(), profile(acc_events=True) as profiler:
        start = time.perf_counter()
        for _ in range(repeats):
            task()
        total = 1e6 * (time.perf_counter() - start)
    events = sorted(profiler.events(), key=lambda event: event.time_range.start)
    by_number = {
        event.sequence_nr: _stage(event, {})
        for event in events
        if event.sequence_nr >= 0 and not _node(event)
    }
    found: dict[str, float] = defaultdict(float)
    for event in events:
        found[_stage(event, by_number)] += event.self_cpu_time_total
    found[REST] += max(total - sum(found.values()), 0)
    total = sum(found.values())
    return {stage: found[stage] / total for stage in STAGES if found[stage]}


def _node(event: Any) -> Any:
    """Return the stage of the backward pass that an operator belongs to, if any."""
    while event is not None and not event.name.startswith("autograd::engine::evaluate_function"):
        event = event.cpu_parent
    return event


def _stage(event: Any, by_number: dict[int, str]) -> str:
    node = _node(event)
    if node is not None:
        return by_number.get(node.sequence_nr, REST)
    while event is not None:
        if event.name.startswith(MARK):
            return str(event.name.removeprefix(MARK))
        if event.name.startswith("Optimizer."):
            return OPTIMIZER
        event = event.cpu_parent
    return REST


@dataclass(frozen=True)
class Floor:
    """Least arithmetic and traffic of some work, and what the machine needs for it."""

    flop: float
    bytes: float
    gemm: float
    copy: float

    @property
    def seconds(self) -> float:
        return self.flop / self.gemm + self.bytes / self.copy


def floor(texts: list[EncodedText], words: int, training: bool, repeats: int) -> Floor:
    """Of encoding these texts (or of a training step on them) with distinct words projected once.

    All arithmetic counts at the rate of the largest projection, measured on as many rows; that rate contains reading
    and writing what the products take and give. Bytes count what the other stages must read and write once, at the
    rate of copying one array of token vectors.
    """
    inner = HEADS * HEAD_DIM
    lengths = [len(text.ids) for text in texts]
    distinct = len(collate(texts, words).words)
    tokens, count = sum(lengths), len(texts)
    once = 3 if training else 1
    # Ring: four different keys and values; star: scores and mixture.
    ring, star = 4 * 4 * inner, 4 * HEADS * DIM
    # The word vectors are frozen: their projections have one product in the backward pass, all others two.
    flop = distinct * 6 * DIM * inner * min(once, 2) + once * (
        tokens * (2 * inner * DIM + ring + star) + count * 12 * inner * DIM
    )
    # Forward: q, k, v, the context; what the norm reads and writes; what the star reads.
    moved = tokens * (4 * inner + 3 * DIM)
    if training:
        moved += tokens * (6 * DIM + 10 * inner + 10 * HEADS) + distinct * 3 * inner
        moved += 7 * (8 * inner * DIM)
    return Floor(
        flop, 4.0 * moved, gemm_rate(distinct, DIM, 3 * inner, repeats), copy_rate(tokens, DIM, repeats)
    )
