"""What a cross-encoder returns for pairs."""

import numpy as np
import pytest
import torch

from linker.common.errors import ConfigError, ModelError
from linker.data.types import Article, Post
from linker.models.reranking.cross_encoder import CrossEncoderModel, PairHead
from tests.conftest import toy_posts
from tests.helpers.tiny_transformers import tiny


@pytest.fixture(scope="module", params=["bert", "roberta"])
def model(request, tmp_path_factory):
    model = CrossEncoderModel(str(tiny(request.param, tmp_path_factory.mktemp(request.param))), max_tokens=40)
    torch.manual_seed(0)
    model.prepare(toy_posts())
    torch.nn.init.normal_(model.head.output.weight)
    return model.eval()


def test_a_pair_is_post_and_article_within_the_limit(model):
    post, article = (
        model.post_tokens(Post("p", "the cat " * 30)),
        model.article_tokens(Article("a", "sat " * 90)),
    )
    pair = model.joined(post, article)
    cls, sep = model.tokenizer.cls_token_id, model.tokenizer.sep_token_id
    assert len(pair.ids) == 40
    assert pair.ids[0] == cls
    assert pair.ids[-1] == sep
    # Half of the 37 tokens beside the special ones are the post's.
    assert pair.first == 1 + 18 + 1
    assert pair.ids[pair.first - 1] == sep
    assert pair.ids[1:19].tolist() == post.ids[:18].tolist()
    assert pair.ids[20:39].tolist() == article.ids[:19].tolist()


def test_a_post_may_be_longer_beside_a_short_article(model):
    post, article = model.post_tokens(Post("p", "the cat " * 30)), model.article_tokens(Article("a", "sat"))
    pair = model.joined(post, article)
    assert len(pair.ids) == 40
    assert pair.first == 40 - len(article.ids) - 1


def test_scores_do_not_depend_on_what_is_scored_with_them(model, toy):
    articles, posts = toy.articles[:4], toy.posts[:9]
    together = model.score(articles, posts)
    assert together.shape == (4, 9)
    assert together.dtype == np.float32
    assert np.ptp(together) > 0
    alone = [[model.score_pairs([article], [post])[0] for post in posts] for article in articles]
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_equal_texts_have_equal_scores(model, toy):
    posts = [Post(str(i), text) for i, text in enumerate(["the cat", "glacier1", "the cat", ""])]
    scores = model.score(toy.articles[:1], posts)[0]
    assert scores[0] == scores[2]
    assert np.isfinite(scores).all()


def test_an_empty_article_and_nothing_at_all_have_scores(model):
    assert np.isfinite(model.score([Article("a", "")], [Post("p", "")])).all()
    assert model.score([], []).shape == (0, 0)


def test_a_saved_one_gives_the_same_scores(model, toy, tmp_path):
    model.save_state(tmp_path)
    other = CrossEncoderModel("nowhere", max_tokens=40)
    other.load_state(tmp_path)
    pairs = toy.articles[:3], toy.posts[:3]
    np.testing.assert_array_equal(other.score_pairs(*pairs), model.score_pairs(*pairs))


def test_damage_is_one_message(model, tmp_path):
    model.save_state(tmp_path)
    head = tmp_path / "cross-encoder" / "head.safetensors"
    head.write_bytes(head.read_bytes()[:100])
    with pytest.raises(
        ModelError, match=r"head\.safetensors: cannot be loaded .* copy the model folder again"
    ):
        CrossEncoderModel("nowhere").load_state(tmp_path)
    head.unlink()
    with pytest.raises(ModelError, match=r"head\.safetensors: file not found"):
        CrossEncoderModel("nowhere").load_state(tmp_path)


def test_more_tokens_than_the_network_reads_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="max_tokens: 301 is above the limit"):
        CrossEncoderModel(str(tiny("bert", tmp_path / "bert")), max_tokens=301).prepare(toy_posts())


def test_the_head_is_what_the_docs_say():
    torch.manual_seed(1)
    head = PairHead(4).eval()
    torch.nn.init.normal_(head.output.weight)
    states = torch.randn(1, 6, 4)
    first = torch.tensor([[True, True, True, False, False, False]])
    second = torch.tensor([[False, False, False, True, True, False]])
    u, v = states[0, :3].mean(0), states[0, 3:5].mean(0)
    features = torch.cat([states[0, 0], u, v, (u - v).abs(), u * v])
    hidden = torch.nn.functional.gelu(head.hidden.weight @ features + head.hidden.bias)
    expected = head.output.weight @ hidden + head.output.bias + 15 * torch.dot(u, v) / u.norm() / v.norm() - 7
    torch.testing.assert_close(head(states, first, second)[0], expected)
