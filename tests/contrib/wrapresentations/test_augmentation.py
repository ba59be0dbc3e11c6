"""Texts with words of a masked language model, and the command that writes them."""

import json

import pytest
import torch

from linker.common.errors import DataError, ModelError
from linker.contrib.wrapresentations.augmentation import MaskedLMAugmenter, augment
from linker.data.types import Post
from tests.helpers.tiny_transformers import tiny

TEXTS = [
    "the cat sat w1 harbour glacier at home with @user and #Tags https://t.co/a2",
    "the the the the the the the the the cat",
    "short",
    "@only #tags",
]
IDS = list("abcd")


@pytest.fixture(scope="module", params=["bert", "roberta"])
def network(request, tmp_path_factory):
    return str(tiny(request.param, tmp_path_factory.mktemp(request.param), positions=64, masked_lm=True))


def changed(one, other):
    one, other = one.split(), other.split()
    assert len(one) == len(other)
    return [(a, b) for a, b in zip(one, other) if a != b]


def replaced(augmenter, ids=IDS, texts=TEXTS):
    found = [augmenter.replace(text_id, text) for text_id, text in zip(ids, texts)]
    return [text for text, _ in found], sum(count for _, count in found)


def test_a_tenth_of_the_words_is_another_word_and_nothing_else_is_touched(network):
    texts, count = replaced(MaskedLMAugmenter(network, seed=1))
    pairs = [changed(old, new) for old, new in zip(TEXTS, texts)]
    assert [len(own) for own in pairs[1:3]] == [1, 1]
    assert len(pairs[0]) == 1
    assert not pairs[3]
    assert count == 3
    for own, guess in [pair for found in pairs for pair in found]:
        assert own.isalpha()
        assert guess.lower() != own.lower()
        assert guess.isalpha()


def test_guesses_are_likely_ones_at_the_mask(network):
    """Of one text with one word masked, against the network's own probabilities."""
    augmenter = MaskedLMAugmenter(network, share=0.01, seed=5)
    new = [augmenter.replace(str(k), "the cat sat")[0] for k in range(12)]
    mask, seen = augmenter.tokenizer.mask_token, set()
    for text in new:
        old = ["the", "cat", "sat"]
        ((place, guess),) = [(i, b) for i, (a, b) in enumerate(zip(old, text.split())) if a != b]
        old[place] = mask
        tokens = augmenter.tokenizer(" ".join(old), return_tensors="pt")
        at = (tokens["input_ids"][0] == augmenter.tokenizer.mask_token_id).nonzero()[0, 0]
        with torch.no_grad():
            logits = augmenter.network(**tokens).logits[0, at]
        likely = [augmenter.tokenizer.decode([t]).strip() for t in logits.topk(50).indices.tolist()]
        assert guess in likely
        seen.add((place, guess))
    assert len(seen) >= 3


def test_guesses_depend_on_the_seed_and_the_share(network):
    texts, _ = replaced(MaskedLMAugmenter(network, share=0.5, seed=3))
    assert replaced(MaskedLMAugmenter(network, share=0.5, seed=4))[0] != texts
    assert replaced(MaskedLMAugmenter(network, share=0.0)) == (TEXTS, 0)


def test_of_a_text_longer_than_the_network_reads_the_end_stays(network):
    text = "cat " * 400 + "sat"
    new = MaskedLMAugmenter(network, share=1.0).replace("x", text)[0].split()
    assert new[0] != "cat"
    assert new[100:] == text.split()[100:]


def test_a_model_without_the_head_is_refused(tmp_path):
    with pytest.raises(ModelError, match="no masked-LM head"):
        MaskedLMAugmenter(str(tiny("bert", tmp_path)))


POSTS = [
    Post(str(i), f"the cat sat at {topic} harbour today", extra={"topic": topic, "class": "x"})
    for i, topic in enumerate(["a", "b", "c"] * 3)
]


def test_texts_of_a_topic_to_hold_out_stay_and_everything_is_the_same_again(network, tmp_path):
    outs = [tmp_path / "one.jsonl", tmp_path / "other.jsonl"]
    for out in outs:
        counts = augment(POSTS, network, out, keep_topics=["b"], seed=7)
    assert outs[0].read_bytes() == outs[1].read_bytes()
    rows = [json.loads(line) for line in outs[0].read_text().splitlines()]
    assert [row["id"] for row in rows] == [post.id for post in POSTS]
    assert [row["original"] for row in rows] == [post.text for post in POSTS]
    kept = [row["text"] == row["original"] for row in rows]
    assert kept == [post.extra["topic"] == "b" for post in POSTS]
    assert (counts.texts, counts.kept, counts.filled) == (9, 3, 6)


def test_topics_that_are_not_there_are_reported(network, tmp_path):
    with pytest.raises(DataError, match="no text has the topic x; topics: a, b, c"):
        augment(POSTS, network, tmp_path / "out", keep_topics=["x"])
    with pytest.raises(DataError, match="keep fewer topics"):
        augment(POSTS, network, tmp_path / "out", keep_topics="abc")
    assert not (tmp_path / "out").exists()
