"""The speed table compares like with like: its opponent computes the same function as the encoder."""

import pytest
import torch

from benchmarks.speed.baselines import EveryToken, OriginalStarTransformer, SelfAttentionEncoder
from linker.modules.encoders.star_transformer import Cycle, StarTransformerEncoder
from linker.modules.padding import pad_tokens

LENGTHS = torch.tensor([7, 1, 12, 2])


def cycles_of(encoder: StarTransformerEncoder) -> list[Cycle]:
    return [cycle for cycle in encoder.cycles if isinstance(cycle, Cycle)]


def encoder_of(cycles=1, window=1):
    torch.manual_seed(3)
    encoder = StarTransformerEncoder(
        num_heads=3, head_dim=4, cycles=cycles, window=window, dropout=0.0, input_dim=10
    ).double()
    for cycle in cycles_of(encoder):
        for heads in (cycle.ring, cycle.star):
            assert heads.alphas.theta is not None
            torch.nn.init.normal_(heads.alphas.theta)
        torch.nn.init.normal_(cycle.norm.weight)
    return encoder


def gradients(module):
    return {name: parameter.grad.flatten() for name, parameter in module.named_parameters()}


@pytest.mark.parametrize(("cycles", "window"), [(1, 1), (2, 1), (1, 2)])
def test_the_original_algorithm_has_the_encoders_values_and_gradients(cycles, window):
    encoder = encoder_of(cycles, window)
    original = OriginalStarTransformer(encoder).double()
    tokens = torch.randn(int(LENGTHS.sum()), 10, dtype=torch.float64)
    probe = torch.randn(len(LENGTHS), 10, dtype=torch.float64)
    ours, theirs = tokens.clone().requires_grad_(), tokens.clone().requires_grad_()
    vectors, others = encoder(ours, LENGTHS), original(*pad_tokens(theirs, LENGTHS))
    torch.testing.assert_close(vectors, others, atol=1e-4, rtol=0)
    (vectors * probe).sum().backward()
    (others * probe).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-4, rtol=1e-4)
    found = gradients(original)
    for c, cycle in enumerate(cycles_of(encoder)):
        for mine, name in [(cycle.ring, "rings"), (cycle.star, "stars")]:
            for part, gradient in gradients(mine).items():
                other = found[f"{name}.{c}.{part.removeprefix('alphas.')}"]
                torch.testing.assert_close(gradient, other, atol=1e-4, rtol=1e-4, msg=f"{name}.{part}")
        torch.testing.assert_close(cycle.norm.weight.grad, found[f"norms.{c}.weight"], atol=1e-4, rtol=1e-4)


def test_padding_does_not_leak_into_the_original_algorithms_vectors():
    original = OriginalStarTransformer(encoder_of()).double()
    padded, mask = pad_tokens(torch.randn(20, 10, dtype=torch.float64), torch.tensor([20]))
    alone = original(padded, mask)
    pads = torch.full((1, 80, 10), 9.0, dtype=torch.float64)
    beside = original(
        torch.cat([padded, pads], 1), torch.cat([mask, torch.zeros(1, 80, dtype=torch.bool)], 1)
    )
    torch.testing.assert_close(alone, beside, atol=1e-10, rtol=0)


def test_projecting_every_token_changes_nothing():
    encoder = encoder_of()
    words, rows = torch.randn(5, 10, dtype=torch.float64), torch.randint(5, (int(LENGTHS.sum()),))
    apart = EveryToken(encoder)
    expected = encoder.encode(encoder.per_word(words), rows, LENGTHS)
    torch.testing.assert_close(
        apart.encode(apart.per_word(words), rows, LENGTHS), expected, atol=1e-10, rtol=0
    )


def test_full_attention_is_a_transformer_layer_and_does_not_see_padding():
    torch.manual_seed(0)
    encoder = SelfAttentionEncoder(dim=12, num_heads=3).double().eval()
    layer = torch.nn.TransformerEncoderLayer(12, 3, 48, dropout=0.0, batch_first=True).double().eval()
    weights = {
        "self_attn.in_proj_": encoder.inputs,
        "self_attn.out_proj.": encoder.output,
        "linear1.": encoder.feed_forward[0],
        "linear2.": encoder.feed_forward[2],
        "norm1.": encoder.norms[0],
        "norm2.": encoder.norms[1],
    }
    layer.load_state_dict(
        {f"{prefix}{name}": p for prefix, part in weights.items() for name, p in part.state_dict().items()}
    )
    tokens = torch.randn(int(LENGTHS.sum()), 12, dtype=torch.float64)
    expected = torch.stack([layer(text[None])[0].mean(0) for text in tokens.split(LENGTHS.tolist())])
    torch.testing.assert_close(encoder(tokens, LENGTHS), expected, atol=1e-10, rtol=0)
