"""The command as a new user meets it: exit codes and messages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import linker
from linker.cli import main as cli
from linker.common.errors import DataError
from tests.helpers.forked import run_linker

CONFIG = Path(__file__).parents[2] / "configs" / "quickstart.jsonnet"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_linker(Path.cwd(), *arguments)


def test_version() -> None:
    assert run("--version").stdout.strip() == f"linker {linker.__version__}"


@pytest.mark.parametrize(
    "arguments", [("trian",), ("config", "check", str(CONFIG), "--ovride", "x")], ids=" ".join
)
def test_wrong_usage_exits_with_2_and_reports_it_on_stderr(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert "Usage:" in result.stderr
    assert "Traceback" not in result.stderr


def fail_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of a command that raises `error`."""

    def command() -> None:
        raise error

    app = cli.typer.Typer(pretty_exceptions_enable=False)
    app.command()(command)
    monkeypatch.setattr(cli, "app", app)
    monkeypatch.setattr(sys, "argv", ["linker"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert isinstance(stop.value.code, int)
    return stop.value.code


def test_errors_of_the_input_become_messages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fail_with(DataError("posts.jsonl:3: no text"), monkeypatch) == 2
    assert capsys.readouterr() == ("", "error: posts.jsonl:3: no text\n")


def test_defects_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        fail_with(ZeroDivisionError("a defect"), monkeypatch)


def spill(printed: str) -> list[str]:
    """A command line that prints the value of an expression."""
    code = f"from linker.cli import main as m; m.app.command('spill')(lambda: print({printed})); m.main()"
    return [sys.executable, "-c", code, "spill"]


def test_a_reader_that_goes_away_is_not_an_error() -> None:
    # Far more output than a pipe holds, and nobody who reads it.
    process = subprocess.Popen(spill("'x\\n' * 10**6"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait(timeout=60)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("lines", [1, 10**6])
def test_results_that_find_no_room_are_reported(lines: int) -> None:
    command = spill(f"'x\\n' * {lines}")
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "error: the results: cannot be written (No space left on device)\n"


def test_results_are_utf8_whatever_the_locale() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(spill("'naïve 💀 café'"), capture_output=True, env=environment, timeout=60)
    assert (done.stdout.decode(), done.stderr) == ("naïve 💀 café\n", b"")


def help_of(*arguments: str) -> list[str]:
    environment = {**os.environ, "COLUMNS": "100", "TERM": "dumb"}
    done = run_linker(Path.cwd(), *arguments, "--help", environment=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_help_of_rank_fits_one_screen() -> None:
    lines = help_of("rank")
    assert len(lines) <= 30
    assert any("--explain" in line for line in lines)


def test_commands_are_grouped_and_none_is_left_over() -> None:
    lines = help_of()
    panels = {line.split()[1]: number for number, line in enumerate(lines) if line.startswith("╭─")}
    assert list(panels) == ["Options", "Rank", "Label", "Train", "Measure", "Tools"]
    starts = [*panels.values(), len(lines)]
    listed = {
        panel: {line.split()[1] for line in lines[first + 1 : end] if line.startswith("│ ")}
        for panel, first, end in zip(panels, starts, starts[1:])
    }
    assert {"rank", "corpus"} <= listed["Rank"]
    assert {"annotate", "serve"} <= listed["Label"]
    assert {"evaluate", "calibrate"} <= listed["Measure"]
    assert {"doctor", "config"} <= listed["Tools"]


def test_shells_can_complete_commands() -> None:
    code = "import sys; sys.argv = ['linker']; from linker.cli.main import main; main()"
    words = {"_LINKER_COMPLETE": "complete_bash", "COMP_WORDS": "linker ca", "COMP_CWORD": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | words, timeout=60)
    assert (done.stdout.split(), done.stderr) == (["calibrate"], "")
    assert "--install-completion" in " ".join(help_of())


@pytest.mark.parametrize(
    "arguments",
    [("annotate", "status"), ("corpus", "info"), ("train", str(CONFIG), "--out"), ("config", "check")],
)
def test_names_that_are_too_long_are_one_message(arguments: tuple[str, ...]) -> None:
    result = run(*arguments, "n" * 5000)
    assert (result.returncode, "Traceback" in result.stderr) == (2, False)
    assert "File name too long" in result.stderr
