"""Whatever is in a file from somebody else, only a `UserError` comes out, and soon."""

import gzip
import random
import time
import traceback
from pathlib import Path

import pytest

try:
    from elmo_bench.errors import UserError
except ImportError:
    from elmo_bench.data.files import DataError as UserError
from tests.damaged.kinds import KINDS, Kind

SECONDS = 5.0  # for reading one of these small files


def surprises(kind: Kind, folder: Path, number: int, seed: int = 0) -> list[str]:
    """Read the file with this many mutations; return what went wrong with some of them."""
    kind.make(folder)
    path = folder / kind.file
    packed = path.suffix == ".gz"
    original = path.read_bytes()
    plain = gzip.decompress(original) if packed else original
    kind.read(folder)
    found = []
    for index in range(number):
        rng = random.Random(f"{kind.name} {seed} {index}")
        mutate = rng.choice(kind.mutations)
        if packed and rng.random() < 0.8:
            path.write_bytes(gzip.compress(mutate(plain, rng), compresslevel=1))
        else:
            path.write_bytes(
                mutate(original, rng) if not packed else kind.mutations[0](original, rng)
            )
        start = time.monotonic()
        try:
            kind.read(folder)
        except Exception as error:
            if kind.tolerant or not isinstance(error, UserError):
                last = traceback.extract_tb(error.__traceback__)[-1]
                found.append(
                    f"{type(error).__name__} {Path(last.filename).name}:{last.lineno} {str(error)[:100]!r} [{index}]"
                )
        if time.monotonic() - start > SECONDS:
            found.append(f"slow [{index}]")
    return found


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_damaged_file_gives_a_user_error_or_is_read(kind, tmp_path):
    assert not surprises(kind, tmp_path, number=30)
