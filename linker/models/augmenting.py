"""Labelled texts with other words in the same place: what a model is to learn the class from, not the topic."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from linker.data.types import Post
from linker.errors import DataError
from linker.mining.mining import write_lines
from linker.mining.topic_words import TopicChanger
from linker.models.refilling import Refiller


@dataclass
class Counts:
    """What was changed, and in how many texts."""

    texts: int
    kept: int
    topic_words: int
    entities: int
    guessed: int


def augment(
    posts: Sequence[Post],
    network: str,
    out: Path,
    keep_topics: Collection[str] = (),
    share: float = 0.1,
    seed: int = 0,
) -> Counts:
    """Write `id, text, original` of each text, in the same order.

    Args:
        posts: with `extra["topic"]`.
        network: folder or name of a Hugging Face model with its masked-LM head.
        out: JSON lines, packed where the name ends in .gz.
        keep_topics: texts of these topics stay as they are, to be held out; their words are not used for others.
        share: of the words, how many are guessed anew.
        seed: decides all of it.

    Raises:
        ModelError: there is no such model, or it lacks the head.
        DataError: there is no such topic to keep, or nothing is left.
    """
    topics = {post.extra.get("topic") for post in posts}
    if unknown := sorted(set(keep_topics) - topics):
        there = ", ".join(sorted(topic for topic in topics if topic))
        raise DataError(f"no text has the topic {', '.join(unknown)}; there are: {there}")
    changed = [post for post in posts if post.extra.get("topic") not in keep_topics]
    if not changed:
        raise DataError("all topics are to stay as they are: there is nothing to do")
    refiller = Refiller(network, share, seed)
    changer = TopicChanger(changed, seed)
    replaced = [changer.replaced(post) for post in changed]
    texts, guessed = refiller.refilled([post.id for post in changed], [one.text for one in replaced])
    new = dict(zip((post.id for post in changed), texts))
    records = ({"id": p.id, "text": new.get(p.id, p.text), "original": p.text} for p in posts)
    write_lines(out, (json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return Counts(
        len(posts),
        len(posts) - len(changed),
        sum(one.words for one in replaced),
        sum(one.entities for one in replaced),
        guessed,
    )
