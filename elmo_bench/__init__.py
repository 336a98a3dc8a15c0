"""A reproduction of ELMo: the biLM, its layers in six tasks, and a comparison with the paper."""

import os
from importlib import import_module
from typing import Any

# PyTorch's threads otherwise spin while they wait for each other, and take the cores from our own
# threads (elmo_bench/kernels) and from other processes, beside which a training falls to a tenth of
# its speed. OpenMP reads this once, so it has an effect only if torch is imported later.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Public names and their modules; loaded lazily, so that `import elmo_bench` stays light.
_PUBLIC = {
    "BiLm": "elmo_bench.bilm.model",
    "ElmoMix": "elmo_bench.features.mix",
    "read_records": "elmo_bench.records.run",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'elmo_bench' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
