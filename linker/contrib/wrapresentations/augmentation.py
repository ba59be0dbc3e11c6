"""Augmentation of labeled texts: other words in place of topic words, names and some others."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from linker.common.checks import between
from linker.common.console import progress_bar
from linker.common.errors import DataError
from linker.common.files import write_lines
from linker.contrib.wrapresentations.topic_words import TopicReplacer, pieces
from linker.data.token_axis import length_buckets
from linker.data.types import Post
from linker.models.siamese.hugging_face import load_network, token_limit

# Number of predicted words from which one is sampled by probability.
_CANDIDATES = 10
# Number of likeliest tokens that are searched for whole words.
_TOP_TOKENS = 50
# Tokens per batch; each has as many logits as the vocabulary has entries.
_TOKENS_PER_BATCH = 1024
_WHOLE_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SPACE_MARKS = ("Ġ", "▁")


class MaskedLMAugmenter:
    """Augmenter that masks some words of a text and fills in other words predicted by a masked language model.

    All masks of a text are filled at once, with whole words only. A word stays if no other whole word is among the 50
    likeliest tokens.

    Args:
        path: folder or name of a Hugging Face model with its masked-LM head.
        share: share of a text's words to mask, 0 to 1, rounded, at least one; words of links, mentions and hashtags do
            not count.
        seed: random seed for masks and words.

    Raises:
        ModelError: if the model is not found or has no masked-LM head.
    """

    def __init__(self, path: str, share: float = 0.1, seed: int = 0) -> None:
        between(0, 1, share=share)
        self.share, self.seed = share, seed
        self.network, self.tokenizer = load_network(path, "masked_lm")
        self._most = token_limit(self.network, self.tokenizer)
        self._marked = any(token.startswith(_SPACE_MARKS) for token in self.tokenizer.get_vocab())
        self._special = set(self.tokenizer.all_special_ids)

    def augment(self, ids: Sequence[str], texts: Sequence[str]) -> tuple[list[str], int]:
        """Return the texts with other words, and the number of these words.

        The result of a text depends on its id and the seed, not on the other texts.

        Args:
            ids: id of each text.
            texts: the texts.
        """
        rngs = [random.Random(f"{self.seed}:mask:{text_id}") for text_id in ids]
        masked = [self._masked(text, rng) for text, rng in zip(texts, rngs)]
        encoded = [self._tokens(text, spans) for text, spans in zip(texts, masked)]
        result, count = list(texts), 0
        with progress_bar() as progress:
            bar = progress.add_task("filling in words", total=len(texts))
            for part in length_buckets([len(tokens) for tokens in encoded], _TOKENS_PER_BATCH):
                for i, predictions in zip(part, self._predictions([encoded[i] for i in part])):
                    result[i], changed = self._filled(texts[i], masked[i], predictions, rngs[i])
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
    def _predictions(self, texts: Sequence[list[int]]) -> list[list[tuple[list[int], list[float]]]]:
        """Return, for each mask of each text, the likeliest tokens and their probabilities."""
        padded: Any = self.tokenizer.pad({"input_ids": list(texts)}, return_tensors="pt")
        logits: Tensor = self.network(
            input_ids=padded["input_ids"], attention_mask=padded["attention_mask"]
        ).logits
        predictions: list[list[tuple[list[int], list[float]]]] = [[] for _ in texts]
        at = (padded["input_ids"] == self.tokenizer.mask_token_id).nonzero()
        likely = logits[at[:, 0], at[:, 1]].softmax(-1).topk(min(_TOP_TOKENS, logits.shape[-1]))
        for row, tokens, shares in zip(at[:, 0].tolist(), likely.indices.tolist(), likely.values.tolist()):
            predictions[row].append((tokens, shares))
        return predictions

    def _filled(
        self,
        text: str,
        spans: list[tuple[int, int]],
        predictions: list[tuple[list[int], list[float]]],
        rng: random.Random,
    ) -> tuple[str, int]:
        """Fill the masks; those beyond the model's maximum length have no prediction and keep their words."""
        parts, end, changed = [], 0, 0
        for (start, stop), (tokens, shares) in zip(spans, predictions):
            word = text[start:stop]
            predicted = [(self._word(token), share) for token, share in zip(tokens, shares)]
            others = [(other, share) for other, share in predicted if other and other.lower() != word.lower()]
            if others := others[:_CANDIDATES]:
                (word,) = rng.choices([other for other, _ in others], [share + 1e-9 for _, share in others])
                changed += 1
            parts += [text[end:start], word]
            end = stop
        return "".join(parts) + text[end:], changed

    def _word(self, token: int) -> str:
        """Return the token as a whole word, or \"\"."""
        written = self.tokenizer.convert_ids_to_tokens(token)
        part = written.startswith("##") or written.endswith("@@")
        if token in self._special or part or (self._marked and not written.startswith(_SPACE_MARKS)):
            return ""
        word = self.tokenizer.decode([token]).strip()
        return word if _WHOLE_WORD.fullmatch(word) else ""


class Counts(NamedTuple):
    """Numbers of texts, of those left unchanged, of replaced topic words and entities, and of words filled in."""

    texts: int
    kept: int
    topic_words: int
    entities: int
    filled: int


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
        posts: texts with `extra["topic"]`.
        network: folder or name of a Hugging Face model with its masked-LM head.
        out: JSON Lines, compressed if the name ends in .gz.
        keep_topics: topics to hold out: their texts stay unchanged, and their words do not replace others.
        share: share of the words that the model replaces, 0 to 1.
        seed: random seed.

    Raises:
        ModelError: if the model is not found or has no masked-LM head.
        DataError: if a topic to keep has no text, or no text is left.
    """
    topics = {post.extra.get("topic") for post in posts}
    if unknown := sorted(set(keep_topics) - topics):
        topics_text = ", ".join(sorted(topic for topic in topics if topic))
        raise DataError(f"no text has the topic {', '.join(unknown)}; topics: {topics_text}")
    changed = [post for post in posts if post.extra.get("topic") not in keep_topics]
    if not changed:
        raise DataError("all topics are kept, so no text would change; keep fewer topics")
    augmenter = MaskedLMAugmenter(network, share, seed)
    replacer = TopicReplacer(changed, seed)
    replaced = [replacer.replace(post) for post in changed]
    texts, filled = augmenter.augment([post.id for post in changed], [text for text, _, _ in replaced])
    new = dict(zip((post.id for post in changed), texts))
    records = ({"id": p.id, "text": new.get(p.id, p.text), "original": p.text} for p in posts)
    write_lines(out, (json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return Counts(
        len(posts),
        len(posts) - len(changed),
        sum(words for _, words, _ in replaced),
        sum(entities for _, _, entities in replaced),
        filled,
    )
