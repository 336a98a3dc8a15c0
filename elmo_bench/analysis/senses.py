"""Readers of sense-annotated words: jsonl of words or of sentences, and the framework's XML."""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from elmo_bench.data.files import DataError, numbered_lines, parse_json
from elmo_bench.errors import UserError

_DATA, _GOLD = ".data.xml", ".gold.key.txt"
_POS_OF_KEY = {"1": "NOUN", "2": "VERB", "3": "ADJ", "4": "ADV", "5": "ADJ"}


class SenseExample(NamedTuple):
    """A word in a sentence with its gold senses, several where annotators could not choose one."""

    lemma: str  # with its part of speech if known; only senses of the same lemma compete
    senses: tuple[str, ...]
    first: int  # first token
    last: int  # last token, different from the first in `New_York`
    tokens: tuple[str, ...]


def read_senses(path: Path) -> list[SenseExample]:
    """Read a file, plain or .gz: .jsonl, or NAME.data.xml with NAME.gold.key.txt next to it."""
    if keys_of(path) is not None:
        examples = list(read_framework(path))
    elif ".jsonl" in path.suffixes:
        examples = [example for _, example in read_jsonl(path)]
    else:
        raise DataError(path, None, f"not a .jsonl or {_DATA} file of senses, plain or .gz")
    if not examples:
        raise DataError(path, None, "contains no word with a sense")
    return examples


def keys_of(path: Path) -> Path | None:
    """The gold keys of a data file of the unified WSD framework; None for other files."""
    name = path.name.removesuffix(".gz")
    return path.with_name(name.removesuffix(_DATA) + _GOLD) if name.endswith(_DATA) else None


def read_jsonl(path: Path) -> Iterator[tuple[int, SenseExample]]:
    """Read lines of one word, or of a sentence with all its words, with their line numbers.

    `{"lemma": "bank", "sense": "bank.river", "index": 1, "tokens": [...]}` is one word;
    `{"tokens": [...], "lemmas": [...], "senses": [null, ["group%1:03:00::"], ...]}` a sentence.
    """
    for number, text in numbered_lines(path):
        if not text.strip():
            continue
        row = parse_json(path, number, text)
        if not isinstance(row, dict):
            raise DataError(path, number, "not a JSON object")
        read = _sentence_row if "senses" in row else _word_row
        try:
            examples = read(row)
        except KeyError as error:
            raise DataError(path, number, f"the key {error} is missing") from error
        except ValueError as error:
            raise DataError(path, number, str(error)) from error
        yield from ((number, example) for example in examples)


def _word_row(row: dict[str, Any]) -> list[SenseExample]:
    lemma, sense, index, tokens = (row[key] for key in ("lemma", "sense", "index", "tokens"))
    if not _is_text(tokens) or not isinstance(lemma, str) or not isinstance(sense, str):
        raise UserError("lemma and sense must be strings, tokens a list of strings")
    if not isinstance(index, int) or not 0 <= index < len(tokens) or not tokens[index]:
        raise UserError(f"index {index!r} is not the position of one of the {len(tokens)} tokens")
    # CoarseWSD-20 has an empty token in place of a formula.
    position = index - tokens[:index].count("")
    return [SenseExample(lemma, (sense,), position, position, tuple(filter(None, tokens)))]


def _sentence_row(row: dict[str, Any]) -> list[SenseExample]:
    """Read a sentence whose senses are WordNet's keys, which tell the part of speech too."""
    words, lemmas, senses = (row[key] for key in ("tokens", "lemmas", "senses"))
    if not _is_text(words) or any(not isinstance(some, list) for some in (lemmas, senses)):
        raise UserError("tokens must be a list of strings, lemmas and senses lists")
    if not len(words) == len(lemmas) == len(senses):
        sizes = f"{len(words)} tokens, {len(lemmas)} lemmas and {len(senses)} senses"
        raise UserError(f"{sizes}; every token must have one of each, or null")
    tokens, spans = _split_units(words)
    return [
        SenseExample(_lemma_of(lemma, keys), tuple(keys), first, last, tokens)
        for lemma, keys, (first, last) in zip(lemmas, senses, spans, strict=True)
        if keys is not None
    ]


def _lemma_of(lemma: Any, keys: Any) -> str:
    """`bank#NOUN` of the lemma `bank` and the key `bank%1:17:01::`."""
    well_formed = isinstance(lemma, str) and _is_text(keys) and keys
    parts = {_POS_OF_KEY.get(key.partition("%")[2][:1]) for key in keys} if well_formed else {None}
    if len(parts) > 1 or None in parts:
        raise UserError(f"{keys!r} of the lemma {lemma!r} are not sense keys like bank%1:17:01::")
    return f"{lemma.lower()}#{parts.pop()}"


def _is_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _split_units(units: Iterable[str]) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """Split multiword units such as `New_York`, as in the biLM's training text.

    Returns the tokens, and the first and last one of each unit.
    """
    tokens: list[str] = []
    spans = []
    for unit in units:
        first = len(tokens)
        tokens += unit.replace("_", " ").split() or [unit.strip() or "_"]
        spans.append((first, len(tokens) - 1))
    return tuple(tokens), spans


def read_framework(path: Path) -> Iterator[SenseExample]:
    """Stream NAME.data.xml of the unified WSD framework (Raganato et al. 2017), plain or .gz."""
    keys = keys_of(path)
    assert keys is not None
    gold = _read_keys(keys)
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            for _, element in ElementTree.iterparse(file):
                if element.tag == "sentence":
                    yield from _sentence(path, element, gold)
                    element.clear()
    except ElementTree.ParseError as error:
        raise DataError(path, error.position[0], f"not well-formed XML ({error})") from error
    except (OSError, EOFError, zlib.error, LookupError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        # LookupError and ValueError: an encoding that does not exist, or cannot be read.
        reason = getattr(error, "strerror", None) or error
        raise DataError(path, None, f"cannot be read ({reason})") from error
    if gold:
        problem = f"the gold keys have {len(gold)} more instances, such as {next(iter(gold))}"
        raise DataError(path, None, problem)


def _sentence(
    path: Path, sentence: ElementTree.Element, gold: dict[str, tuple[str, ...]]
) -> list[SenseExample]:
    tokens, spans = _split_units(word.text or "" for word in sentence)
    examples = []
    for word, (first, last) in zip(sentence, spans, strict=True):
        if word.tag == "instance":
            name = word.get("id", "")
            if name not in gold:
                raise DataError(path, None, f"instance {name!r} has no gold key or occurs twice")
            lemma = f"{word.get('lemma', '').lower()}#{word.get('pos', '')}"
            examples.append(SenseExample(lemma, gold.pop(name), first, last, tokens))
    return examples


def _read_keys(path: Path) -> dict[str, tuple[str, ...]]:
    """Read lines like `d000.s000.t000 long%3:00:02:: long%3:00:01::`."""
    keys: dict[str, tuple[str, ...]] = {}
    for number, text in numbered_lines(path):
        if parts := text.split():
            name, *senses = parts
            if not senses or name in keys:
                raise DataError(path, number, f"instance {name} has no sense or occurs twice")
            keys[name] = tuple(senses)
    return keys


def read_first_senses(path: Path) -> dict[str, str]:
    """Read the first sense of each lemma and part of speech from WordNet.

    Args:
        path: The file index.sense, or the folder that has it.
    """
    path = sense_index(path)
    first: dict[str, tuple[int, str]] = {}
    for number, text in numbered_lines(path):
        parts = text.split()
        lemma, _, position = parts[0].partition("%") if len(parts) == 4 else ("", "", "")
        if not lemma or position[:1] not in _POS_OF_KEY or not parts[2].isdigit():
            problem = f"not `lemma%2:31:00:: offset number count`: {text[:40]!r}"
            raise DataError(path, number, problem)
        key, rank = f"{lemma}#{_POS_OF_KEY[position[0]]}", int(parts[2])
        if key not in first or rank < first[key][0]:
            first[key] = rank, parts[0]
    return {key: sense for key, (_, sense) in first.items()}


def sense_index(path: Path) -> Path:
    """WordNet's index.sense, given itself or the folder that has it."""
    return path / "index.sense" if path.is_dir() else path
