"""Measure one step of Adam over an embedding table: dense in one pass, dense as torch's default, and sparse.

    python -m benchmarks.training.adam [--rows 20000] [--dim 300] [--touched 4000]

`touched` rows have a gradient, like the distinct words of a batch. Processor time on one thread, the median of ten
steps. Zeroing the dense gradient and measuring its norm, which clipping needs, count as well.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn


def milliseconds(step: Callable[[], None]) -> float:
    for _ in range(3):
        step()
    found = []
    for _ in range(10):
        start = time.thread_time()
        step()
        found.append(1e3 * (time.thread_time() - start))
    return statistics.median(found)


def dense(table: Tensor, touched: Tensor, gradient: Tensor, fused: bool) -> Callable[[], None]:
    weight = nn.Parameter(table.clone())
    optimizer = torch.optim.Adam([weight], fused=fused)

    def step() -> None:
        weight.grad = torch.zeros_like(weight).index_copy_(0, touched, gradient)
        nn.utils.clip_grad_norm_([weight], 1.0)
        optimizer.step()

    return step


def sparse(table: Tensor, touched: Tensor, gradient: Tensor) -> Callable[[], None]:
    weight = nn.Parameter(table.clone())
    optimizer = torch.optim.SparseAdam([weight])

    def step() -> None:
        values = gradient / gradient.norm().clamp_min(1.0)
        weight.grad = torch.sparse_coo_tensor(
            touched[None], values, weight.shape, is_coalesced=True, check_invariants=False
        )
        optimizer.step()

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--touched", type=int, default=4_000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    table = torch.randn(options.rows, options.dim)
    touched = torch.randperm(options.rows)[: options.touched].sort().values
    gradient = torch.randn(options.touched, options.dim)
    print(f"torch {torch.__version__}, {options.touched:,} of {options.rows:,} rows × {options.dim}")
    print(f"dense, one pass   {milliseconds(dense(table, touched, gradient, True)):8.1f} ms")
    print(f"dense, default    {milliseconds(dense(table, touched, gradient, False)):8.1f} ms")
    print(f"sparse            {milliseconds(sparse(table, touched, gradient)):8.1f} ms")


if __name__ == "__main__":
    main()
