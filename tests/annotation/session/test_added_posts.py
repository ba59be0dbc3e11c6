"""A session that gets further posts: groups, shares and labels stay, whatever else happens to the file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from linker.annotation.session.create import start
from linker.annotation.session.session import Session
from linker.annotation.session.session_file import SessionFile
from linker.common.errors import DataError, LinkerError
from linker.data.types import Post
from tests.helpers.sessions import POSTS, events_in, fresh

FURTHER = [Post(f"a{i}", f"the pier and the bridge, message {i} of {i * 7}") for i in range(10)]
ROOT = Path(__file__).parents[3]


def prepare(folder: Path, session: Session, posts: list[Post]) -> None:
    settings, former = session.settings, (session.pool, session.posts)
    start(folder, session.articles, posts, settings, settings.strategy, settings.rule, former)


def extended(session: Session, posts: list[Post], number: int = 1) -> Session:
    """The session with further posts, opened again."""
    folder = session.folder.with_name(f"next-{number}")
    prepare(folder, session, posts)
    with session, Session.open(folder) as further:
        assert session.extend(further).name == f"job-before-{number}"
    return Session.open(session.folder)


def test_groups_and_shared_posts_stay_however_often_posts_are_added(tmp_path: Path) -> None:
    with Session.open(fresh(tmp_path / "job", overlap=0.4)) as session:
        session.label("kim", "p0", "relevant", "both")
        groups, shared = [one.id for one in session.pool.posts], session._state._shared
        waiting = session.status().waiting
    for number in (1, 2):
        # Ids before all others; a near-duplicate of a labeled post, and one of a post that is added.
        new = [
            Post(f"{number}-{i}", f"{number * 7} {'boats' * number} at the pier {i * 13}") for i in range(10)
        ]
        copies = [
            Post(f"{number}", POSTS[0].text + f" https://t.example/{number}"),
            Post(f"00{number}", new[0].text),
        ]
        with extended(Session.open(session.folder), new + copies, number) as session:
            assert [one.id for one in session.pool.posts[: len(groups)]] == groups
            np.testing.assert_array_equal(session._state._shared[: len(groups)], shared)
            labels = {one.post.id: (one.value, one.note) for one in session.labeled() if one.value}
            copied = [str(one) for one in range(1, number + 1)]
            assert labels == dict.fromkeys(["p0", "p0copy", *copied], ("relevant", "both"))
            assert session.status().waiting == waiting
            groups, shared = [one.id for one in session.pool.posts], session._state._shared
    assert len(groups) == 40 + 2 * 10
    assert 0.2 < shared[40:].mean() < 0.6
    np.testing.assert_array_equal([post.id for post in session.posts[:41]], [post.id for post in POSTS])


def test_no_claim_rests_on_former_draws(tmp_path: Path) -> None:
    def label(session: Session) -> None:
        for one in session.next("kim", 1):
            session.label("kim", one.post.id, "relevant" if "bridge" in one.post.text else "not")

    with Session.open(fresh(tmp_path / "job")) as session:
        while not session.status().decision.stop:
            label(session)
        found, drawn = session.status().relevant, len(session._state.drawn)
        assert drawn
    with extended(Session.open(session.folder), FURTHER) as session:
        status = session.status()
        assert (status.decision.stop, status.estimate.high) == (False, 50 - status.labeled)
        assert status.decision.reason.startswith(
            "0 labels since posts were added; random sampling starts after 10"
        )
        label(session)  # a further post, which the strategy ranks first: it has its turn again
        assert session.status().relevant == found + 1
        while not session.status().decision.stop:
            label(session)
        assert session.status().relevant >= 0.95 * (found + len(FURTHER))
        assert {one.post.id for one in session.labeled() if one.sample == "random"} == {
            session.pool.posts[index].id for index in session._state.drawn
        }


def test_other_processes_open_the_session_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fresh(tmp_path / "job")
    problems: list[str] = []

    def label(session: Session, post: str) -> None:
        try:
            session.label("lee", post, "not")
        except DataError as error:
            problems.append(str(error))

    with Session.open(folder) as other, Session.open(folder) as second:
        other.label("lee", "p1", "not")
        waiting = threading.Thread(target=label, args=(second, "p2"))
        copy = SessionFile.copy_to

        def copy_slowly(file: SessionFile, folder: Path) -> None:
            waiting.start()  # it began before the posts were added, and waits for the file
            time.sleep(0.2)
            copy(file, folder)

        monkeypatch.setattr(SessionFile, "copy_to", copy_slowly)
        extended(Session.open(folder), FURTHER).close()
        waiting.join()
        label(other, "p3")
        assert len(problems) == 2
        assert all("was moved, deleted or replaced; open the session again" in one for one in problems)
        with pytest.raises(DataError, match="open the session again"):
            other.status()
    for path in (folder, tmp_path / "job-before-1"):
        assert [(event.post, event.annotator) for event in events_in(path)] == [("p1", "lee")]


def test_posts_do_not_get_lost(tmp_path: Path) -> None:
    with Session.open(fresh(tmp_path / "job")) as session, Session.open(fresh(tmp_path / "next")) as further:
        session.label("lee", "p1", "not")
        Session.create(tmp_path / "fewer", session.articles, POSTS[:20], "bm25").close()
        with (
            Session.open(tmp_path / "fewer") as fewer,
            pytest.raises(LinkerError, match="are missing; add posts"),
        ):
            session.extend(fewer)
        session.label("lee", "p2", "not")
        assert not [*tmp_path.glob("*before*")]
        session.extend(further)
    assert [event.post for event in events_in(tmp_path / "job")] == ["p1", "p2"]


# A child that is killed where the number says: before and after the copy, in the transaction, before it and after it.
KILLED = """
import os, sys
from linker.annotation.session import contents
from linker.annotation.session.session import Session
from linker.annotation.session.session_file import SessionFile

def dying(function, before):
    def call(*arguments):
        if not before:
            function(*arguments)
        os.kill(os.getpid(), 9)
    return call

places = [
    (SessionFile, "copy_to", True), (SessionFile, "copy_to", False), (contents, "write_settings", False),
    (SessionFile, "replace_contents", False), (Session, "extend", False),
]
for number, (owner, name, before) in enumerate(places):
    if os.fork():
        os.wait()
        continue
    folder = os.path.join(sys.argv[1], str(number))
    setattr(owner, name, dying(getattr(owner, name), before))
    with Session.open(folder) as session, Session.open(sys.argv[2]) as further:
        session.label("kim", "p1", "relevant", "the last one")
        session.extend(further)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_kill_leaves_the_session_before_or_after_with_all_labels(tmp_path: Path) -> None:
    with Session.open(fresh(tmp_path / "0")) as session:
        session.next("kim", 4)
        session.label("kim", "p0", "not")
        prepare(tmp_path / "next", session, FURTHER)
    for number in range(1, 5):
        shutil.copytree(tmp_path / "0", tmp_path / str(number))
    subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(tmp_path / "next")], cwd=ROOT, check=True
    )
    sizes = []
    for number in range(5):
        with Session.open(tmp_path / str(number)) as session:
            sizes.append(len(session.pool))
            assert session.labels_of("kim") == ["not", "relevant"]
            session.label("kim", "p2", "not")
        assert [event.post for event in events_in(tmp_path / str(number))] == ["p0", "p1", "p2"]
    assert sizes == [40, 40, 40, 40, 50]
    assert [event.post for event in events_in(tmp_path / "4-before-1")] == ["p0", "p1"]
