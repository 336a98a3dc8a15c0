import gzip

import pytest

from elmo_bench.data.files import DataError, numbered_lines, read_json


def test_an_invalid_byte_is_reported_with_its_line(tmp_path):
    path = tmp_path / "latin"
    path.write_bytes(b"fine\nfine\ncaf\xe9\n")
    with pytest.raises(DataError, match=r"latin, line 3: not UTF-8"):
        list(numbered_lines(path))


def test_utf16_is_an_error(tmp_path):
    path = tmp_path / "wide"
    path.write_bytes("a O\n".encode("utf-16-le"))
    with pytest.raises(DataError, match="line 1: not UTF-8"):
        list(numbered_lines(path))


def test_a_byte_order_mark_and_windows_newlines_are_stripped(tmp_path):
    path = tmp_path / "windows"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert list(numbered_lines(path)) == [(1, "one"), (2, "two")]


def test_gzip_reads_like_the_plain_file(tmp_path):
    plain, packed = tmp_path / "a", tmp_path / "a.gz"
    plain.write_bytes("é\nb\n".encode())
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(numbered_lines(packed)) == list(numbered_lines(plain))


def test_a_truncated_gzip_is_reported(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"line\n" * 1000)[:-12])
    with pytest.raises(DataError, match=r"truncated \.gz"):
        list(numbered_lines(path))


def test_a_missing_file_is_reported_by_name(tmp_path):
    with pytest.raises(DataError, match="nowhere: cannot be read"):
        list(numbered_lines(tmp_path / "nowhere"))


@pytest.mark.parametrize("text", ["", "{", '{"a": "\\ud800"}', "9" * 5000, "[" * 100_000])
def test_bad_json_is_a_data_error(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DataError):
        read_json(path)


def test_a_json_error_is_reported_with_its_line(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{\n "a": 1,\n b\n}')
    with pytest.raises(DataError, match="line 3: not JSON"):
        read_json(path)
