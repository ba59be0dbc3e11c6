"""Stories, and the split by them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linker.mining.training_set import Headed, dev_part, stories

DAY = 86_400.0


def test_titles_that_share_their_words_are_one_story_for_three_days() -> None:
    first = Headed("a", 0, "Otters return to Brell river after decades", "")
    again = "After decades, otters in Brell: river celebrates return"
    assert stories([first, Headed("b", 3 * DAY, again, "")]).tolist() == [0, 0]
    assert stories([first, Headed("b", 3 * DAY + 1, again, "")]).tolist() == [0, 1]
    assert stories([first, Headed("b", DAY, "Otters and a bridge in another city", "")]).tolist() == [0, 1]
    assert stories([first._replace(time=None), Headed("b", None, again, "")]).tolist() == [0, 0]


def test_stories_do_not_grow_along_a_chain() -> None:
    title = "Otters return to Brell river after decades"
    ends = (
        "says the city council today",
        "photographs from Sunday",
        "anglers object loudly",
        "what we know so far",
    )
    chain = [Headed(end, 2 * i * DAY, f"{title}: {end}", "") for i, end in enumerate(ends)]
    assert stories(chain).tolist() == [0, 0, 2, 2]


def test_dev_are_the_latest_stories_as_a_whole() -> None:
    #                 story of each article, in order of time
    assert dev_part(np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), 0.1).tolist() == [False] * 9 + [True]
    assert dev_part(np.array([0, 1, 2, 3, 0, 5, 5, 2, 8, 0]), 0.3).tolist() == [
        *(False, False, False, False, False, True, True, False, True, False)
    ]


@given(st.lists(st.integers(0, 30), min_size=2, max_size=30), st.floats(0.01, 0.9))
def test_no_story_is_on_both_sides(numbers: list[int], share: float) -> None:
    story = np.array([min(n, i) for i, n in enumerate(numbers)])
    story = story[story]  # the first article of a story is of it
    while not np.array_equal(story[story], story):
        story = story[story]
    if len(set(story.tolist())) < 2:
        return
    in_dev = dev_part(story, share)
    assert in_dev.any()
    assert not in_dev.all()
    assert not set(story[in_dev].tolist()) & set(story[~in_dev].tolist())
