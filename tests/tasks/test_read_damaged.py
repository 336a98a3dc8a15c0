"""However a file is damaged, its reader either reads it or raises a `DataError`."""

import gzip
import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_bench.data.files import DataError
from tests.corpora import READERS, TEXTS

NAMES = sorted(TEXTS)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def read_bytes(task, content, name="file"):
    """Read a file; the error, if any, must be a `DataError` that names the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            return list(READERS[task](path, Counter()))
        except DataError as error:
            assert str(path) in str(error)
            return None


@pytest.mark.parametrize("task", NAMES)
def test_the_undamaged_file_can_be_read(task):
    assert read_bytes(task, TEXTS[task].encode())


@pytest.mark.parametrize("task", NAMES)
@given(st.data())
def test_changed_bytes(task, data):
    content = bytearray(TEXTS[task].encode())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    read_bytes(task, bytes(content))


@pytest.mark.parametrize("task", NAMES)
@given(st.data())
def test_changed_characters(task, data):
    index = data.draw(st.integers(0, len(TEXTS[task])))
    end = data.draw(st.integers(index, min(len(TEXTS[task]), index + 5)))
    text = TEXTS[task][:index] + data.draw(st.text(max_size=4)) + TEXTS[task][end:]
    read_bytes(task, text.encode(errors="surrogatepass"))


@pytest.mark.parametrize("task", NAMES)
@given(st.data())
def test_dropped_doubled_and_shuffled_lines(task, data):
    lines = TEXTS[task].splitlines(keepends=True)
    chosen = data.draw(st.lists(st.sampled_from(lines), max_size=len(lines)))
    kept = data.draw(st.sets(st.sampled_from(range(len(lines)))))
    read_bytes(task, "".join(chosen).encode())
    read_bytes(task, "".join(lines[i] for i in sorted(kept)).encode())


@pytest.mark.parametrize("task", NAMES)
@given(st.data())
def test_shuffled_columns(task, data):
    lines = TEXTS[task].splitlines()
    index = data.draw(st.sampled_from(range(len(lines))))
    lines[index] = " ".join(data.draw(st.permutations(lines[index].split())))
    read_bytes(task, "\n".join(lines).encode())


@pytest.mark.parametrize("task", NAMES)
@given(st.data())
def test_a_truncated_gzip_is_never_read(task, data):
    content = gzip.compress(TEXTS[task].encode())
    index = data.draw(st.integers(0, len(content) - 1))
    assert read_bytes(task, content[:index], "file.gz") is None


@pytest.mark.parametrize("task", NAMES)
@given(st.data())
def test_a_gzip_with_changed_bytes(task, data):
    content = bytearray(gzip.compress(TEXTS[task].encode()))
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    read_bytes(task, bytes(content), "file.gz")


@pytest.mark.parametrize("task", NAMES)
@given(st.binary() | st.text().map(lambda text: text.encode(errors="surrogatepass")))
def test_arbitrary_bytes(task, content):
    read_bytes(task, content)


def replaced(value, data):
    """Return a JSON value with one part replaced."""
    if not value or not isinstance(value, dict | list) or data.draw(st.integers(0, 3)) == 0:
        return data.draw(JSON)
    keys = sorted(value) if isinstance(value, dict) else range(len(value))
    key = data.draw(st.sampled_from(keys))
    changed = value.copy()
    changed[key] = replaced(value[key], data)
    return changed


@pytest.mark.parametrize("task", ["snli", "squad"])
@given(st.data())
def test_other_json_values(task, data):
    lines = TEXTS[task].splitlines() if task == "snli" else [TEXTS[task]]
    changed = [json.dumps(replaced(json.loads(line), data)) for line in lines]
    read_bytes(task, "\n".join(changed).encode())
