"""Compare the outputs of commands for 40 articles and three models with tests/recorded, or record them again.

python scripts/record_outputs.py                     list the differences from the recording, by kind
python scripts/record_outputs.py --model bm25        those of one model
python scripts/record_outputs.py --update            record the outputs; the commit says why they differ
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import defaultdict

from tests.helpers import recorded_outputs
from tests.helpers.recorded_outputs import MODELS, Difference, Output


def _outputs(model: str) -> list[Output]:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return list(recorded_outputs.outputs(model))
        finally:
            os.chdir(before)


def _report(found: list[Difference]) -> None:
    """Print each kind of difference with its number and an example."""
    kinds = defaultdict(list)
    for difference in found:
        kinds[difference.command, difference.kind].append(difference)
    for (command, kind), members in kinds.items():
        print(f"{len(members):6} {command}: {kind}\n       {members[0]}")


def main() -> None:
    """Compare or record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", choices=MODELS, action="append", help="record or compare only this model")
    parser.add_argument("--update", action="store_true", help="record the outputs")
    options = parser.parse_args()
    differing = False
    for model in options.model or MODELS:
        found = _outputs(model)
        if (recorded_outputs.FOLDER / f"{model}.jsonl.xz").exists():
            differences = recorded_outputs.differences(model, found)
            differing = differing or bool(differences)
            _report(differences)
        if options.update:
            recorded_outputs.record(model, found)
        print(f"{model}: {len(found)} outputs")
    if differing and not options.update:
        sys.exit("outputs differ from the recording")


if __name__ == "__main__":
    main()
