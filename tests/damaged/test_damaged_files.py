"""Whatever is in a file from somebody else, its reader raises only `UserError`, and soon."""

import gzip
import random
import time
import traceback
from dataclasses import replace
from pathlib import Path

import pytest

from elmo_bench.errors import UserError
from tests.damaged.kinds import KINDS, Kind, read_page, read_reports
from tests.damaged.mutations import mutate_bytes

SECONDS = 5.0  # for one of these small files, on a busy machine


def surprises(kind: Kind, folder: Path, number: int) -> list[str]:
    """Read the file with each of so many mutations; return what should not have happened."""
    kind.make(folder)
    path = folder / kind.file
    original = path.read_bytes()
    kind.read(folder)
    found = []
    for index in range(number):
        path.write_bytes(_mutated(kind, original, random.Random(f"{kind.name} {index}")))
        start = time.monotonic()
        try:
            kind.read(folder)
        except Exception as error:
            if kind.tolerant or not isinstance(error, UserError):
                *_, place = traceback.extract_tb(error.__traceback__)
                where = f"{Path(place.filename).name}:{place.lineno}"
                found.append(f"{type(error).__name__} {where} {str(error)[:80]!r} [{index}]")
        if time.monotonic() - start > SECONDS:
            found.append(f"slow [{index}]")
    return found


def _mutated(kind: Kind, original: bytes, rng: random.Random) -> bytes:
    mutate = rng.choice(kind.mutations)
    if not kind.file.endswith(".gz"):
        return mutate(original, rng)
    if rng.random() < 0.2:
        return mutate_bytes(original, rng)
    return gzip.compress(mutate(gzip.decompress(original), rng), compresslevel=1)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_damaged_file_is_refused_with_a_user_error_or_read(kind, tmp_path):
    assert not surprises(kind, tmp_path, number=12 if kind.tolerant else 60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_thousands_of_mutations(kind, tmp_path):
    assert not surprises(kind, tmp_path, number=500 if kind.tolerant else 4000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.read is read_reports], ids=lambda kind: kind.name
)
def test_the_page_is_built_whatever_is_in_one_file(kind, tmp_path):
    assert not surprises(replace(kind, read=read_page), tmp_path, number=40)
