"""Resuming a run that was killed, stopped or could not write, from the user's point of view."""

import errno
import json
import os
import random
import re
import signal
import time
from pathlib import Path

import pytest

from linker.common.locks import only_writer
from tests.helpers.training_runs import die, kill_at_random, outcome, run, start, train, write_workplace


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """A workplace in which `whole` has been trained without any mishap, and how long that took."""
    folder = write_workplace(tmp_path_factory.mktemp("runs"))
    run(folder, "--version")  # starts the process that all others are forked from
    started = time.monotonic()
    code, err = run(folder, *train("whole"))
    assert code == 0, err
    return folder, time.monotonic() - started


@pytest.fixture
def workplace(uninterrupted) -> Path:
    return uninterrupted[0]


@pytest.fixture
def out(request) -> str:
    """A name for the run of this test alone."""
    return re.sub(r"\W+", "-", request.node.name)


def checkpoint_of(folder: Path, out: str) -> Path:
    return folder / f"{out}-log" / "checkpoint.safetensors"


def ends_as_whole(folder: Path, out: str, *more: str) -> None:
    """Train on; it ends as if nothing had happened."""
    assert run(folder, *train(out, *more))[0] == 0
    assert outcome(folder, out) == outcome(folder, "whole")


@pytest.mark.parametrize("wanted", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_run_killed_at_random_ends_as_if_nothing_had_happened(uninterrupted, out, wanted):
    folder, seconds = uninterrupted
    rng, kills, number = random.Random(wanted), 0, 0
    while kills < wanted:
        number += 1
        kills += kill_at_random(folder, f"{out}-{number}", rng, seconds)
        assert outcome(folder, f"{out}-{number}") == outcome(folder, "whole")


class DieWhileSaving:
    """Kills the process in the `nth` save of a checkpoint, at one point of it."""

    def __init__(self, point: str, nth: int) -> None:
        self.point, self.nth = point, nth

    def __call__(self) -> None:
        fsync, replace, seen = os.fsync, os.replace, []

        def half_written(descriptor):
            seen.append(1)
            if len(seen) == self.nth:
                os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
                die()
            fsync(descriptor)

        def renamed(source, target):
            if ("checkpoint" if self.point != "model" else "model.safetensors") not in str(target):
                return replace(source, target)
            seen.append(1)
            if len(seen) == self.nth and self.point in ("before", "model"):
                die()
            replace(source, target)
            if len(seen) == self.nth and self.point == "after":
                die()

        if self.point == "half":
            os.fsync = half_written
        else:
            os.replace = renamed  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("point", "nth"),
    [
        ("half", 5),
        ("model", 1),
        pytest.param("before", 6, marks=pytest.mark.slow),
        pytest.param("after", 7, marks=pytest.mark.slow),
    ],
)
def test_a_kill_in_the_middle_of_a_save_changes_nothing(workplace, out, point, nth):
    code, _ = run(workplace, *train(out), prepare=DieWhileSaving(point, nth))
    assert code == -signal.SIGKILL
    ends_as_whole(workplace, out, "--resume")
    assert not [p for p in (workplace / f"{out}-log").iterdir() if p.name.startswith(".")]


class DieAfterFirstModel:
    """Kills the process as soon as the model folder is complete."""

    def __call__(self) -> None:
        replace = os.replace

        def renamed(source, target):
            replace(source, target)
            if Path(target).name == "config.json":
                die()

        os.replace = renamed  # type: ignore[assignment]


def test_a_run_killed_before_its_first_checkpoint_is_due_resumes(workplace, out):
    rare = ("-o", "trainer.checkpoint_seconds=600")
    assert run(workplace, *train(out, *rare), prepare=DieAfterFirstModel())[0] == -signal.SIGKILL
    code, err = run(workplace, *train(out, "--resume", *rare))
    assert code == 0, err
    trained, whole = outcome(workplace, out), outcome(workplace, "whole")
    # The config, which both hold, differs in the seconds between checkpoints.
    assert {**trained, "config.json": "", "README.md": ""} == {**whole, "config.json": "", "README.md": ""}


class DieAtStep:
    def __init__(self, step: int) -> None:
        self.step = step

    def __call__(self) -> None:
        from linker.training.trainer import Trainer

        before = Trainer._after_step

        def after_step(trainer, run, figures):
            before(trainer, run, figures)
            if run.state.step == self.step:
                die()

        Trainer._after_step = after_step  # type: ignore[method-assign]


def killed_at(workplace, out, step=5):
    assert run(workplace, *train(out), prepare=DieAtStep(step))[0] == -signal.SIGKILL


def test_an_unfinished_run_is_not_started_again_by_mistake(workplace, out):
    killed_at(workplace, out, step=8)
    code, err = run(workplace, *train(out))
    assert code == 2
    assert "unfinished run" in err
    assert "epoch 2, batch 2 of 6" in err
    assert "--resume" in err
    assert "--overwrite" in err
    ends_as_whole(workplace, out, "--overwrite")


@pytest.mark.slow
def test_resume_begins_a_run_that_is_not_there_and_leaves_a_finished_one(workplace, out):
    for _ in range(2):
        code, err = run(workplace, *train(out, "--resume"))
        assert code == 0, err
        assert outcome(workplace, out) == outcome(workplace, "whole")


@pytest.mark.parametrize("damage", ["flipped", "truncated", "emptied"])
def test_a_damaged_checkpoint_is_reported_and_not_touched(workplace, out, damage):
    path = checkpoint_of(workplace, out)
    path.parent.mkdir()
    content = bytearray(checkpoint_of(workplace, "whole").read_bytes())
    content[-20] ^= 1
    content = {"flipped": content, "truncated": content[:-100], "emptied": bytearray()}[damage]
    path.write_bytes(content)
    for more in ([], ["--resume"]):
        code, err = run(workplace, *train(out, *more))
        assert code == 2
        assert f"{path.name}: " in err
        assert "damaged" in err or "not a complete checkpoint" in err
        assert "--overwrite" in err
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow)]
)
def test_a_signal_saves_and_ends_the_run(workplace, out, number, code):
    process = start(workplace, *train(out, "-o", "trainer.checkpoint_seconds=1000"))
    log = workplace / f"{out}-log" / "train.jsonl"
    while not (log.exists() and log.read_text()):
        assert process.exitcode is None, (workplace / "stderr").read_text()
        time.sleep(0.005)
    assert process.pid is not None
    os.kill(process.pid, number)
    process.join(30)
    assert process.exitcode == code
    err = (workplace / "stderr").read_text()
    assert "continue with --resume" in err
    assert "Traceback" not in err
    assert checkpoint_of(workplace, out).is_file()
    assert run(workplace, *train(out, "--resume", "-o", "trainer.checkpoint_seconds=1000"))[0] == 0
    changed, whole = outcome(workplace, out), outcome(workplace, "whole")
    assert changed.pop("config.json") != whole.pop("config.json")  # checkpoint_seconds
    assert changed == whole


def test_a_changed_config_is_refused_with_the_difference(workplace, out):
    killed_at(workplace, out)
    change = ["-o", "trainer.optimizer.lr=0.02", "-o", "trainer.epochs=5"]
    code, err = run(workplace, *train(out, "--resume", *change))
    assert code == 2
    assert "trainer.optimizer.lr: 0.01 → 0.02" in err
    assert "trainer.epochs: 4 → 5" in err
    assert "-o start=" in err
    assert "trainer.batches" not in err


@pytest.mark.slow
def test_other_data_are_refused(workplace, out):
    killed_at(workplace, out)
    posts = workplace / "posts.jsonl"
    before = posts.read_text()
    posts.write_text(before.replace("w1 ", "w2 ", 1))
    try:
        code, err = run(workplace, *train(out, "--resume"))
    finally:
        posts.write_text(before)
    assert code == 2
    assert "other data" in err
    ends_as_whole(workplace, out, "--resume")


def test_contradictory_options_are_refused(workplace, out):
    code, err = run(workplace, *train(out, "--resume", "--overwrite"))
    assert code == 2
    assert "use only one of them" in err


class FullDisk:
    """Lets saving a checkpoint fail from step `first` to step `last`."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last

    def __call__(self) -> None:
        from linker.training.checkpointing import checkpoint

        save = checkpoint.save

        def full(tensors, metadata):
            if self.first <= json.loads(metadata["state"])["step"] <= self.last:
                raise OSError(errno.ENOSPC, "No space left on device")
            return save(tensors, metadata=metadata)

        checkpoint.save = full  # type: ignore[assignment]


def test_a_full_disk_is_reported_and_the_checkpoint_before_is_kept(workplace, out):
    code, err = run(workplace, *train(out), prepare=FullDisk(4, 5))
    assert code == 0
    assert err.count("warning") == 2
    assert "no checkpoint at step 4" in err
    assert "No space left" in err
    assert outcome(workplace, out) == outcome(workplace, "whole")


class FullDiskThenDeath(FullDisk):
    def __call__(self) -> None:
        super().__call__()
        DieAtStep(8)()


def test_a_run_that_dies_on_a_full_disk_resumes_from_the_last_that_was_written(workplace, out):
    assert run(workplace, *train(out), prepare=FullDiskThenDeath(6, 99))[0] == -signal.SIGKILL
    code, err = run(workplace, *train(out, "--resume"))
    assert code == 0
    assert "epoch 1, batch 5 of 6" in err
    assert outcome(workplace, out) == outcome(workplace, "whole")


def test_two_runs_do_not_write_to_one_folder(workplace, out):
    killed_at(workplace, out)
    with only_writer(workplace / out):
        code, err = run(workplace, *train(out, "--resume"))
    assert code == 2
    assert "another process is writing it" in err


class NoRightToWrite:
    """Lets files of a name not be made from the `first` time to the `last`, as in a folder that became read-only."""

    def __init__(self, name: str, first: int, last: int) -> None:
        self.name, self.first, self.last = name, first, last

    def __call__(self) -> None:
        import tempfile

        mkstemp, seen = tempfile.mkstemp, []

        def refused(**where):
            seen.extend([1] * (where["prefix"] == f".{self.name}."))
            if where["prefix"] == f".{self.name}." and self.first <= len(seen) <= self.last:
                raise PermissionError(errno.EACCES, "Permission denied")
            return mkstemp(**where)

        vars(tempfile)["mkstemp"] = refused


def test_without_the_right_to_write_checkpoints_training_continues_and_reports_it(workplace, out):
    code, err = run(workplace, *train(out), prepare=NoRightToWrite("checkpoint.safetensors", 4, 5))
    assert code == 0, err
    why = r"\S+checkpoint.safetensors: cannot be written \(Permission denied\)"
    kept = "training continues, the previous checkpoint is kept"
    assert re.findall(rf"warning: no checkpoint at step (\d): {why}; {kept}", err) == ["4", "5"]
    assert outcome(workplace, out) == outcome(workplace, "whole")


@pytest.mark.slow
def test_without_the_right_to_write_the_model_the_run_ends_and_can_resume(workplace, out):
    code, err = run(workplace, *train(out), prepare=NoRightToWrite("model.safetensors", 2, 99))
    assert code == 2, err
    last = err.strip().splitlines()[-1]
    assert re.match(r"error: .*model\.safetensors: cannot be written \(Permission denied\)", last), err
    ends_as_whole(workplace, out, "--resume")


def test_a_log_that_cannot_be_made_is_reported_before_training(workplace, out):
    (workplace / f"{out}-log").write_text("")
    code, err = run(workplace, *train(out, "--resume"))
    assert code == 2
    assert re.search(r"^error: \S+train\.jsonl: cannot be written \(", err, re.MULTILINE), err
    assert not (workplace / out).exists()


class FullLog:
    """Lets the log of the run fail as on a full disk, after some lines."""

    def __call__(self) -> None:
        from linker.training.callbacks import JsonLines

        write, seen = JsonLines._write, []

        def full(callback, record):
            seen.append(1)
            if len(seen) > 3:
                raise OSError(errno.ENOSPC, "No space left on device")
            write(callback, record)

        JsonLines._write = full  # type: ignore[method-assign]


def test_a_log_that_cannot_be_written_ends_the_run_which_resumes(workplace, out):
    code, err = run(workplace, *train(out), prepare=FullLog())
    assert code == 2
    assert err.splitlines()[-1].startswith("error: ")
    assert "No space left on device" in err
    ends_as_whole(workplace, out, "--resume")


def test_a_folder_in_the_place_of_a_checkpoint_is_named_and_replaced(workplace, out):
    (checkpoint_of(workplace, out) / "more").mkdir(parents=True)
    code, err = run(workplace, *train(out))
    assert code == 2
    assert "checkpoint.safetensors: not a complete checkpoint" in err
    ends_as_whole(workplace, out, "--overwrite")
