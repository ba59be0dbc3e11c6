"""Every kernel path against slow, obvious references in float64: values, gradients, edges, invariants."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
import torch
from entmax import entmax_bisect
from torch import Tensor
from torch.nn import functional as F

from linker.modules.dropout import draw_seed, dropout_mask
from linker.modules.kernels import native
from linker.modules.kernels.dispatch import NATIVE, PLAIN, Kernels
from linker.modules.kernels.inputs import RingInput, StarInput

Named = dict[str, Tensor]
DTYPES = [torch.float32, torch.float64]
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
# A gradient sums products over a text, and p^(2 − α) has a steep slope where p is near 0, so that float32 keeps one
# digit less of it.
GRADIENT_TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-10}


every_path = pytest.mark.parametrize("path", ["plain", "native"], indirect=True)


@pytest.fixture
def path(request: pytest.FixtureRequest) -> Kernels:
    """The kernels that a test checks."""
    if request.param == "native" and native.problem():
        pytest.skip(native.problem())
    return NATIVE if request.param == "native" else PLAIN


def run(function: Callable[..., object], inputs: Named, dtype: torch.dtype) -> Named:
    """What the function puts out, and all gradients of a random projection of it."""
    leaves = {}
    for name, value in inputs.items():
        value = value.detach()
        leaves[name] = value.to(dtype).requires_grad_() if value.is_floating_point() else value
    if "alpha" in leaves and bool((leaves["alpha"] == 1).all()):
        leaves["alpha"].requires_grad_(False)
    # Slices of wider tensors and swapped strides: nothing may depend on memory being contiguous.
    outputs = function(**{name: _scattered(name, leaf) for name, leaf in leaves.items()})
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    generator = torch.Generator().manual_seed(99)
    loss = torch.zeros((), dtype=dtype)
    answer: Named = {}
    for number, output in enumerate(outputs):
        answer[f"output {number}"] = output.detach().cpu()
        if output.requires_grad:
            probe = torch.randn(output.shape, generator=generator, dtype=torch.float64)
            loss = loss + (output * probe.to(dtype)).sum()
    loss.backward()
    for name, leaf in leaves.items():
        if leaf.requires_grad:
            assert leaf.grad is not None, f"no gradient of {name}"
            answer[f"gradient of {name}"] = leaf.grad.cpu()
    return answer


def _scattered(name: str, leaf: Tensor) -> Tensor:
    if not leaf.is_floating_point() or leaf.dim() < 2:
        return leaf
    if name in ("folded", "shift"):
        return leaf.transpose(0, 1).contiguous().transpose(0, 1)
    return F.pad(leaf, (2, 1))[..., 2:-1]


def assert_same(found: Named, expected: Named, dtype: torch.dtype) -> None:
    assert found.keys() == expected.keys()
    for name, want in expected.items():
        tolerance = (GRADIENT_TOLERANCE if name.startswith("gradient") else TOLERANCE)[dtype]
        scale = max(1.0, float(want.abs().max())) if want.numel() else 1.0
        error = (found[name].double() - want).abs().max() if want.numel() else 0.0
        assert error <= tolerance * scale, f"{name}: {float(error):.2e}, largest {scale:.2e}"


def float64_entmax(scores: Tensor, alpha: Tensor) -> Tensor:
    """Heads × K scores, one α per head."""
    if bool((alpha == 1).all()):
        return torch.softmax(scores, -1)
    return entmax_bisect(scores, alpha[:, None], dim=-1, n_iter=100)


def alphas(heads: int, kind: str, generator: torch.Generator) -> Tensor:
    if kind == "learned":
        return torch.linspace(1.01, 1.99, heads + 2)[torch.randperm(heads + 2, generator=generator)][:heads]
    return torch.full((heads,), float(kind))


def randn(generator: torch.Generator, *shape: int) -> Tensor:
    """Numbers that float32 holds exactly, so that one reference serves both types."""
    return torch.randn(*shape, generator=generator)


@dataclass(frozen=True)
class Case:
    lengths: tuple[int, ...]
    heads: int = 3
    head_dim: int = 4
    window: int = 1
    alpha: str = "learned"
    words: int = 0  # distinct rows of qkv; 0: every token has its own
    token: str = ""  # "", "per token" or "rows"
    ties: bool = False
    dim: int = 7
    scored: bool = False  # star with ready scores instead of folded keys


TINY = (3, 1)
SMALL = (3, 1, 2, 9)
MIXED = (1, 2, 3, 40, 17, 1, 28, 5)


# ---------------------------------------------------------------------------------------------------------------- ring

RING = [
    Case(TINY, heads=2, head_dim=5, window=2, words=3, token="rows"),
    Case(TINY, heads=2, window=0, alpha="1.0"),
    Case((1,), heads=1, head_dim=1, window=3, alpha="2.0", token="per token"),
    Case((1,), heads=1, head_dim=1, window=0),
    Case(SMALL, head_dim=1),
    Case(SMALL, heads=10, head_dim=5, window=2),
    Case(SMALL, heads=1, head_dim=33, window=3, token="per token"),
    Case(SMALL, head_dim=30, words=4),
    Case(SMALL, words=5, token="rows"),
    Case(SMALL, token="rows", window=0),
    Case(SMALL, alpha="1.0", token="per token"),
    Case(SMALL, alpha="1.5"),
    Case(SMALL, alpha="2.0", ties=True),
    Case(MIXED, heads=3, head_dim=30, window=1, words=20, token="rows"),
    Case((2, 300, 1), heads=3, head_dim=5, window=3),
]


@cache
def ring_inputs(case: Case) -> Named:
    g = torch.Generator().manual_seed(len(case.lengths) + case.head_dim)
    inner, tokens = case.heads * case.head_dim, sum(case.lengths)
    inputs = {
        "qkv": randn(g, case.words or tokens, 3 * inner),
        "relay": randn(g, len(case.lengths), 2 * inner),
        "starts": torch.tensor([0, *case.lengths]).cumsum(0),
        "alpha": alphas(case.heads, case.alpha, g),
    }
    if case.words:
        inputs["rows"] = torch.randint(case.words, (tokens,), generator=g)
    if case.token:
        count = tokens if case.token == "per token" else 6
        inputs["token"] = randn(g, count, 2 * inner)
        if case.token == "rows":
            inputs["token_rows"] = torch.randint(count, (tokens,), generator=g)
    if case.ties:
        inputs["qkv"] = inputs["qkv"].round()
        inputs["relay"] = inputs["relay"].round()
    return inputs


def obvious_ring(
    window: int,
    qkv: Tensor,
    relay: Tensor,
    starts: Tensor,
    alpha: Tensor,
    rows: Tensor | None = None,
    token: Tensor | None = None,
    token_rows: Tensor | None = None,
) -> Tensor:
    """Token by token, each with the list of those it attends to."""
    qkv = qkv if rows is None else qkv[rows]
    query, key, value = (part.unflatten(-1, (len(alpha), -1)) for part in qkv.chunk(3, -1))
    token_key, token_value = key, value
    if token is not None:
        token = token if token_rows is None else token[token_rows]
        token_key, token_value = (part.unflatten(-1, (len(alpha), -1)) for part in token.chunk(2, -1))
    relay_key, relay_value = (part.unflatten(-1, (len(alpha), -1)) for part in relay.chunk(2, -1))
    answer = []
    for text in range(len(starts) - 1):
        first, end = int(starts[text]), int(starts[text + 1])
        for i in range(first, end):
            near = range(max(first, i - window), min(end, i + window + 1))
            keys = torch.stack([*(key[j] for j in near), token_key[i], relay_key[text]], 1)
            values = torch.stack([*(value[j] for j in near), token_value[i], relay_value[text]], 1)
            weights = float64_entmax((keys * query[i][:, None]).sum(-1), alpha)
            answer.append((weights[..., None] * values).sum(1).flatten())
    return torch.stack(answer)


def star(path: Kernels) -> Callable[..., tuple[Tensor, Tensor, Tensor]]:
    return lambda **inputs: path.star(StarInput(**inputs))


def ring(path: Kernels, case: Case) -> Callable[..., Tensor]:
    def function(**inputs: Tensor) -> Tensor:
        inputs = {"rows": None, "token": None, "token_rows": None, **inputs}  # type: ignore[dict-item]
        return path.ring(RingInput(**inputs, window=case.window))

    return function


@cache
def expected_ring(case: Case) -> Named:
    return run(lambda **inputs: obvious_ring(case.window, **inputs), ring_inputs(case), torch.float64)


@every_path
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", RING, ids=str)
def test_ring_equals_the_obvious_one(path, case, dtype):
    assert_same(run(ring(path, case), ring_inputs(case), dtype), expected_ring(case), dtype)


# ---------------------------------------------------------------------------------------------------------------- star

STAR = [
    Case(TINY, heads=2, dim=5),
    Case((1,), heads=1, alpha="2.0", scored=True),
    Case((1,), heads=1, dim=1),
    Case(SMALL, heads=10, dim=5),
    Case(SMALL, heads=3, dim=33, scored=True),
    Case(SMALL, heads=1, alpha="1.5", dim=30),
    Case(SMALL, alpha="2.0", scored=True),
    Case(SMALL, alpha="1.0"),
    Case(SMALL, alpha="1.0", scored=True),
    Case(MIXED, heads=10, dim=30),
    Case((2, 300, 1), heads=3, dim=12),
    Case((2, 300, 1), heads=3, dim=12, scored=True),
]


@cache
def star_inputs(case: Case) -> Named:
    g = torch.Generator().manual_seed(len(case.lengths) + case.dim)
    texts, tokens = len(case.lengths), sum(case.lengths)
    inputs = {
        "satellites": randn(g, tokens, case.dim),
        "relay": randn(g, texts, case.dim),
        "starts": torch.tensor([0, *case.lengths]).cumsum(0),
        "alpha": alphas(case.heads, case.alpha, g),
    }
    if case.scored:
        inputs["scores"], inputs["relay_scores"] = randn(g, tokens, case.heads), randn(g, texts, case.heads)
    else:
        inputs["folded"] = randn(g, case.heads, texts, case.dim) / case.dim**0.5
        inputs["shift"] = randn(g, texts, case.heads)
    return inputs


def obvious_star(
    satellites: Tensor,
    relay: Tensor,
    starts: Tensor,
    alpha: Tensor,
    folded: Tensor | None = None,
    shift: Tensor | None = None,
    scores: Tensor | None = None,
    relay_scores: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Text by text and head by head."""
    mixture, maximum, weights = [], [], []
    for text in range(len(starts) - 1):
        part = slice(int(starts[text]), int(starts[text + 1]))
        vectors = torch.cat([relay[text, None], satellites[part]])
        mixed, looks = [], []
        for head in range(len(alpha)):
            if folded is not None and shift is not None:
                z = vectors @ folded[head, text] + shift[text, head]
            else:
                assert scores is not None
                assert relay_scores is not None
                z = torch.cat([relay_scores[text, head, None], scores[part, head]])
            p = float64_entmax(z[None], alpha[head, None])[0]
            mixed.append(p @ vectors)
            looks.append(p[1:].detach())
        mixture.append(torch.stack(mixed))
        maximum.append(satellites[part].max(0).values)
        weights.append(torch.stack(looks, 1))
    return torch.stack(mixture, 1), torch.stack(maximum), torch.cat(weights)


@cache
def expected_star(case: Case) -> Named:
    return run(obvious_star, star_inputs(case), torch.float64)


@every_path
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("case", STAR, ids=str)
def test_star_equals_the_obvious_one(path, case, dtype):
    assert_same(run(star(path), star_inputs(case), dtype), expected_star(case), dtype)


@every_path
def test_star_over_ten_thousand_tokens(path):
    case = Case((3, 10_000, 1), heads=2, dim=5, alpha="1.5", scored=True)
    assert_same(run(star(path), star_inputs(case), torch.float64), expected_star(case), torch.float64)


@every_path
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tied_maxima_share_one_gradient(path, dtype):
    """Equal tokens may divide the maximum's gradient among them as they like, but nobody else gets any of it."""
    case = Case((4, 1, 6), scored=True, dim=5)
    inputs = dict(star_inputs(case))
    inputs["satellites"] = inputs["satellites"].round().clamp(-1, 1)
    found = run(star(path), inputs, dtype)
    expected = run(obvious_star, inputs, torch.float64)
    for answers in (found, expected):
        x = inputs["satellites"].double()
        gradient = answers.pop("gradient of satellites")
        pooled = []
        for part in torch.arange(11).split(case.lengths):
            for column in range(5):
                tied = part[x[part, column] == x[part, column].max()]
                others = part[x[part, column] != x[part, column].max()]
                pooled += [gradient[tied, column].sum(), *gradient[others, column]]
        answers["gradient, pooled"] = torch.stack(pooled).double()
    assert_same(found, expected, dtype)


# ---------------------------------------------------------------------------------------------------------------- norm


def obvious_norm(x: Tensor, weight: Tensor, bias: Tensor, dropout: float, mask: Tensor | None) -> Tensor:
    answer = []
    for i, row in enumerate(x):
        if mask is not None:
            row = torch.where(mask[i], row / (1 - dropout), 0)
        centred = row - row.mean()
        normed = centred / (centred.square().mean() + 1e-5).sqrt() * weight + bias
        answer.append(torch.where(normed > 0, normed, 0.01 * normed))
    return torch.stack(answer)


@every_path
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dropout", [0.0, 0.05, 0.5])
def test_norm_equals_the_obvious_one(path, dropout, dtype):
    for tokens, dim in ((1, 1), (5, 2), (37, 30), (3, 300), (70, 33)):
        for numbered in (False, True):
            check_norm(path, tokens, dim, dropout, dtype, numbered)


def check_norm(
    path: Kernels, tokens: int, dim: int, dropout: float, dtype: torch.dtype, numbered: bool
) -> None:
    g = torch.Generator().manual_seed(tokens)
    inputs = {"x": 3 * randn(g, tokens, dim), "weight": 1 + randn(g, dim), "bias": randn(g, dim)}
    numbers = torch.randint(2**40, (tokens,), generator=g) if numbered else None
    torch.manual_seed(5)
    device = torch.device("cpu")
    mask = dropout_mask(tokens, dim, dropout, draw_seed(dropout), device, numbers) if dropout else None
    torch.manual_seed(5)
    found = run(lambda **inputs: path.norm(**inputs, dropout=dropout, numbers=numbers), inputs, dtype)
    expected = run(lambda **inputs: obvious_norm(**inputs, dropout=dropout, mask=mask), inputs, torch.float64)
    assert_same(found, expected, dtype)
    if mask is not None and dim > 2:
        assert (found["gradient of x"][~mask] == 0).all()


def test_the_mask_is_the_documented_hash():
    def stays(place: int, seed: int, dropout: float) -> bool:
        low = 0xFFFFFFFF
        x = (place * 0x9E3779B1 + seed) & low
        x = ((x ^ x >> 16) * 0x85EBCA6B) & low
        x = ((x ^ x >> 13) * 0xC2B2AE35) & low
        return (x ^ x >> 16) >> 8 >= int(dropout * 2**24)

    for seed, dropout in ((0, 0.5), (2**31 - 1, 0.05), (123456789, 0.9)):
        mask = dropout_mask(2100, 7, dropout, seed, torch.device("cpu"))
        assert mask.flatten().tolist() == [stays(place, seed, dropout) for place in range(2100 * 7)]
        assert abs(mask.float().mean() - (1 - dropout)) < 0.02
        chosen = torch.tensor([2099, 3, 3, 700])
        assert torch.equal(dropout_mask(4, 7, dropout, seed, torch.device("cpu"), chosen), mask[chosen])


# -------------------------------------------------------------------------------------------------------------- entmax


def threshold_form(scores: Tensor, alpha: Tensor) -> tuple[Tensor, Tensor]:
    """Float64 bisection in the shifted form, which stays exact near α = 1: weights and 1 + ε y, zero at the edge."""
    z = scores.double() - scores.double().amax(-1, keepdim=True).nan_to_num(neginf=0)
    epsilon = alpha.double() - 1

    def weights(t: Tensor) -> Tensor:
        x = epsilon * (z - t)
        return torch.where(x > -1, torch.exp(torch.log1p(x.clamp_min(-1 + 1e-300)) / epsilon), 0)

    low, high = torch.zeros_like(z[..., :1]), torch.full_like(z[..., :1], 16.0)
    for _ in range(60):
        middle = (low + high) / 2
        above = weights(middle).sum(-1, keepdim=True) > 1
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    return weights(high), 1 + epsilon * (z - high)


# 10,350 rows in all.
ROWS = {1: 150, 2: 350, 3: 400, 5: 500, 17: 350, 64: 250, 300: 50, 1500: 12, 4096: 8}
SCALES = [0.01, 0.3, 1.0, 10.0, 100.0]


@cache
def random_rows(size: int, scale: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    g = torch.Generator().manual_seed(size)
    rows = ROWS[size]
    scores = randn(g, rows, size) * scale
    scores[torch.rand(rows, size, generator=g) < 0.3 * torch.rand(rows, 1, generator=g)] = -torch.inf
    scores[:, 0] = scores[:, 0].nan_to_num(neginf=0)
    alpha = torch.rand(rows, 1, generator=g) * 0.99 + 1.01
    alpha[0], alpha[1], alpha[2] = 2.0, 1.01, 1.5
    return scores, alpha, *threshold_form(scores, alpha)


@pytest.mark.parametrize("scale", SCALES)
def test_entmax_of_random_rows(scale):
    for size in ROWS:
        scores, alpha, expected, base = random_rows(size, scale)
        z, a = scores.clone().requires_grad_(), alpha.clone().requires_grad_()
        output = PLAIN.entmax(z, a)
        output.square().sum().backward()
        assert z.grad is not None
        assert a.grad is not None
        weights = output.detach()
        assert torch.isfinite(z.grad).all()
        assert torch.isfinite(a.grad).all()
        assert (weights - expected).abs().max() <= 2e-5
        assert (weights.double().sum(-1) - 1).abs().max() <= 1e-6
        # The same support, but for what is within rounding of the edge, or too small for float32.
        outside, inside = base < -1e-6, (base > 1e-6) & (expected > 1e-30)
        assert (weights[outside] == 0).all()
        assert (weights[inside] > 0).all()
        assert (z.grad[scores == -torch.inf] == 0).all()


@pytest.mark.parametrize("alpha", [1.0001, 1.01, 1.3, 1.5, 1.77, 1.99])
def test_entmax_gradients_match_finite_differences(alpha):
    torch.manual_seed(3)
    scores = torch.randn(5, 2, 6, dtype=torch.float64)
    mask = torch.rand(scores.shape) < 0.8
    mask[..., 0] = True
    alphas = torch.full((2, 1), alpha, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda z, a: PLAIN.entmax(z.masked_fill(~mask, -torch.inf), a),
        (scores.requires_grad_(), alphas),
        eps=1e-7,
        atol=1e-5,
    )


@pytest.mark.skipif(bool(native.problem()), reason="the native library is not built")
@pytest.mark.parametrize("alpha", ["1.0001", "1.001"])
def test_native_kernels_equal_plain_ones_near_softmax(alpha):
    case = Case(SMALL, alpha=alpha)
    for dtype in DTYPES:
        assert_same(
            run(star(NATIVE), star_inputs(case), dtype),
            {
                name: value.double()
                for name, value in run(star(PLAIN), star_inputs(case), torch.float64).items()
            },
            torch.float32,
        )


# ---------------------------------------------------------------------------------------------------------- invariants


@every_path
def test_bits_do_not_depend_on_the_number_of_threads(path):
    case, before = Case((3, 400, 1, 80, 77, 350), heads=2, head_dim=24, dim=48), torch.get_num_threads()
    kernels = [(ring(path, case), ring_inputs(case)), (star(path), star_inputs(case))]
    if path is NATIVE:
        norm = {"x": star_inputs(case)["satellites"], "weight": torch.ones(48), "bias": torch.zeros(48)}
        kernels.append((lambda **inputs: path.norm(**inputs, dropout=0.0), norm))
    for function, inputs in kernels:
        answers = []
        try:
            for threads in (1, 2, 1):
                torch.set_num_threads(threads)
                answers.append(run(function, inputs, torch.float32))
        finally:
            torch.set_num_threads(before)
        for name, value in answers[0].items():
            if path is PLAIN and name.startswith("gradient"):
                continue  # torch's own backward passes are split by threads
            assert all(torch.equal(value, other[name]) for other in answers[1:]), name
