"""Check and measure linker on a GPU in ten minutes; write results/gpu.md and gpu.json.

    make gpu
    python -m benchmarks.gpu --out DIR
    python -m benchmarks.gpu --rehearse      # without a GPU: small sizes, gloo

Each part runs in a process of its own, so that one that fails leaves the others; the page says which failed and why.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.gpu.report import page
from benchmarks.measurement import machine, say

ROOT = Path(__file__).resolve().parents[2]
#: Part → seconds that it may take.
PARTS = {
    "differences": 60,
    "attention": 120,
    "encoders": 120,
    "precisions": 60,
    "devices": 120,
    "ranking": 60,
}
_REHEARSAL = 5
"""In a rehearsal parts may take this many times longer."""


def measured(part: str, rehearse: bool) -> dict[str, Any]:
    """Run a part in a process of its own; return its figures, or `problem`."""
    command = [sys.executable, "-m", "benchmarks.gpu.parts", part, *["--rehearse"] * rehearse]
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    limit = PARTS[part] * (_REHEARSAL if rehearse else 1)
    begun = time.monotonic()
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {"problem": f"took longer than {limit} s"}
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip() or "ended without a message").splitlines()
        return {"problem": lines[-1][:500]}
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**figures, "seconds": round(time.monotonic() - begun, 1)}


def device() -> dict[str, Any]:
    """Return the GPUs and the versions that matter."""
    import torch

    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {"gpus": names, "cuda": torch.version.cuda, "machine": machine()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "gpu" / "results")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="parts to run")
    parser.add_argument(
        "--rehearse", action="store_true", help="run without a GPU, on small sizes; writes rehearsal.md"
    )
    options = parser.parse_args()
    about = device()
    if not about["gpus"] and not options.rehearse:
        raise SystemExit("torch finds no GPU; --rehearse runs every part without one, on small sizes")
    results: dict[str, Any] = {"device": about, "rehearsal": options.rehearse, "parts": {}}
    name = "rehearsal" if options.rehearse else "gpu"
    options.out.mkdir(parents=True, exist_ok=True)
    for part in options.only:
        say(part)
        results["parts"][part] = measured(part, options.rehearse)
        if "problem" in results["parts"][part]:
            say(f"    failed: {results['parts'][part]['problem']}")
        # After every part: what was measured stays if the machine goes away.
        (options.out / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n")
        (options.out / f"{name}.md").write_text(page(results))
    say(f"wrote {options.out / f'{name}.md'}")
    if any("problem" in figures for figures in results["parts"].values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
