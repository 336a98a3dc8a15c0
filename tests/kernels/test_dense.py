from contextlib import contextmanager, nullcontext

import pytest
import torch
from torch.autograd import grad
from torch.nn import functional

from elmo_bench.kernels.compiled import load_kernel, without_kernel
from elmo_bench.kernels.dense import Linear, cross_entropy
from elmo_bench.kernels.elementwise import dropout, highway, tanh
from elmo_bench.kernels.pairs import PairProducts

pytestmark = pytest.mark.skipif(load_kernel() is None, reason="needs a C++ compiler")


@contextmanager
def set_threads(number):
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=[1, 2, 3])
def threads(request):
    with set_threads(request.param):
        yield request.param


def close(got, expected):
    for one, other in zip(got, expected, strict=True):
        torch.testing.assert_close(one, other.float(), rtol=1e-5, atol=1e-5)


# Below and above the sizes of tiles, blocks and panels.
@pytest.mark.parametrize("rows, depth, columns", [(1, 1, 1), (7, 300, 33), (150, 40, 130)])
def test_products_and_their_gradients_are_those_of_pytorch(threads, rows, depth, columns):
    torch.manual_seed(1)
    layer, inputs = Linear(depth, columns), torch.randn(rows, depth, requires_grad=True)
    noise = torch.randn(rows, columns)
    outputs = layer(inputs)
    got = grad((outputs * noise).sum(), (inputs, layer.weight, layer.bias))
    exact = [t.detach().double().requires_grad_() for t in (inputs, layer.weight, layer.bias)]
    expected = functional.linear(*exact)
    close([outputs, *got], [expected, *grad((expected * noise).sum(), exact)])


@pytest.mark.parametrize("rows, words", [(1, 2), (50, 33), (9, 3000)])
def test_the_loss_and_its_gradients_are_those_of_pytorch(threads, rows, words):
    torch.manual_seed(1)
    tensors = [torch.randn(shape) for shape in ((rows, 20), (words, 20), (words,))]
    targets, weights = torch.randint(words, (rows,)), torch.rand(rows)
    results = []
    for dtype in (torch.float32, torch.float64):  # compiled and not
        given = [tensor.to(dtype).requires_grad_() for tensor in tensors]
        losses = cross_entropy(*given, targets)
        results.append([losses, *grad((losses * weights).sum(), given)])
    close(*results)


def test_a_loss_without_gradients_is_the_same():
    hidden, weight, bias = torch.randn(40, 8), torch.randn(100, 8), torch.randn(100)
    targets = torch.randint(100, (40,))
    with_gradients = cross_entropy(hidden, weight.requires_grad_(), bias, targets)
    assert torch.equal(with_gradients, cross_entropy(hidden, weight.detach(), bias, targets))


@pytest.mark.parametrize("function, count", [(highway, 3), (tanh, 1)])
def test_elementwise_functions_are_those_of_pytorch(function, count):
    torch.manual_seed(1)
    tensors = [3 * torch.randn(5, 37) for _ in range(count)]
    results = []
    for dtype in (torch.float32, torch.float64):
        given = [tensor.to(dtype).requires_grad_() for tensor in tensors]
        outputs = function(*given)
        results.append([outputs, *grad(outputs.sin().sum(), given)])
    close(*results)


def test_a_row_of_a_product_depends_on_nothing_else(threads):
    torch.manual_seed(1)
    layer, inputs = Linear(300, 70).requires_grad_(False), torch.randn(200, 300)
    every = layer(inputs)
    for start, stop in ((0, 1), (3, 20), (150, 200)):
        assert torch.equal(layer(inputs[start:stop]), every[start:stop])


def test_nan_reaches_the_loss():
    hidden = torch.randn(3, 4)
    hidden[1, 2] = torch.nan
    losses = cross_entropy(hidden, torch.randn(50, 4), torch.zeros(50), torch.tensor([1, 2, 3]))
    assert losses.isnan().tolist() == [False, True, False]


@pytest.mark.parametrize("relu", [False, True])
def test_dropout_is_the_same_without_compiled_code(relu):
    inputs = torch.randn(33, 7, requires_grad=True)
    noise, results = torch.randn(33, 7), []
    for compiled in (True, False):
        torch.manual_seed(1)
        with nullcontext() if compiled else without_kernel():
            outputs = dropout(inputs, 0.3, relu)
        results.append([outputs, *grad((outputs * noise).sum(), inputs)])
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


def test_dropout_drops_at_its_rate_and_keeps_the_mean():
    torch.manual_seed(1)
    outputs = dropout(torch.ones(400, 1000), 0.2)
    assert outputs.unique().tolist() == pytest.approx([0, 1.25], rel=1e-4)
    assert outputs.mean().item() == pytest.approx(1, abs=0.005)
    # Neither rows nor columns are dropped together.
    assert outputs.mean(dim=0).std().item() == pytest.approx(0.5 / 400**0.5, rel=0.15)
    assert outputs.mean(dim=1).std().item() == pytest.approx(0.5 / 1000**0.5, rel=0.15)


def test_dropout_of_the_positive_part_lets_nan_pass():
    inputs = torch.tensor([-1.0, 2.0, torch.nan])
    assert str(dropout(inputs, 0.0, relu=True).tolist()) == "[0.0, 2.0, nan]"


# Below and above the sizes of blocks of pairs, of rows of the weight, and of columns.
@pytest.mark.parametrize("items, dim, out", [(2, 1, 1), (20, 150, 7), (30, 300, 150)])
def test_pair_products_and_their_gradients_are_those_of_pytorch(threads, items, dim, out):
    torch.manual_seed(1)
    left, right = torch.tril_indices(items, items, offset=-1)
    shapes = (items, dim), (out, dim), (len(left), out)
    tensors = [0.3 * torch.randn(shape) for shape in shapes]
    noise, given = torch.randn(len(left), out), [tensor.requires_grad_() for tensor in tensors]
    outputs = PairProducts.apply(load_kernel(), *given, left, right)
    got = grad((outputs * noise).sum(), given)
    vectors, weight, start = exact = [t.detach().double().requires_grad_() for t in tensors]
    expected = functional.linear(vectors[left] * vectors[right], weight) + start
    close([outputs, *got], [expected, *grad((expected * noise).sum(), exact)])


def test_pair_products_do_not_depend_on_the_number_of_threads():
    torch.manual_seed(1)
    left, right = torch.tril_indices(40, 40, offset=-1)
    given = [torch.randn(40, 300), torch.randn(70, 300), torch.randn(len(left), 70)]
    given, noise, before = [t.requires_grad_() for t in given], torch.randn(len(left), 70), []
    for number in (1, 3):
        with set_threads(number):
            outputs = PairProducts.apply(load_kernel(), *given, left, right)
            before.append([outputs, *grad((outputs * noise).sum(), given)])
    for one, other in zip(*before, strict=True):
        assert torch.equal(one, other)


def test_no_pairs_have_no_gradients():
    nothing = torch.empty(0, dtype=torch.long)
    given = [torch.randn(1, 4), torch.randn(3, 4), torch.randn(0, 3)]
    outputs = PairProducts.apply(
        load_kernel(), *[t.requires_grad_() for t in given], nothing, nothing
    )
    assert [g.abs().sum().item() for g in grad(outputs.sum(), given)] == [0, 0, 0]
