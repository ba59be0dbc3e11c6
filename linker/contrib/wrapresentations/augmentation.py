"""Augmentation of labeled texts: other words in place of topic words, names and some others."""

import json
import random
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from linker.common.checks import between
from linker.common.console import track
from linker.common.errors import DataError
from linker.common.files import write_lines
from linker.contrib.wrapresentations.topic_words import TopicReplacer, pieces
from linker.data.types import Post
from linker.models.siamese.hugging_face import load_network, token_limit

# Number of predicted words from which one is sampled by probability.
_CANDIDATES = 10
# Number of likeliest tokens that are searched for whole words.
_TOP_TOKENS = 50
_WHOLE_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SPACE_MARKS = ("Ġ", "▁")


class MaskedLMAugmenter:
    """Augmenter that masks some words of a text and fills in other words predicted by a masked language model.

    All masks of a text are filled at once, with whole words only. A word stays if no other whole word is among the 50
    likeliest tokens, or if it is beyond the model's maximum length.

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
        most = token_limit(self.network, self.tokenizer)
        self._cut = {} if most is None else {"truncation": True, "max_length": most}
        self._marked = any(token.startswith(_SPACE_MARKS) for token in self.tokenizer.get_vocab())
        self._special = set(self.tokenizer.all_special_ids)

    def replace(self, text_id: str, text: str) -> tuple[str, int]:
        """Return a text with other words, which depend on its id and the seed, and the number of these words."""
        rng = random.Random(f"{self.seed}:mask:{text_id}")
        words = [
            (piece.start, piece.end)
            for piece in pieces(text)
            if piece.kind == "word" and _WHOLE_WORD.fullmatch(text[piece.start : piece.end])
        ]
        wanted = max(round(self.share * len(words)), 1) if self.share > 0 else 0
        spans = sorted(rng.sample(words, min(wanted, len(words))))
        if not spans:
            return text, 0
        parts, end, changed = [], 0, 0
        for (start, stop), predicted in zip(spans, self._predicted(text, spans)):
            word = text[start:stop]
            others = [(other, share) for other, share in predicted if other.lower() != word.lower()]
            if others := others[:_CANDIDATES]:
                (word,) = rng.choices([other for other, _ in others], [share + 1e-9 for _, share in others])
                changed += 1
            parts += [text[end:start], word]
            end = stop
        return "".join(parts) + text[end:], changed

    @torch.no_grad()
    def _predicted(self, text: str, spans: list[tuple[int, int]]) -> list[list[tuple[str, float]]]:
        """Return the likeliest whole words at each of some spans that the model reads, with their probabilities."""
        parts, end = [], 0
        for start, stop in spans:
            parts += [text[end:start], self.tokenizer.mask_token]
            end = stop
        tokens = self.tokenizer("".join([*parts, text[end:]]), return_tensors="pt", **self._cut)
        at = tokens["input_ids"][0] == self.tokenizer.mask_token_id
        logits = self.network(**tokens).logits[0, at]  # (masks, vocabulary)
        likely = logits.softmax(-1).topk(min(_TOP_TOKENS, logits.shape[-1]))
        return [
            [(word, share) for token, share in zip(ids, shares) if (word := self._word(token))]
            for ids, shares in zip(likely.indices.tolist(), likely.values.tolist())
        ]

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
    posts: Sequence[Post], network: str, out: Path, keep_topics: Collection[str] = (), seed: int = 0
) -> Counts:
    """Write `id, text, original` of each text, in the same order.

    Args:
        posts: texts with `extra["topic"]`.
        network: folder or name of a Hugging Face model with its masked-LM head.
        out: JSON Lines, compressed if the name ends in .gz.
        keep_topics: topics to hold out: their texts stay unchanged, and their words do not replace others.
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
    augmenter, replacer = MaskedLMAugmenter(network, seed=seed), TopicReplacer(changed, seed)
    new: dict[str, str] = {}
    topic_words = entities = filled = 0
    for post in track(changed, "replacing words", len(changed)):
        text, words, names = replacer.replace(post)
        new[post.id], predicted = augmenter.replace(post.id, text)
        topic_words, entities, filled = topic_words + words, entities + names, filled + predicted
    records = ({"id": p.id, "text": new.get(p.id, p.text), "original": p.text} for p in posts)
    write_lines(out, (json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return Counts(len(posts), len(posts) - len(changed), topic_words, entities, filled)
