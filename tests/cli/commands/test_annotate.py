"""`linker annotate` as a user runs it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from linker.annotation.session.session import Session
from tests.helpers.sessions import POSTS, fresh

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Run) -> Run:
    """Runs `linker annotate` in this process, in a folder with article, posts and a session `job`."""
    (tmp_path / "article.txt").write_text(
        "Bridge closed\n\nThe council closed the old bridge because of cracks.\n"
    )
    (tmp_path / "posts.jsonl").write_text(
        "".join(json.dumps({"id": post.id, "text": post.text}) + "\n" for post in POSTS)
    )
    fresh(tmp_path / "job")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOGNAME", "kim")
    return partial(command, "annotate")


_OPTIONS = "--article article.txt --posts posts.jsonl --strategy seed_similarity --model bm25"
START = ["start", "new", *_OPTIONS.split()]


def test_only_posts_within_the_conditions_are_labeled_and_blind_ones_hide_scores(
    run: Run, tmp_path: Path
) -> None:
    assert "--since, --until: no post has a time" in run(*START, "--since", "2031-03-05")[2]
    rows = [
        {"id": f"p{day}", "text": f"bridge {day * 'ab'}", "created_at": f"2031-03-0{day}"}
        for day in range(1, 9)
    ]
    (tmp_path / "posts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = run(*START, "--since", "2031-03-03", "--until", "2031-03-06", "--blind")[2]
    assert "3 of 8 posts are within --since, --until and --lang" in said
    with Session.open("new") as session:
        assert [post.id for post in session.posts] == ["p3", "p4", "p5"]
    shown = json.loads(run("next", "new", "--json")[1])
    assert (shown["score"], shown["marks"], shown["article_words"], shown["position"]) == (None, [], [], 0)
    assert "score" not in run("next", "new")[1]


def test_from_start_to_export(run: Run, tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("\ufeffOnly *this* bridge.", encoding="utf-8")
    code, out, err = run(
        *START, "--guidelines", "rules.md", "--stop", "recall,target=0.9,patience=50", "--seed", "3"
    )
    assert (code, out) == (0, "new\n")
    assert err.splitlines()[:2] == [
        'article: "Bridge closed", 11 words, no date, article.txt',
        "40 posts to label, and 1 near-duplicate of them",
    ]
    session = Session.open("new")
    assert session.guidelines == "Only *this* bridge."
    assert session.settings.rule == {"type": "recall", "target": 0.9, "confidence": 0.95, "patience": 50}
    assert session.settings.seed == 3

    first = json.loads(run("next", "new", "--json")[1])
    assert "bridge" in first["text"]
    code, out, _ = run("label", "new", first["id"], "r", "--note", "sure")
    assert (code, out) == (0, f"{first['id']}: relevant\n")
    second = json.loads(run("next", "new", "--json")[1])
    assert second["id"] != first["id"]
    run("label", "new", second["id"], "not")
    assert run("undo", "new")[:2] == (0, f"{second['id']}\n")

    printed = json.loads(run("status", "new", "--json")[1])
    assert (printed["posts"], printed["labeled"], printed["relevant"], printed["curve"]) == (40, 1, 1, [1])
    assert printed["annotators"] == {"kim": 1}
    assert printed["estimate"]["high"] == 39
    assert not printed["decision"]["stop"]

    code, out, err = run("export", "new", "--out", "labels.csv")
    assert (code, out) == (0, "labels.csv\n")
    code, _, err = run("import", "job", "labels.csv")
    assert code == 2
    assert "labels are of other articles ('article.txt'), not of 'bridge'" in " ".join(err.split())
    assert run(*("other" if word == "new" else word for word in START))[0] == 0
    code, out, _ = run("import", "other", "labels.csv")
    assert (code, out) == (0, f"{1 + (first['id'] == 'p0')} labels read, 1 of them new\n")
    assert run("import", "other", "labels.csv")[1].endswith("0 of them new\n")
    assert json.loads(run("status", "other", "--json")[1])["relevant"] == 1


def test_next_shows_posts_to_read(run: Run) -> None:
    code, out, _ = run("next", "job", "--count", "3")
    assert code == 0
    assert out.count("post p") == 3
    assert "score 71.1 " in out
    assert "*bridge*" in out
    assert run("next", "job", "--count", "3")[1] == out
    assert run("next", "job", "--annotator", "lee")[1] not in out


def test_nothing_left(run: Run) -> None:
    session = Session.open("job")
    for post in session.pool.posts:
        session.label("kim", post.id, "not")
    assert run("next", "job") == (
        0,
        "",
        "no posts left to label, or the rest is assigned to other annotators\n",
    )


def test_status_to_read(run: Run) -> None:
    with Session.open("job") as session:
        for post in POSTS[:20]:
            session.label(
                "kim" if post.id < "p2" else "lee", post.id, "relevant" if "bridge" in post.text else "not"
            )
        session.label("max", "p20", "skip")
    out = run("status", "job")[1]
    lines = out.splitlines()
    assert lines[0] == "job: 40 posts to label, and 1 near-duplicate of them"
    assert lines[1].startswith("labeled    19 (48%), 5 relevant, 1 skipped; with near-duplicates 20")
    assert lines[2].startswith("left       Not known yet how many relevant posts are left: no random sample")
    assert lines[3].startswith("rule       continue: ")
    assert "lee" in lines[4]


def test_agreement(run: Run) -> None:
    assert "no post has the labels of two" in run("agreement", "job")[1]
    with Session.open("job") as session:
        for post_id, kim, lee in (
            ("p0", True, True),
            ("p1", False, False),
            ("p2", True, False),
            ("p4", True, True),
        ):
            session.label("kim", post_id, "relevant" if kim else "not")
            session.label("lee", post_id, "relevant" if lee else "not")
        session.label("max", "p1", "skip")
    printed = json.loads(run("agreement", "job", "--json")[1])
    # By hand: 3 of 4 alike; by chance 3/4 · 2/4 + 1/4 · 2/4 = 1/2; κ = (3/4 - 1/2) / (1 - 1/2).
    assert printed["kappas"] == [{"annotators": ["kim", "lee"], "kappa": 0.5}]
    # α = 1 - (n-1) · Do / (2 · n0 · n1) = 1 - 7 · 2 / (2 · 5 · 3).
    assert printed["alpha"] == pytest.approx(1 - 14 / 30)
    assert (printed["percent"], printed["interval"]) == (0.75, None)
    assert printed["disagreements"] == [{"post": "p2", "labels": {"kim": True, "lee": False}, "holds": True}]
    out = run("agreement", "job")[1]
    assert "p2: kim relevant, lee not; now relevant" in out
    assert "0.500  kim and lee" in out
    assert (
        "percent agreement               75.0%\nKrippendorff's α                0.533  (no interval: fewer"
        in out
    )
    assert run("label", "job", "p2", "not", "--resolve", "--annotator", "boss")[0] == 0
    assert "now not" in run("agreement", "job")[1]
    run("export", "job", "--out", "one.jsonl", "--resolved")
    records = [json.loads(line) for line in Path("one.jsonl").read_text().splitlines()]
    assert len(records) == 41
    assert next(r for r in records if r["post_id"] == "p2")["label"] == "not"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("next", "nowhere"), "nowhere: session not found"),
        (("label", "job", "p999", "r"), "post 'p999' is not in this session"),
        (("label", "job", "p1", "perhaps"), "unknown label 'perhaps'; use relevant, not or skip"),
        (("label", "job", "p1", "r", "--annotator", " "), "annotator '': give a name"),
        (("undo", "job"), "kim has no label to take back"),
        (("export", "job", "--out", "labels.xyz"), "--format argilla, asreview, csv"),
        (("export", "job", "--out", "job/session.sqlite", "--format", "csv"), "would overwrite an input"),
        (("import", "job", "missing.csv"), "missing.csv: cannot be read"),
        (("run", "job"), "standard input is not a terminal"),
        ((*START[:1], "job", *START[2:]), "job: already holds a session"),
        (
            (*START, "--strategy", "lucky"),
            '--strategy lucky: type: "lucky" is not a registered QueryStrategy',
        ),
        ((*START, "--stop", "recall,target=2"), "target is 2"),
        (
            (*START[:5], "no.jsonl", "--stop", "soon"),
            '--stop soon: type: "soon" is not a registered StoppingRule',
        ),
        ((*START, "--guidelines", "none.md"), "none.md: cannot be read"),
        ((*START, "--overlap", "3"), "overlap 3.0: not a share of the posts"),
    ],
)
def test_what_goes_wrong_is_one_message(run: Run, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = run(*arguments)
    last = err[err.index("error: ") :]
    assert (code, out) == (2, "")
    assert message in last
    assert "Traceback" not in err
    assert not Path("new").exists()


class Terminal:
    """`linker annotate run` on a terminal of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        import pty

        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "linker.cli.main", "annotate", "run", str(folder), *options],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=Path(__file__).parents[3],
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "OMP_NUM_THREADS": "1"},
            start_new_session=True,
            # Tests that a shell began in the background ignore Ctrl-C, and so would what they begin.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        os.close(theirs)
        self.seen = ""

    def until(self, text: str) -> str:
        """What is shown up to a text, from where the last call ended."""
        end = time.monotonic() + 60
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            if select.select([self.ours], [], [], 1)[0]:
                try:
                    self.seen += os.read(self.ours, 1 << 16).decode()
                except OSError:  # the other side is closed
                    assert text in self.seen, self.seen
        shown, _, self.seen = self.seen.partition(text)
        return shown

    def press(self, keys: str) -> None:
        os.write(self.ours, keys.encode())


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    pytest.importorskip("termios")
    folder = fresh(tmp_path / "job")
    opened = Terminal(folder, "--annotator", "kim")
    yield opened
    opened.process.kill()
    opened.process.wait()
    os.close(opened.ours)


def ranked(folder: Path) -> list[str]:
    """The ids of the posts in the order of a session in which nothing is labeled yet."""
    with Session.open(folder) as session:
        return [session.pool.posts[index].id for index in session._current_queue()]


def test_a_whole_session_by_single_keys(terminal: Terminal, tmp_path: Path) -> None:
    first, second, third = ranked(tmp_path / "job")[:3]
    assert first == "p0"
    assert "Relevant: about the *bridge*." in terminal.until("q quit")
    assert "0 labeled" in terminal.until("post p0 ")
    assert "1 near-duplicate" in terminal.until("\n")
    assert "\x1b[1;4mbridge\x1b[0m" in terminal.until("number")
    terminal.press("r")
    assert "1 labeled · 1 relevant" in terminal.until(f"post {second} ")
    terminal.press("\x1b[A")  # an arrow key labels nothing
    terminal.press("x")  # nor does this
    terminal.until("q quit")
    terminal.press("n")
    assert "2 labeled · 1 relevant" in terminal.until(f"post {third} ")
    terminal.press("u")
    assert "1 labeled · 1 relevant" in terminal.until(f"post {second} ")
    terminal.press("e")
    terminal.until("note: ")
    terminal.press("which bridge?\n")
    terminal.press("s")
    terminal.until(f"post {third} ")
    terminal.press("rq")
    assert "2 relevant, 1 skipped" in terminal.until("by         kim 3")
    assert terminal.process.wait(20) == 0
    labels = {r.post.id: (r.value, r.note) for r in Session.open(tmp_path / "job").labeled() if r.value}
    assert labels == {
        "p0": ("relevant", None),
        "p0copy": ("relevant", None),
        second: ("skip", "which bridge?"),
        third: ("relevant", None),
    }


def test_keys_typed_ahead_are_all_taken_and_the_end_is_reported(terminal: Terminal, tmp_path: Path) -> None:
    terminal.until("q quit")
    terminal.press("r" * 40)
    assert "You may stop" in terminal.until("nothing is left for you to label")
    assert terminal.process.wait(20) == 0
    assert Session.open(tmp_path / "job").status().labeled == 40


def test_ctrl_c_leaves_the_terminal_as_it_was(terminal: Terminal, tmp_path: Path) -> None:
    import termios

    second = ranked(tmp_path / "job")[1]
    terminal.until("post p0 ")
    terminal.press("r")
    terminal.until(f"post {second} ")
    assert not termios.tcgetattr(terminal.ours)[3] & termios.ECHO
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.process.wait(20) == 130
    assert termios.tcgetattr(terminal.ours)[3] & termios.ECHO
    assert Session.open(tmp_path / "job").status().labeled == 1
