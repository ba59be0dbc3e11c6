"""Review of a session: agreement of people and machines, and the posts to adjudicate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from linker.annotation.codebook import Codebook, Question
from linker.annotation.pool import Pool
from linker.annotation.session.agreement import Agreement, cohen_kappa, label_table
from linker.annotation.session.events import Event
from linker.annotation.session.state import SessionState
from linker.common.stats import proportion_interval
from linker.data.types import Post


@dataclass(frozen=True)
class Dispute:
    """A post that people label differently.

    Attributes:
        post: the post.
        labels: annotator, label and note of each person who labeled it.
        adjudicated: the adjudicated label, if there is one.
        holds: whether the post counts as relevant now: the adjudicated label, else the majority; ties relevant.
        waiting: whether somebody else is still to label it, whom reading the labels would influence.
    """

    post: Post
    labels: list[tuple[str, Event, str]]
    adjudicated: Event | None
    holds: bool
    waiting: bool

    def answers(self, key: str) -> dict[str, str | int]:
        """Return annotator → answer to a question of the codebook."""
        return {
            who: label.answers[key] for who, label, _ in self.labels if label.answers and key in label.answers
        }


@dataclass(frozen=True)
class Share:
    """A share of posts.

    Attributes:
        hits: number of posts that count.
        count: number of posts in all.
        low: lower bound of the 95 % interval, 0 to 1; 0 without posts.
        high: upper bound; 1 without posts.
    """

    hits: int
    count: int
    low: float
    high: float

    @classmethod
    def of(cls, hits: int, count: int) -> Share:
        """Return the share with its interval."""
        return cls(hits, count, *proportion_interval(hits, count))


@dataclass(frozen=True)
class MachineAgreement:
    """Agreement of a machine with people, on the posts that both labeled; skips do not count.

    People's label of a post is the adjudicated one, else the majority's; a tie counts as relevant.

    Attributes:
        machine: its name.
        labels: number of posts that it labeled.
        posts: number of these that people labeled as well.
        kappa: Cohen's κ between it and people; NaN if undefined.
        precision: of the posts that it calls relevant, those that people call relevant.
        recall: of the posts that people call relevant, those that it calls relevant.
        sampled: number of `posts` that were sampled at random. People label the likeliest posts first, so figures over
            all posts are about those, not about the whole pool.
    """

    machine: str
    labels: int
    posts: int
    kappa: float
    precision: Share
    recall: Share
    sampled: int


@dataclass(frozen=True)
class Review:
    """What the owner of a session looks at. Skips do not count, nor do changes after a look at the labels of others.

    Attributes:
        agreement: of all people, in relevant or not.
        kappas: pair of annotators → Cohen's κ; NaN if undefined.
        machines: agreement of each machine with people.
        disputes: posts on whose relevance people disagree.
        revised: number of labels that were changed after a look at those of others; they count as they were before.
        answers: key of each question of the codebook that offers answers → agreement on it, and the posts to which
            people answer differently and of which it is asked.
    """

    agreement: Agreement
    kappas: dict[tuple[str, str], float]
    machines: list[MachineAgreement]
    disputes: list[Dispute]
    revised: int
    answers: dict[str, tuple[Agreement, list[Dispute]]]


def review_of(state: SessionState, pool: Pool, codebook: Codebook) -> Review:
    """Compute the review of a session from its state, posts and codebook."""
    said = {name: person.labels | person.independent for name, person in state.annotators.items()}
    votes: dict[str, dict[int, bool]] = {}
    by_post: dict[int, list[bool]] = {}
    for annotator, labels in said.items():
        for index, label in labels.items():
            if label.value != "skip":
                is_relevant = label.value == "relevant"
                votes.setdefault(annotator, {})[index] = is_relevant
                by_post.setdefault(index, []).append(is_relevant)

    def dispute(index: int) -> Dispute:
        given = state.labels_of(index).items()
        labels = [(name, label, state.notes.get((index, name), "")) for name, label in given]
        holds, waiting = bool(state.value(index)), index in state.waiting
        return Dispute(pool.posts[index], labels, state.adjudicated.get(index), holds, waiting)

    def on(question: Question) -> tuple[Agreement, list[Dispute]]:
        key = question.key
        given = {
            name: {
                index: label.answers[key]
                for index, label in labels.items()
                if label.answers and key in label.answers
            }
            for name, labels in said.items()
        }
        table = label_table(given.values(), question.options)
        posts = dict.fromkeys(index for answers in given.values() for index in answers)
        differing = [index for index, row in zip(posts, table) if len({*row} - {-1}) > 1]
        asked = [index for index in differing if state.value(index) or not question.relevant_only]
        return Agreement.of(table, is_scale=question.kind == "scale"), list(map(dispute, asked))

    return Review(
        Agreement.of(label_table(votes.values())),
        {(a, b): cohen_kappa(votes[a], votes[b]) for a, b in combinations(votes, 2)},
        [_machine_agreement(name, labels, state) for name, labels in state.machines.items()],
        [dispute(index) for index, values in by_post.items() if len(set(values)) > 1],
        sum(
            label.value != (person.labels[index].value if index in person.labels else "skip")
            for person in state.annotators.values()
            for index, label in person.independent.items()
        ),
        {one.key: on(one) for one in codebook.questions if one.options},
    )


def _machine_agreement(name: str, events: Mapping[int, Event], state: SessionState) -> MachineAgreement:
    machine = {index: label.value == "relevant" for index, label in events.items() if label.value != "skip"}
    labels = state.labels()
    people = dict(zip(labels.posts.tolist(), labels.relevant.tolist()))
    both = [index for index in machine if index in people]
    agreed = sum(machine[index] and people[index] for index in both)
    return MachineAgreement(
        name,
        len(machine),
        len(both),
        cohen_kappa(machine, people),
        Share.of(agreed, sum(machine[index] for index in both)),
        Share.of(agreed, sum(people[index] for index in both)),
        len(set(both) & set(labels.posts[labels.at_random].tolist())),
    )
