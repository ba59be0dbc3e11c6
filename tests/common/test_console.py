"""Progress where standard error is a file, as the log of a job on a cluster."""

import re
import subprocess
import sys

PROGRAM = """
import sys, time
from linker.common import console
console._SECONDS_PER_LINE = float(sys.argv[1])
with console.progress_bar() as progress:
    bar = progress.add_task("epoch 1", total=3000)
    for step in range(40):
        time.sleep(0.01)
        progress.update(bar, advance=50, description=f"epoch 1  loss {step}")
for item in console.track(range(40), "reading"):
    time.sleep(0.02)
"""


def lines(seconds: float) -> list[str]:
    command = [sys.executable, "-c", PROGRAM, str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not done.stdout
    return done.stderr.splitlines()


def test_a_log_has_lines_with_what_is_done_throughput_and_time_left() -> None:
    found = lines(0.1)
    of_epoch = [line for line in found if line.startswith("epoch 1")]
    assert 2 <= len(of_epoch) <= 20
    assert all(
        re.fullmatch(r"epoch 1  loss \d+: [\d,]+ of 3,000(, [\d,]+/s, \d+:\d\d:\d\d left)?", line)
        for line in of_epoch
    )
    assert of_epoch[-1].endswith(" left")
    assert any(line.startswith("reading: ") and " of 40" in line for line in found)


def test_short_work_leaves_a_log_empty() -> None:
    assert lines(60) == []
