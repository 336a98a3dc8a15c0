"""The compiled functions (*.cpp), built once per machine; silently unused if that fails.

Set ELMO_BENCH_KERNEL=0 to disable them; ELMO_BENCH_CACHE is the folder they are stored in.
"""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from torch import Tensor

from elmo_bench.config.folders import cache_folder
from elmo_bench.records.atomic import replace_file

_FOLDER = Path(__file__).parent
_FLAGS = ["-O3", "-march=native", "-std=c++17", "-fPIC", "-shared", "-pthread", "-fopenmp-simd"]
_FLAGS += ["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"]
_SECONDS = 120  # timeout for the compiler
_CHECK = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).self_check())"

_POINTER, _COUNT = ctypes.c_void_p, ctypes.c_int64
# The arguments of each function: pointers, then counts, in the order of the C++ code.
_ARGUMENTS = {
    "packed_size": [_COUNT, _COUNT],
    "block_rows": [],
    "max_parts": [_COUNT, _COUNT],
    "pack_matrix": [_POINTER, *[_COUNT] * 3, _POINTER, _COUNT],
    "product": [_POINTER, _COUNT, _COUNT, *[_POINTER] * 3, _COUNT, _COUNT],
    "transposed_product": [
        *[_POINTER, _COUNT, _COUNT, _POINTER, _POINTER],
        *[_COUNT, _POINTER, _POINTER, _COUNT],
    ],
    "cross_entropy": [
        *[_POINTER, _COUNT, _COUNT, *[_POINTER] * 5],
        *[_COUNT, _COUNT],
    ],
    "convolve": [*[_POINTER] * 3, *[_COUNT] * 3, *[_POINTER] * 3, _COUNT, *[_POINTER] * 2, _COUNT],
    "convolve_backward": [
        *[*[_POINTER] * 3, *[_COUNT] * 3, *[_POINTER] * 3, _COUNT, _POINTER, _POINTER],
        *[_COUNT, _COUNT, _POINTER, _POINTER, _COUNT],
    ],
    "convolution_groups": [],
    "pair_products": [_POINTER, _COUNT, _POINTER, _POINTER, _COUNT, *[_POINTER] * 2, *[_COUNT] * 2],
    "pair_products_backward": [
        *[_POINTER, _COUNT, _POINTER, _POINTER, _COUNT, _POINTER, _COUNT],
        *[*[_POINTER] * 3, _COUNT],
    ],
    "dropout": [*[_POINTER] * 4, *[_COUNT] * 3, *[ctypes.c_float] * 2],
    "highway": [*[_POINTER] * 4, _COUNT, _COUNT],
    "hyperbolic_tangent": [_POINTER, _POINTER, _COUNT, _COUNT],
    "recurrence_forward": [_POINTER, _COUNT, _COUNT],
    "recurrence_backward": [_POINTER, _POINTER, _COUNT, _COUNT],
}

_disabled: ContextVar[bool] = ContextVar("disabled", default=False)
_packed: ContextVar[dict[Any, Any] | None] = ContextVar("packed matrices", default=None)


@contextmanager
def packing_once() -> Iterator[None]:
    """In this context, kernels pack each matrix only once; none may change meanwhile."""
    token = _packed.set({})
    try:
        yield
    finally:
        _packed.reset(token)


class Kernel:
    """The compiled functions, for contiguous float32 tensors on the CPU.

    What they compute of a row depends on that row alone, and not on the number of threads.
    """

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))
        for name, arguments in _ARGUMENTS.items():
            function = getattr(self.library, name)
            function.argtypes, function.restype = arguments, _COUNT

    def pack(self, matrix: Tensor, transpose: bool = False) -> Tensor:
        """Copy a matrix, or its transpose, into the layout of a product's right side."""
        remembered = _packed.get()
        if remembered is None:
            return self._pack(matrix, transpose)
        key = id(matrix), transpose
        if key not in remembered:  # with the matrix, so that no other one gets its id
            remembered[key] = matrix, self._pack(matrix, transpose)
        return remembered[key][1]

    def _pack(self, matrix: Tensor, transpose: bool) -> Tensor:
        matrix = matrix.detach().contiguous()
        depth, columns = matrix.shape[::-1] if transpose else matrix.shape
        packed = matrix.new_empty(self.library.packed_size(depth, columns))
        self.library.pack_matrix(
            *(matrix.data_ptr(), transpose, depth, columns),
            *(packed.data_ptr(), torch.get_num_threads()),
        )
        return packed

    def product(
        self, left: Tensor, packed: Tensor, columns: int, bias: Tensor | None = None
    ) -> Tensor:
        """Multiply `left` (row, depth) with a packed matrix (depth, columns), and add the bias."""
        left = left.contiguous()
        bias = None if bias is None else bias.contiguous()
        result = left.new_empty(len(left), columns)
        self.library.product(
            *(address(left), *left.shape, address(packed), address(bias)),
            *(address(result), columns, torch.get_num_threads()),
        )
        return result

    def transposed_product(
        self, left: Tensor, right: Tensor, weights: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return left.T @ right, and the sum of left's rows, each times its weight."""
        left, packed = left.contiguous(), self._pack(right, transpose=False)
        (depth, rows), columns = left.shape, right.shape[1]
        result, sums = left.new_empty(rows, columns), left.new_empty(rows)
        self.library.transposed_product(
            *(address(left), rows, depth, address(packed), address(result)),
            *(columns, address(weights), address(sums), torch.get_num_threads()),
        )
        return result, sums


def address(tensor: Tensor | None) -> int | None:
    """Where a tensor's data is; None, which is a null pointer, for no tensor."""
    return None if tensor is None else tensor.data_ptr()


def addresses(tensors: Sequence[Tensor]) -> ctypes.Array[ctypes.c_void_p]:
    """The same for several tensors, as an array of C."""
    return (_POINTER * len(tensors))(*map(address, tensors))


def fits(*tensors: Tensor) -> bool:
    """Whether the compiled functions can take these tensors in this context."""
    plain = all(t.device.type == "cpu" and t.dtype == torch.float32 for t in tensors)
    return plain and not torch.is_autocast_enabled("cpu")


def load_kernel() -> Kernel | None:
    """The kernel, built at the first call on this machine; None if that is not possible."""
    return None if _disabled.get() else _load()


@contextmanager
def without_kernel() -> Iterator[None]:
    """In this context everything runs in plain PyTorch, for comparisons."""
    token = _disabled.set(True)
    try:
        yield
    finally:
        _disabled.reset(token)


@cache
def _load() -> Kernel | None:
    if os.environ.get("ELMO_BENCH_KERNEL") == "0":
        return None
    try:
        return Kernel(_built())
    except (OSError, subprocess.SubprocessError, AttributeError):
        return None  # no compiler, no disk space, or a library this machine cannot run


def _built() -> Path:
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        raise FileNotFoundError("no C++ compiler")
    sources = sorted([*_FOLDER.glob("*.cpp"), *_FOLDER.glob("*.h")])
    identity = [path.read_bytes() for path in sources]
    identity += [_run(compiler, "--version"), _processor(), repr(_FLAGS).encode()]
    key = hashlib.sha256(b"\0".join(identity)).hexdigest()[:16]
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / f"kernel-{key}.so"
    with FileLock(folder / "kernel.lock", timeout=2 * _SECONDS):
        if not library.exists():
            _build(compiler, [path for path in sources if path.suffix == ".cpp"], library)
    return library


def _build(compiler: str, sources: Sequence[Path], library: Path) -> None:
    """Compile the library and move it into place once a check in another process has passed."""
    with replace_file(library) as linked:
        _run(compiler, *_FLAGS, *map(str, sources), "-o", str(linked))
        _run(sys.executable, "-c", _CHECK, str(linked))


def _run(*command: str) -> bytes:
    return subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True).stdout


def _processor() -> bytes:
    """The processor features that -march=native depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    features = [line for line in lines if line.startswith(("model name", "flags", "Features"))]
    return "\n".join([platform.machine(), platform.processor(), *sorted(set(features))]).encode()
