"""How the C library gives memory back; training is faster when it does not."""

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # of malloc.h


def keep_freed_memory() -> None:
    """Let glibc keep large blocks that are freed, since every step asks for the same ones again.

    By default each is mapped and unmapped anew, and its pages are cleared each time. Elsewhere
    than on glibc nothing happens.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_MAX, 0)
        mallopt(_TRIM_THRESHOLD, (1 << 31) - 1)
