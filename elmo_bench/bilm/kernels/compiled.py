"""The compiled LSTM cell (cell.cpp), built once per machine; silently unused if that fails.

Set ELMO_BENCH_KERNEL=0 to disable it and ELMO_BENCH_CACHE to choose the folder it is stored in.
"""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import torch
from filelock import FileLock
from jaxtyping import Float, Int32
from torch import Tensor

from elmo_bench.config.folders import cache_folder
from elmo_bench.records.atomic import replace_file

_SOURCE = Path(__file__).with_name("cell.cpp")
_FLAGS = ["-O3", "-march=native", "-std=c++17", "-fPIC"]
_FLAGS += ["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"]
_SECONDS = 120  # timeout for the compiler
_CHECK = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).self_check())"

_POINTER, _COUNT = ctypes.c_void_p, ctypes.c_int64


class Kernel:
    """The compiled functions, for contiguous float32 tensors on the CPU."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        tail: list[type] = [_COUNT, _COUNT, ctypes.c_float, ctypes.c_int]
        self._forward, self._backward = library.cell_forward, library.cell_backward
        self._forward.argtypes, self._forward.restype = [*[_POINTER] * 5, *tail], None
        self._backward.argtypes, self._backward.restype = [*[_POINTER] * 5, *tail], None
        self._max, self._max_backward = library.window_max, library.window_max_backward
        self._max.argtypes, self._max.restype = [*[_POINTER] * 3, *[_COUNT] * 3], None
        self._max_backward.argtypes = [*[_POINTER] * 6, *[_COUNT] * 5]
        self._max_backward.restype = None

    def forward(
        self,
        gates: Float[Tensor, "row gates"],
        bias: Float[Tensor, " gates"],
        previous: Float[Tensor, "row hidden"],
        cell: Float[Tensor, "row hidden"],
        output: Float[Tensor, "row hidden"],
        clip: float,
    ) -> None:
        """Turn gates (without bias) into activations in place, and fill cell and output."""
        pointers = [tensor.data_ptr() for tensor in (gates, bias, previous, cell, output)]
        self._forward(*pointers, *cell.shape, clip, torch.get_num_threads())

    def backward(
        self,
        gates: Float[Tensor, "row gates"],
        previous: Float[Tensor, "row hidden"],
        cell: Float[Tensor, "row hidden"],
        output_gradient: Float[Tensor, "row hidden"],
        cell_gradient: Float[Tensor, "row hidden"],
        clip: float,
    ) -> None:
        """Turn activations into the gates' gradients, and cell_gradient into that of `previous`."""
        tensors = (gates, previous, cell, output_gradient, cell_gradient)
        pointers = [tensor.data_ptr() for tensor in tensors]
        self._backward(*pointers, *cell.shape, clip, torch.get_num_threads())

    def window_max(
        self, scores: Float[Tensor, "word window filter"]
    ) -> tuple[Float[Tensor, "word filter"], Int32[Tensor, "word filter"]]:
        """Return the largest score over windows, and the first window that has it."""
        words, windows, filters = scores.shape
        best = scores.new_empty(words, filters)
        where = torch.empty(words, filters, dtype=torch.int32)
        pointers = (scores.data_ptr(), best.data_ptr(), where.data_ptr())
        self._max(*pointers, words, windows, filters)
        return best, where

    def window_max_backward(
        self,
        gradient: Float[Tensor, "word filter"],
        where: Int32[Tensor, "word filter"],
        chars: Float[Tensor, "word char dim"],
        kernel: Float[Tensor, "filter size"],
        chars_gradient: Float[Tensor, "word char dim"],
        kernel_gradient: Float[Tensor, "filter size"],
    ) -> None:
        """Add the contributions of the chosen windows to the gradients of characters and kernel."""
        tensors = (gradient, where, chars, kernel, chars_gradient, kernel_gradient)
        pointers = [tensor.data_ptr() for tensor in tensors]
        row, dim = chars[0].numel(), chars.shape[2]
        self._max_backward(*pointers, *gradient.shape, row, dim, kernel.shape[1])


@cache
def load_kernel() -> Kernel | None:
    """The kernel, built at the first call on this machine; None if that is not possible."""
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
    version = _run(compiler, "--version")
    runtime = _openmp_runtime()
    identity = [_SOURCE.read_bytes(), version, _processor(), repr((_FLAGS, runtime)).encode()]
    key = hashlib.sha256(b"\0".join(identity)).hexdigest()[:16]
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / f"cell-{key}.so"
    with FileLock(folder / "cell.lock", timeout=2 * _SECONDS):
        if not library.exists():
            _build(compiler, runtime, library)
    return library


def _build(compiler: str, runtime: Path | None, library: Path) -> None:
    """Compile the library and move it into place once a check in another process has passed."""
    with tempfile.TemporaryDirectory() as folder, replace_file(library) as linked:
        compiled = f"{folder}/cell.o"
        threading = "-fopenmp" if runtime else "-fopenmp-simd"
        _run(compiler, *_FLAGS, threading, "-c", str(_SOURCE), "-o", compiled)
        libraries = [str(runtime), f"-Wl,-rpath,{runtime.parent}"] if runtime else []
        _run(compiler, "-shared", compiled, *libraries, "-o", str(linked))
        _run(sys.executable, "-c", _CHECK, str(linked))


def _run(*command: str) -> bytes:
    return subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True).stdout


def _openmp_runtime() -> Path | None:
    """PyTorch's own OpenMP library: a second one would compete with it for the cores."""
    folder = Path(torch.__file__).parent
    found = [*folder.glob("lib/libgomp*.so*"), *folder.parent.glob("torch.libs/libgomp*.so*")]
    return min(found, default=None)


def _processor() -> bytes:
    """The processor features that -march=native depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    features = [line for line in lines if line.startswith(("model name", "flags", "Features"))]
    return "\n".join([platform.machine(), platform.processor(), *sorted(set(features))]).encode()
