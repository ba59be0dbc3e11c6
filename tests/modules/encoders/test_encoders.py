"""What holds for every encoder: a text's vector depends on that text alone, whatever its length."""

import pytest
import torch

from linker.contrib.deboom2016.word_weights import WordPoolingEncoder, WordWeightsEncoder
from linker.modules.encoders.cnn import CnnEncoder
from linker.modules.encoders.gru import BiGruEncoder, GruEncoder
from linker.modules.encoders.mean import MeanEncoder
from linker.modules.encoders.star_transformer import StarTransformerEncoder

ENCODERS = {
    "star_transformer": lambda: StarTransformerEncoder(num_heads=4, head_dim=5, cycles=2, input_dim=20),
    "star_cosine": lambda: StarTransformerEncoder(num_heads=4, head_dim=5, score="cosine", input_dim=20),
    "cnn": lambda: CnnEncoder(num_filters=8, hidden_dim=20, input_dim=20),
    "gru": lambda: GruEncoder(hidden_dim=20, input_dim=20),
    "bigru": lambda: BiGruEncoder(hidden_dim=20, input_dim=20),
    "mean": lambda: MeanEncoder(input_dim=20),
    "word_weights": lambda: WordWeightsEncoder(max_words=12, input_dim=20),
    "word_pooling": lambda: WordPoolingEncoder(pool="min_max", top=0.3, idf_weighted=True, input_dim=20),
}


@pytest.fixture(params=ENCODERS)
def encoder(request):
    torch.manual_seed(1)
    return ENCODERS[request.param]().eval()


def random_texts(count, longest, seed=2):
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, longest + 1, (count,), generator=generator)
    return [torch.randn(int(n), 20, generator=generator) for n in lengths]


def encode(encoder, texts):
    with torch.no_grad():
        return encoder(torch.cat(texts), torch.tensor([len(t) for t in texts]))


def test_a_text_has_the_same_vector_alone_and_in_any_batch(encoder):
    texts = random_texts(80, 200)
    alone = torch.cat([encode(encoder, [text]) for text in texts])
    assert alone.shape == (80, encoder.output_dim)
    generator = torch.Generator().manual_seed(3)
    for size in (2, 7, 64):
        order = torch.randperm(80, generator=generator)
        together = torch.cat([encode(encoder, [texts[i] for i in part]) for part in order.split(size)])
        torch.testing.assert_close(together, alone[order], atol=1e-5, rtol=0)
        assert torch.cosine_similarity(together, alone[order]).min() >= 1 - 1e-6


def test_one_token_and_ten_thousand_tokens(encoder):
    short, long = torch.randn(1, 20), torch.randn(10_000, 20)
    vectors = encode(encoder, [short, long, short])
    assert torch.isfinite(vectors).all()
    torch.testing.assert_close(vectors[0], vectors[2], atol=1e-5, rtol=0)
    torch.testing.assert_close(vectors[1], encode(encoder, [long])[0], atol=1e-5, rtol=0)


def test_gradients_reach_every_token_and_parameter_sensibly(encoder):
    texts = random_texts(5, 9)
    tokens = torch.cat(texts).requires_grad_()
    encoder(tokens, torch.tensor([len(t) for t in texts])).square().sum().backward()
    assert tokens.grad is not None
    assert torch.isfinite(tokens.grad).all()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in encoder.parameters())


def test_cnn_equals_windows_counted_by_hand():
    encoder = CnnEncoder(num_filters=3, ngram_sizes=(1, 3), hidden_dim=4, input_dim=20).eval()
    text = torch.randn(5, 20)
    parts = []
    for size, convolution in zip((1, 3), encoder.convolutions):
        assert isinstance(convolution, torch.nn.Conv1d)
        assert convolution.bias is not None
        windows = torch.stack([text[i : i + size].T for i in range(5 - size + 1)])
        parts.append(
            torch.relu(torch.einsum("wdk,fdk->wf", windows, convolution.weight) + convolution.bias).amax(0)
        )
    expected = encoder.output(torch.cat(parts))
    torch.testing.assert_close(
        encode(encoder, [text, torch.randn(30, 20)])[0], expected, atol=1e-6, rtol=1e-5
    )


def test_gru_is_the_last_state_of_torch_gru():
    encoder = BiGruEncoder(hidden_dim=20, input_dim=20).eval()
    text = torch.randn(6, 20)
    _, last = encoder.gru(text[None])
    torch.testing.assert_close(encode(encoder, [text, torch.randn(9, 20)])[0], last[:, 0].flatten())


def test_bigru_needs_an_even_size():
    with pytest.raises(ValueError, match="even"):
        BiGruEncoder(hidden_dim=5, input_dim=3)
