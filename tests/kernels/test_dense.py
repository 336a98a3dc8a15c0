import pytest
import torch
from torch.autograd import grad
from torch.nn import functional

from elmo_bench.kernels.compiled import load_kernel
from elmo_bench.kernels.dense import Linear, cross_entropy
from elmo_bench.kernels.elementwise import highway, tanh

pytestmark = pytest.mark.skipif(load_kernel() is None, reason="needs a C++ compiler")


@pytest.fixture(params=[1, 2, 3])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


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
