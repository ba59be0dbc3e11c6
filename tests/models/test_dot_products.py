"""Products of embeddings."""

import numpy as np
import pytest

from linker.models.features.text_encoder import dot_products


@pytest.mark.parametrize("posts", [5, 33, 212, 1001, 5001])
def test_products_of_embeddings_do_not_depend_on_where_a_post_stands(posts: int) -> None:
    rng = np.random.default_rng(posts)
    vectors, article = (rng.standard_normal((n, 384)).astype(np.float32) for n in (posts, 1))
    products = dot_products(article, vectors)
    for _ in range(3):
        moved = rng.permutation(posts)
        assert np.array_equal(dot_products(article, vectors[moved]), products[:, moved])
    assert products == pytest.approx(article @ vectors.T, abs=1e-4)
