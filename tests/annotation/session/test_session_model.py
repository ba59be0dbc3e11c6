"""Any sequence of actions, beside a model of a session that is as simple as can be."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from linker.annotation.session.session import Session
from tests.helpers.sessions import POSTS, fresh

NAMES = st.sampled_from(["kim", "lee", "max"])
VALUES = st.sampled_from(["relevant", "not", "skip"])
IDS = st.sampled_from([post.id for post in POSTS])


class Model(RuleBasedStateMachine):
    """Two sessions open on one folder, and what has to be true of both."""

    @initialize(overlap=st.sampled_from([0.0, 0.4]))
    def begin(self, overlap: float) -> None:
        self.above = Path(tempfile.mkdtemp())
        self.folder = fresh(self.above / "job", overlap=overlap)
        self.overlap = overlap
        self.open = [Session.open(self.folder) for _ in range(2)]
        self.given: dict[str, dict[str, str]] = {}  # annotator → post → value
        self.undo_stack: dict[str, list[tuple[str, str | None]]] = {}
        self.notes: dict[tuple[str, str], str] = {}
        self.resolved: dict[str, str] = {}
        self.before: dict[str, list[str]] = {}  # what was shown last, to whom
        self.returned: set[str] = set()  # to who took a label back, even if another has the post

    def teardown(self) -> None:
        if hasattr(self, "above"):
            shutil.rmtree(self.above)

    @rule(name=NAMES, where=st.integers(0, 1), count=st.integers(1, 3))
    def look(self, name: str, where: int, count: int) -> None:
        suggestions = self.open[where].next(name, count)
        shown = [one.post.id for one in suggestions]
        assert len(set(shown)) == len(shown) <= count
        assert not set(shown) & set(self.given.get(name, {}))
        for post in shown:
            labeled_by = [n for n, given in self.given.items() if given.get(post, "skip") != "skip"]
            assert len(labeled_by) <= (1 if self.overlap else 0)
            assert post not in self.resolved
        # The same again until something happens, wherever one looks.
        assert [one.post.id for one in self.open[1 - where].next(name, count)] == shown
        if not self.overlap:
            others = {post for other, posts in self.before.items() if other != name for post in posts}
            assert not {one.post.id for one in suggestions if not one.at_random} & others - self.returned
        self.before[name] = shown

    @rule(name=NAMES, where=st.integers(0, 1), post=IDS, value=VALUES)
    def label_any(self, name: str, where: int, post: str, value: str) -> None:
        self.label(name, where, post, value)

    @precondition(lambda self: any(self.before.values()))
    @rule(where=st.integers(0, 1), value=VALUES, note=st.sampled_from(["", "a\nnote 🦦"]))
    def label_shown(self, where: int, value: str, note: str) -> None:
        name = next(name for name, posts in self.before.items() if posts)
        post = self.before[name][0]
        self.label(name, where, post, value, note)

    def label(self, name: str, where: int, post: str, value: str, note: str = "") -> None:
        self.open[where].label(name, post, value, note)  # type: ignore[arg-type]
        post = "p0" if post == "p0copy" else post
        given = self.given.setdefault(name, {})
        self.undo_stack.setdefault(name, []).append((post, given.get(post)))
        given[post] = value
        if note:
            self.notes[name, post] = note
        self.before = {n: [one for one in posts if one != post] for n, posts in self.before.items()}

    @rule(name=NAMES, where=st.integers(0, 1))
    def undo(self, name: str, where: int) -> None:
        steps = self.undo_stack.get(name, [])
        post = self.open[where].undo(name)
        assert post == (steps[-1][0] if steps else None)
        if post is None:
            return
        _, value = steps.pop()
        self.given[name] = {p: v for p, v in {**self.given[name], post: value}.items() if v}
        unlabeled = all(given.get(post, "skip") == "skip" for given in self.given.values())
        if value is None and unlabeled and post not in self.resolved:
            assert self.open[where].next(name)[0].post.id == post
        self.before.pop(name, None)
        self.returned.add(post)

    @rule(where=st.integers(0, 1), post=IDS, value=VALUES)
    def resolve(self, where: int, post: str, value: str) -> None:
        self.open[where].resolve("boss", post, value)  # type: ignore[arg-type]
        post = "p0" if post == "p0copy" else post
        self.resolved.pop(post, None)
        if value != "skip":
            self.resolved[post] = value
        self.before = {n: [one for one in posts if one != post] for n, posts in self.before.items()}

    @rule(where=st.integers(0, 1))
    def open_again(self, where: int) -> None:
        self.open[where] = Session.open(self.folder)

    @invariant()
    def both_know_what_happened(self) -> None:
        if not hasattr(self, "open"):
            return
        counted = {name: len(given) for name, given in self.given.items() if given}
        holds = {}
        for post in {post for given in self.given.values() for post in given} | set(self.resolved):
            votes = [given[post] for given in self.given.values() if given.get(post, "skip") != "skip"]
            if post in self.resolved:
                holds[post] = self.resolved[post] == "relevant"
            elif votes:
                holds[post] = votes.count("relevant") >= votes.count("not")
        for session in self.open:
            status = session.status()
            assert status.annotators == counted
            assert status.labeled == len(holds) == len(status.curve)
            assert status.relevant == sum(holds.values())
            records = session.labeled()
            said = {
                (r.annotator, r.post.id): (r.value, r.note)
                for r in records
                if r.value and r.post.id != "p0copy"
            }
            assert said == {
                (name, post): (value, self.notes.get((name, post)))
                for name, given in self.given.items()
                for post, value in given.items()
            }
            one_each = {r.post.id: r.value for r in session.labeled(resolved=True)}
            assert {post for post, value in one_each.items() if value in ("relevant", "not")} - {
                "p0copy"
            } == set(holds)
            assert all((one_each[post] == "relevant") == value for post, value in holds.items())
            assert one_each["p0copy"] == one_each["p0"]


Model.TestCase.settings = settings(
    max_examples=15,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestModel = Model.TestCase
