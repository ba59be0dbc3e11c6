"""What ends one process ends all of them, soon and with one message."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.helpers.forked import run_linker
from tests.helpers.training_runs import outcome, train, write_workplace

FAILING = '''
import os
import signal

from linker.modules.encoders.encoder import Encoder
from linker.modules.encoders.mean import MeanEncoder


@Encoder.register("failing")
class FailingEncoder(MeanEncoder):
    """Fails after a few steps of the process `rank`."""

    def __init__(self, how: str, rank: int = 1, *, input_dim: int) -> None:
        super().__init__(input_dim=input_dim)
        self.how, self.rank, self.calls = how, rank, 0

    def forward(self, tokens, lengths):
        vectors = super().forward(tokens, lengths)
        self.calls += self.training
        if self.calls < 5 or int(os.environ.get("RANK", 0)) != self.rank:
            return vectors
        if self.how == "raise":
            raise ValueError("a mistake in the encoder")
        if self.how == "memory":
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes")
        if self.how == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return vectors * float("nan")
'''


@pytest.fixture
def workplace(tmp_path):
    write_workplace(tmp_path)
    (tmp_path / "failing.py").write_text(FAILING)
    return tmp_path


def failing_run(folder, how, *more):
    """Exit code, stderr and seconds of a run whose second process fails."""
    started = time.monotonic()
    command = [*train("out"), "--include-package", "failing", *more]
    command += ["-o", f"{{model+: {{encoder: {{type: 'failing', how: '{how}'}}}}}}"]
    result = run_linker(folder, *command)
    return result.returncode, result.stderr, time.monotonic() - started


def last_lines(told):
    """The output besides the progress bars."""
    return [
        line
        for line in told.splitlines()
        if not line.startswith(("training ", "train:", "vocabulary:", "epoch "))
    ]


@pytest.mark.parametrize(
    ("how", "code", "cause"),
    [
        pytest.param(
            "memory",
            2,
            "can't allocate memory: 9 bytes); set fewer trainer.batches.articles",
            marks=pytest.mark.slow,
        ),
        pytest.param("nan", 2, " is nan", marks=pytest.mark.slow),
        ("die", 1, "process 1 of 2 was ended by SIGKILL"),
    ],
)
def test_a_failing_process_ends_all_with_one_message(workplace, how, code, cause):
    returned, told, seconds = failing_run(workplace, how, "--devices", "2")
    assert returned == code, told
    (message,) = last_lines(told)
    assert message.startswith("error: ")
    assert cause in message
    assert (how == "memory") == (" not enough memory (" in message)
    if how != "die":
        # The gradient is the sum of all processes: each of them sees that it is not a number.
        process = "[01]" if how == "nan" else "1"
        assert re.search(
            rf"process {process} of 2: step [2-5]\b.*articles of the batch: \w+-\d, \w+-\d$", message
        )
    assert seconds < 90  # a minute, and the time to start on a busy machine


def test_a_mistake_in_a_component_ends_all_with_one_traceback(workplace):
    returned, told, _ = failing_run(workplace, "raise", "--devices", "2")
    assert returned == 1, told
    assert (
        told.count("ValueError: a mistake in the encoder") == 2
    )  # the cause, and the line that names the batch
    last = told.strip().splitlines()[-1]
    assert re.search(
        r"process 1 of 2: step \d: ValueError: a mistake in the encoder; articles of the batch: ", last
    )


@pytest.mark.slow
def test_a_run_of_two_processes_that_was_killed_resumes_bit_for_bit(workplace):
    two = ["--devices", "2"]
    for out in ("whole", "killed"):
        command = [sys.executable, "-m", "linker.cli.main", *train(out), *two]
        process = subprocess.Popen(command, cwd=workplace, stderr=subprocess.PIPE, text=True)
        if out == "killed":
            log = workplace / "killed-log" / "train.jsonl"
            while not log.exists() or len(log.read_text().splitlines()) < 9:
                assert process.poll() is None
                time.sleep(0.01)
            process.kill()
        process.communicate(timeout=100)
    resumed = subprocess.run(
        [*command, "--resume"], cwd=workplace, capture_output=True, text=True, timeout=100
    )
    assert resumed.returncode == 0, resumed.stderr
    assert outcome(workplace, "killed") == outcome(workplace, "whole")


@pytest.mark.slow
def test_two_processes_stop_together_and_save(workplace):
    command = [sys.executable, "-m", "linker.cli.main", *train("out"), "--devices", "2"]
    process = subprocess.Popen(command, cwd=workplace, stderr=subprocess.PIPE, text=True)
    log = workplace / "out-log" / "train.jsonl"
    while not log.exists() or not log.read_text():
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGTERM)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 143, told
    assert last_lines(told) == ["stopped after 0 complete epochs; continue with --resume"]
    assert (workplace / "out-log/checkpoint.safetensors").is_file()
