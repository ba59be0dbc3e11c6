"""Which posts are new, as answered from keys: what a dictionary of all ids and texts gives."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.common.text_keys import keys_of
from linker.corpus.known_posts import Added, KeyMap, KnownPosts, post_keys
from linker.data.types import Post

POSTS = st.lists(st.tuples(st.integers(0, 9).map(str), st.sampled_from("xyz")), max_size=25)


def answers(
    known: KnownPosts, added: Added, posts: list[tuple[str, str]]
) -> tuple[list[tuple[str, str]], set[str]]:
    found, replaced = known.new_posts([Post(id, text) for id, text in posts], added)
    assert len(set(replaced)) == len(replaced)
    return [(post.id, post.text) for post in found], set(replaced)


def size(keys: KeyMap) -> int:
    return sum(run.shape[1] for run in keys._runs)


@settings(max_examples=200, deadline=None)
@given(POSTS, st.lists(POSTS, max_size=6))
def test_the_first_text_of_an_id_counts(there, chunks):
    corpus = dict(reversed(there))
    known, added = KnownPosts(), Added()
    known.add(post_keys(list(corpus), list(corpus.values())))
    expected = Added()
    for chunk in chunks:
        new = {}
        for id, text in chunk:
            if id not in corpus:
                corpus[id] = new[id] = text
            elif corpus[id] == text:
                expected.known += 1
            else:
                expected.conflicting += 1
        assert answers(known, added, chunk) == (list(new.items()), set())
    assert added == expected
    assert size(known._texts) == len(corpus)


@settings(max_examples=200, deadline=None)
@given(POSTS, st.lists(POSTS, max_size=6))
def test_the_last_text_of_an_id_counts_in_an_update(there, chunks):
    corpus = dict(there)
    known, added = KnownPosts(update=True), Added()
    known.add(post_keys(list(corpus), list(corpus.values())))
    same = 0
    for chunk in chunks:
        before, new = dict(corpus), {}
        for id, text in chunk:
            if corpus.get(id) == text:
                same += 1
            else:
                corpus[id] = new[id] = text
        found, replaced = answers(known, added, chunk)
        assert sorted(found) == sorted(new.items())
        assert replaced == new.keys() & before.keys()
    assert (added.known, added.conflicting) == (same, 0)
    assert size(known._texts) == len(corpus)


@settings(max_examples=60)
@given(
    st.lists(st.dictionaries(st.integers(0, 60), st.integers(0, 9), max_size=30), max_size=12),
    st.lists(st.integers(0, 80)),
)
def test_key_maps_are_maps(parts, asked):
    keys, plain = KeyMap(), {}
    for part in parts:
        rows = [[*map(int, keys_of([str(x)])[0]), number] for x, number in part.items()]
        keys.put(np.array(rows, dtype=np.uint64).reshape(-1, 3))
        plain.update(part)
    of = {tuple(keys_of([str(x)])[0].tolist()): x for x in asked}
    assert {of[key]: number for key, number in keys.get(list(of)).items()} == {
        x: plain[x] for x in asked if x in plain
    }
    assert size(keys) == len(plain)


def test_numbers_of_keys_that_agree_in_their_first_half():
    numbers = KeyMap()
    numbers.put(np.array([[7, 1, 10], [7, 2, 20], [9, 1, 30]], dtype=np.uint64))
    asked = [(7, 2), (7, 3), (9, 1), (7, 1)]
    assert numbers.get(asked) == {(7, 2): 20, (9, 1): 30, (7, 1): 10}
    numbers.put(np.array([[7, 2, 21], [7, 3, 5]], dtype=np.uint64))
    assert numbers.get(asked) == {(7, 2): 21, (7, 3): 5, (9, 1): 30, (7, 1): 10}
