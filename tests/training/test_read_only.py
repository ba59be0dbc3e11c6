"""Folders that become read-only during a run: real permissions, also where the tests run as root."""

import ctypes
import os
import re
import signal
from pathlib import Path

import pytest

from tests.helpers.training_runs import die, outcome, run, train, write_workplace

RIGHTS_DO_NOT_BIND = 77


class Locking:
    """Takes the right to write to a folder away before one save of a checkpoint, and gives it back before another.

    Args:
        folder: `log`, that of the checkpoint, or the model folder's name.
        first, last: at the first of these steps the right goes, after the last it is back.
        dies: kill the process after this step.
    """

    def __init__(self, folder: str, first: int, last: int, dies: int = 0) -> None:
        self.folder, self.first, self.last, self.dies = folder, first, last, dies

    def __call__(self) -> None:
        from linker.training.checkpointing import checkpointer

        bow_to_rights()
        save, closed = checkpointer.write_checkpoint, False

        def guarded(path, state):
            nonlocal closed
            folder = path.parent if self.folder == "log" else Path(self.folder)
            if self.first <= state["step"] <= self.last and not closed:
                folder.chmod(0o555)
                closed = True
                if can_write(folder):
                    os._exit(RIGHTS_DO_NOT_BIND)
            elif state["step"] > self.last and closed:
                folder.chmod(0o755)
                closed = False
            try:
                save(path, state)
            finally:
                if state["step"] == self.dies:
                    die()

        checkpointer.write_checkpoint = guarded


def bow_to_rights() -> None:
    """Let rights bind this process even if it is root's: it gives up CAP_DAC_OVERRIDE (Linux, capabilities(7))."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    sets = (
        ctypes.c_uint32 * 6
    )()  # effective, permitted, inheritable of capabilities 0 to 31, then of the others
    override, given = 1 << 1, libc.capget(header, sets)
    sets[0] &= ~override
    if given or libc.capset(header, sets):
        os._exit(RIGHTS_DO_NOT_BIND)


def can_write(folder: Path) -> bool:
    """Can a file be made there? Asking for the right would ask for all that root could have."""
    try:
        (folder / "trial").touch()
    except OSError:
        return False
    (folder / "trial").unlink()
    return True


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    folder = write_workplace(tmp_path_factory.mktemp("runs"))
    assert run(folder, *train("whole"))[0] == 0
    return folder


def locked(folder, out, locking, *more):
    """Exit code and stderr of a run with a folder that is closed for a while; it is open afterwards."""
    try:
        code, told = run(folder, *train(out, *more), prepare=locking)
    finally:
        for closed in (folder / out, folder / f"{out}-log"):
            if closed.exists():
                closed.chmod(0o755)
    if code == RIGHTS_DO_NOT_BIND:
        pytest.skip("this process may write to folders that nobody may write to")
    return code, told


def test_without_the_right_to_write_checkpoints_training_continues_and_reports_it(workplace):
    code, told = locked(workplace, "open-again", Locking("log", 4, 5))
    assert code == 0, told
    warnings = re.findall(r"warning: no checkpoint at step (\d): (.*)", told)
    assert [step for step, _ in warnings] == ["4", "5"]
    for _, why in warnings:
        assert "checkpoint.safetensors" in why
        assert "cannot be written (Permission denied)" in why
        assert "training continues, the previous checkpoint is kept" in why
    assert "Traceback" not in told
    assert outcome(workplace, "open-again") == outcome(workplace, "whole")


def test_a_run_that_dies_then_resumes_from_the_last_checkpoint_that_could_be_written(workplace):
    code, told = locked(workplace, "died", Locking("log", 4, 99, dies=6))
    assert code == -signal.SIGKILL, told
    code, told = run(workplace, *train("died", "--resume"))
    assert code == 0, told
    assert "epoch 1, batch 3 of 6" in told
    assert outcome(workplace, "died") == outcome(workplace, "whole")


@pytest.mark.slow
def test_without_the_right_to_write_the_model_the_run_ends_and_can_resume(workplace):
    # After the first epoch there is a model folder; the next better one cannot be written.
    code, told = locked(workplace, "model", Locking("model", 7, 99))
    assert code == 2, told
    last = told.strip().splitlines()[-1]
    assert re.match(r"error: .*model/.*: cannot be written \(Permission denied\)", last), told
    assert "Traceback" not in told
    code, told = run(workplace, *train("model", "--resume"))
    assert code == 0, told
    assert outcome(workplace, "model") == outcome(workplace, "whole")


@pytest.mark.slow
def test_a_run_that_cannot_write_at_all_is_refused_and_loses_nothing(workplace):
    assert locked(workplace, "refused", Locking("log", 4, 99, dies=6))[0] == -signal.SIGKILL
    folder = workplace / "refused-log"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    folder.chmod(0o555)
    code, told = locked(workplace, "refused", bow_to_rights, "--resume")
    assert code == 2
    assert "cannot be written (" in told
    assert "Traceback" not in told
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
