"""Which posts are new, as answered from keys: what a dictionary of all ids and texts gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.corpus.indexes.id_set import KeyMap
from linker.corpus.known_posts import Added, KnownPosts, post_keys

POSTS = st.lists(st.tuples(st.integers(0, 9).map(str), st.sampled_from("xyz")), max_size=25)


def answers(
    known: KnownPosts, added: Added, posts: list[tuple[str, str]]
) -> tuple[list[tuple[str, str]], set[str]]:
    answer = known.answer(post_keys([id for id, _ in posts], [text for _, text in posts]), added)
    assert answer.rows.tolist() == sorted(set(answer.rows.tolist()))
    assert set(answer.replaced.tolist()) <= set(answer.rows.tolist())
    return [posts[row] for row in answer.rows], {posts[row][0] for row in answer.replaced}


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
    assert len(known) == len(corpus)


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
    assert len(known) == len(corpus)


def test_numbers_of_keys_that_agree_in_their_first_half():
    numbers = KeyMap()
    numbers.add(np.array([[7, 1, 10], [7, 2, 20], [9, 1, 30]], dtype=np.uint64))
    asked = np.array([[7, 2], [7, 3], [9, 1], [7, 1]], dtype=np.uint64)
    found, values = numbers.values(asked)
    assert found.tolist() == [True, False, True, True]
    assert values.tolist() == [20, 0, 30, 10]
    numbers.replace(np.array([[7, 2, 21]], dtype=np.uint64))
    assert numbers.values(asked)[1].tolist() == [21, 0, 30, 10]
