"""The embedded benchmark: one generated world, one realiser, six tasks in the official formats."""

from elmo_bench.mini.files import ensure_mini, write_mini
from elmo_bench.mini.settings import VERSION, MiniSettings

__all__ = ["VERSION", "MiniSettings", "ensure_mini", "write_mini"]
