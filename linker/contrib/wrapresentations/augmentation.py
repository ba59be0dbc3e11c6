"""Labelled texts with other words in the same place: what a model is to learn the class from, not the topic."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from linker.common.checks import between
from linker.common.console import progress_bar
from linker.common.errors import DataError
from linker.contrib.twitter4sse.mine_pairs import write_lines
from linker.contrib.wrapresentations.topic_words import TopicChanger, pieces
from linker.data.types import Post
from linker.models.siamese.hugging_face import load_network, token_limit
from linker.models.siamese.siamese import length_buckets

# Guesses among which one is drawn, by their probabilities.
_GUESSES = 10
# Among so many of the likeliest tokens whole words are looked for.
_LIKELY = 50
# A vocabulary's worth of numbers for each: what bounds the memory.
_TOKENS_TOGETHER = 1024
_WHOLE_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SPACE_MARKS = ("Ġ", "▁")


class Refiller:
    """Masks some words of a text and fills in what a masked language model expects there, but not the same.

    All masks of a text are filled at once. Only whole words are filled in, so a word may be replaced by a shorter
    one; where no such guess is among the likeliest 50, the word stays.

    Args:
        path: folder or name of a Hugging Face model with its masked-LM head.
        share: of a text's words, rounded, at least one; links, mentions and hashtags are no words.
        seed: decides which words, and which guesses.

    Raises:
        ModelError: there is no such model, or it lacks the head.
    """

    def __init__(self, path: str, share: float = 0.1, seed: int = 0) -> None:
        between(0, 1, share=share)
        self.share, self.seed = share, seed
        self.network, self.tokenizer = load_network(path, "masked_lm")
        self._most = token_limit(self.network, self.tokenizer)
        self._marked = any(token.startswith(_SPACE_MARKS) for token in self.tokenizer.get_vocab())
        self._special = set(self.tokenizer.all_special_ids)

    def refilled(self, ids: Sequence[str], texts: Sequence[str]) -> tuple[list[str], int]:
        """The texts with other words, and how many of them there are; a text's own do not depend on the others.

        Args:
            ids: of each text; they decide its chances.
            texts: the texts.
        """
        rngs = [random.Random(f"{self.seed}:mask:{own}") for own in ids]
        masked = [self._masked(text, rng) for text, rng in zip(texts, rngs)]
        encoded = [self._tokens(text, spans) for text, spans in zip(texts, masked)]
        result, count = list(texts), 0
        with progress_bar() as progress:
            bar = progress.add_task("guessing words", total=len(texts))
            for part in length_buckets([len(tokens) for tokens in encoded], _TOKENS_TOGETHER):
                for i, guesses in zip(part, self._likeliest([encoded[i] for i in part])):
                    result[i], changed = self._filled(texts[i], masked[i], guesses, rngs[i])
                    count += changed
                progress.advance(bar, len(part))
        return result, count

    def _masked(self, text: str, rng: random.Random) -> list[tuple[int, int]]:
        words = [
            (piece.start, piece.end)
            for piece in pieces(text)
            if piece.kind == "word" and _WHOLE_WORD.fullmatch(text[piece.start : piece.end])
        ]
        wanted = max(round(self.share * len(words)), 1) if self.share > 0 else 0
        return sorted(rng.sample(words, min(wanted, len(words))))

    def _tokens(self, text: str, spans: list[tuple[int, int]]) -> list[int]:
        parts, end = [], 0
        for start, stop in spans:
            parts += [text[end:start], self.tokenizer.mask_token]
            end = stop
        cut = {} if self._most is None else {"truncation": True, "max_length": self._most}
        return self.tokenizer("".join([*parts, text[end:]]), **cut)["input_ids"]

    @torch.no_grad()
    def _likeliest(self, texts: Sequence[list[int]]) -> list[list[tuple[list[int], list[float]]]]:
        """For each mask of each text the likeliest tokens and their probabilities."""
        padded: Any = self.tokenizer.pad({"input_ids": list(texts)}, return_tensors="pt")
        logits: Tensor = self.network(
            input_ids=padded["input_ids"], attention_mask=padded["attention_mask"]
        ).logits
        found: list[list[tuple[list[int], list[float]]]] = [[] for _ in texts]
        at = (padded["input_ids"] == self.tokenizer.mask_token_id).nonzero()
        likely = logits[at[:, 0], at[:, 1]].softmax(-1).topk(min(_LIKELY, logits.shape[-1]))
        for row, tokens, shares in zip(at[:, 0].tolist(), likely.indices.tolist(), likely.values.tolist()):
            found[row].append((tokens, shares))
        return found

    def _filled(
        self,
        text: str,
        spans: list[tuple[int, int]],
        guesses: list[tuple[list[int], list[float]]],
        rng: random.Random,
    ) -> tuple[str, int]:
        """The text with a guess for each mask; masks beyond the model's longest text have none and stay as they are."""
        parts, end, changed = [], 0, 0
        for (start, stop), (tokens, shares) in zip(spans, guesses):
            own = text[start:stop]
            words = [(self._word(token), share) for token, share in zip(tokens, shares)]
            fit = [(word, share) for word, share in words if word and word.lower() != own.lower()][:_GUESSES]
            new = own
            if fit:
                (new,) = rng.choices([word for word, _ in fit], [share + 1e-9 for _, share in fit])
                changed += 1
            parts += [text[end:start], new]
            end = stop
        return "".join(parts) + text[end:], changed

    def _word(self, token: int) -> str:
        """The whole word that a token is, or nothing."""
        written = self.tokenizer.convert_ids_to_tokens(token)
        part = written.startswith("##") or written.endswith("@@")
        if token in self._special or part or (self._marked and not written.startswith(_SPACE_MARKS)):
            return ""
        word = self.tokenizer.decode([token]).strip()
        return word if _WHOLE_WORD.fullmatch(word) else ""


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
