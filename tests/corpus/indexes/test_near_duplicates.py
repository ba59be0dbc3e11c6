"""Near-duplicates in a corpus: detected as among texts in memory, shown once, counted."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.corpus.corpus import Corpus
from linker.corpus.indexes.near_duplicates import GROUPS, SIGNATURES, stored_groups
from linker.corpus.storage.array_files import ArrayFiles
from linker.corpus.storage.shards import SHARDS, Shards
from linker.data.near_duplicates import (
    BAND,
    BANDS,
    LIKE,
    SIGNATURE,
    duplicate_groups,
    linked_groups,
    normal_form,
    row_keys,
    signatures,
)
from tests.corpus.conftest import add, build_of

WORDS = [
    f"{a}{b}" for a in ("har", "or", "gla", "rail", "thea", "vol") for b in ("bour", "chard", "cier", "tre")
]


def texts(count: int, seed: int) -> list[str]:
    """Random sentences, a third of them copied from an earlier one with small changes."""
    rng = random.Random(seed)
    made: list[str] = []
    for _ in range(count):
        if made and rng.random() < 0.33:
            copy = rng.choice(made)
            made.append(
                rng.choice([f"RT @a: {copy}", f"{copy} http://t.co/{rng.random()}", copy.upper(), f"{copy}!"])
            )
        else:
            made.append(" ".join(rng.choices(WORDS, k=12)))
    return made


@pytest.fixture
def corpus(tmp_path, model_folder):
    posts = [
        {"id": f"p{i:03d}", "text": text, "lang": ("en", "de")[i % 2]} for i, text in enumerate(texts(400, 1))
    ]
    return Corpus.open(build_of(tmp_path / "corpus", posts, model_folder))


def partition(groups) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(groups == group).tolist()) for group in np.unique(groups)}


def groups_of(corpus: Corpus) -> np.ndarray:
    dataset = corpus.store.dataset()
    assert dataset is not None
    return stored_groups(Shards(corpus.store.folder, dataset))


def files(corpus: Corpus, name: str) -> list[Path]:
    return sorted((corpus.store.folder / SHARDS).rglob(f"{name}-*.safetensors"))


def test_the_same_groups_as_in_memory(corpus):
    assert partition(groups_of(corpus)) == partition(duplicate_groups(texts(400, 1)))
    assert len(partition(groups_of(corpus))) < 300


def test_signatures_estimate_the_jaccard_index():
    rng = random.Random(2)
    errors = []
    for _ in range(300):
        words = rng.choices(WORDS, k=20)
        one, other = " ".join(words), " ".join(words[: rng.randrange(21)] + rng.choices(WORDS, k=4))
        runs = [{form[i : i + 5] for i in range(len(form) - 4)} for form in map(normal_form, (one, other))]
        signed = signatures([one, other])
        errors.append((signed[0] == signed[1]).mean() - len(runs[0] & runs[1]) / len(runs[0] | runs[1]))
    assert abs(np.mean(errors)) < 0.02
    assert np.std(errors) < 0.08


def test_signatures_depend_on_the_text_alone():
    several = ["", "ab", "abcd", "abcde", "\U0001f9a6", *texts(50, 3), "x" * 3000]
    together = signatures(several)
    for text, signed in zip(several, together):
        np.testing.assert_array_equal(signatures([text])[0], signed)


def test_shown_once_with_the_number_of_others(corpus):
    everything = corpus.rank("harbour orchard", top=None, copies=True)
    once = corpus.rank("harbour orchard", top=None)
    groups = groups_of(corpus)
    group_of = {f"p{i:03d}": int(group) for i, group in enumerate(groups)}
    best: dict[int, str] = {}
    for ranked in everything:
        best.setdefault(group_of[ranked.post.id], ranked.post.id)
    assert [r.post.id for r in once] == list(best.values())
    assert [r.copies for r in once] == [int((groups == group).sum()) - 1 for group in best]
    assert [r.rank for r in once] == list(range(1, len(once) + 1))
    pages = [
        r for offset in range(0, len(once), 60) for r in corpus.rank("harbour orchard", 60, offset=offset)
    ]
    assert pages == once


def test_copies_that_do_not_pass_are_not_counted(corpus):
    found = corpus.rank("harbour orchard", top=None, lang="de")
    groups = groups_of(corpus)
    german = np.arange(400) % 2 == 1
    assert len(found) > 0
    for ranked in found:
        place = int(ranked.post.id[1:])
        assert german[place]
        assert ranked.copies == ((groups == groups[place]) & german).sum() - 1


def test_posts_added_later_join_their_groups(corpus):
    groups_of(corpus)
    first = texts(400, 1)[0]
    posts = [
        {"id": "later", "text": f"RT @later: {first}"},
        {"id": "other", "text": "quite unlike all others"},
    ]
    add(corpus.store.folder, posts)
    groups = groups_of(corpus)
    assert groups[400] == groups[0] == 0
    assert groups[401] == 401
    for name in (SIGNATURES, GROUPS):
        for path in [*files(corpus, name), *files(corpus, GROUPS)]:
            path.unlink(missing_ok=True)
        np.testing.assert_array_equal(groups_of(corpus), groups)


def test_groups_of_other_posts_are_not_used(corpus):
    expected = groups_of(corpus)
    (path,) = files(corpus, GROUPS)
    stored = ArrayFiles(path.parent)
    name = path.name.rsplit("-", 1)[0]
    stored.write(name, {"values": np.zeros(len(expected) - 1, dtype=np.uint32)})
    np.testing.assert_array_equal(groups_of(corpus), expected)
    assert len(files(corpus, GROUPS)) == 1


def signed_texts(seed: int, count: int, numbers: int, kinds: int, changes: int) -> np.ndarray:
    """Signatures with few different numbers and many copies of some, each changed a little or not: hard to group."""
    rng = np.random.default_rng(seed)
    signed = rng.integers(0, numbers, (kinds, SIGNATURE), dtype=np.uint8)[rng.integers(0, kinds, count)]
    for row in signed:
        for _ in range(rng.integers(0, changes + 1)):
            row[rng.integers(0, SIGNATURE)] = rng.integers(0, 256)
    return signed


def groups_one_by_one(signed: np.ndarray) -> list[int]:
    """What `linked_groups` returns, with dictionaries instead of sorting."""
    rank = {text: place for place, text in enumerate(np.argsort(row_keys(signed), kind="stable").tolist())}
    leader = {text: text for text in rank}
    for number in range(BANDS):
        buckets: dict[bytes, list[int]] = {}
        for text in sorted(rank, key=rank.__getitem__):
            bucket = buckets.setdefault(signed[text, BAND * number : BAND * (number + 1)].tobytes(), [])
            bucket.append(text)
            if (signed[text] == signed[bucket[0]]).mean() >= LIKE:
                leader[text] = min(leader[text], bucket[0], key=rank.__getitem__)

    def root(text: int) -> int:
        return text if leader[text] == text else root(leader[text])

    first: dict[int, int] = {}
    return [first.setdefault(root(text), text) for text in range(len(signed))]


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(0, 80),
    st.sampled_from([2, 3, 256]),
    st.integers(1, 25),
    st.integers(0, 12),
)
def test_the_same_groups_as_with_dictionaries(seed, count, numbers, kinds, changes):
    signed = signed_texts(seed, count, numbers, kinds, changes)
    assert linked_groups(signed).tolist() == groups_one_by_one(signed)
