"""Readers of sense-annotated words: jsonl, and the XML of the unified WSD framework."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from elmo_bench.data.files import DataError, numbered_lines, parse_json

_DATA, _GOLD = ".data.xml", ".gold.key.txt"


class SenseExample(NamedTuple):
    """A word in a sentence with its gold senses, several where annotators could not choose one."""

    lemma: str  # with its part of speech if known; only senses of the same lemma compete
    senses: tuple[str, ...]
    first: int  # first token
    last: int  # last token, different from the first in `New_York`
    tokens: tuple[str, ...]


def read_senses(path: Path) -> list[SenseExample]:
    """Read a file: .jsonl, plain or .gz, or NAME.data.xml with NAME.gold.key.txt next to it."""
    if path.name.endswith(_DATA):
        examples = list(read_framework(path))
    elif ".jsonl" in path.suffixes:
        examples = [example for _, example in read_jsonl(path)]
    else:
        raise DataError(path, None, f"not a .jsonl, .jsonl.gz or {_DATA} file of senses")
    if not examples:
        raise DataError(path, None, "contains no word with a sense")
    return examples


def read_jsonl(path: Path) -> Iterator[tuple[int, SenseExample]]:
    """Read lines like {"lemma": "bank", "sense": "bank.river", "index": 1, "tokens": [...]}."""
    for number, text in numbered_lines(path):
        if not text.strip():
            continue
        row = parse_json(path, number, text)
        if not isinstance(row, dict):
            raise DataError(path, number, "not a JSON object")
        try:
            lemma, sense, index, tokens = (row[k] for k in ("lemma", "sense", "index", "tokens"))
        except KeyError as error:
            raise DataError(path, number, f"the key {error} is missing") from error
        words = isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)
        if not words or not isinstance(lemma, str) or not isinstance(sense, str):
            raise DataError(
                path, number, "lemma and sense must be strings, tokens a list of strings"
            )
        if not isinstance(index, int) or not 0 <= index < len(tokens) or not tokens[index]:
            problem = f"index {index!r} is not the position of one of the {len(tokens)} tokens"
            raise DataError(path, number, problem)
        # CoarseWSD-20 has an empty token in place of a formula.
        position = index - tokens[:index].count("")
        yield number, SenseExample(lemma, (sense,), position, position, tuple(filter(None, tokens)))


def read_framework(path: Path) -> Iterator[SenseExample]:
    """Stream NAME.data.xml of the unified WSD framework (Raganato et al. 2017).

    Multiword units such as `New_York` become several tokens, as in the biLM's training text.
    """
    gold = _read_keys(path.with_name(path.name.removesuffix(_DATA) + _GOLD))
    try:
        for _, element in ElementTree.iterparse(path):
            if element.tag == "sentence":
                yield from _sentence(path, element, gold)
                element.clear()
    except ElementTree.ParseError as error:
        raise DataError(path, error.position[0], f"not well-formed XML ({error})") from error
    except OSError as error:
        raise DataError(path, None, f"cannot be read ({error.strerror})") from error
    if gold:
        problem = f"the gold keys have {len(gold)} more instances, such as {next(iter(gold))}"
        raise DataError(path, None, problem)


def _sentence(
    path: Path, sentence: ElementTree.Element, gold: dict[str, tuple[str, ...]]
) -> list[SenseExample]:
    tokens: list[str] = []
    instances: list[tuple[str, str, int, int]] = []
    for word in sentence:
        first = len(tokens)
        text = word.text or ""
        tokens += text.replace("_", " ").split() or [text.strip() or "_"]
        if word.tag == "instance":
            lemma = f"{word.get('lemma', '').lower()}#{word.get('pos', '')}"
            instances.append((word.get("id", ""), lemma, first, len(tokens) - 1))
    for name, *_ in instances:
        if name not in gold:
            raise DataError(path, None, f"instance {name!r} has no gold key or occurs twice")
    return [
        SenseExample(lemma, gold.pop(name), first, last, tuple(tokens))
        for name, lemma, first, last in instances
    ]


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


_POS_OF_KEY = {"1": "NOUN", "2": "VERB", "3": "ADJ", "4": "ADV", "5": "ADJ"}


def read_first_senses(path: Path) -> dict[str, str]:
    """Read the first sense of each lemma and part of speech from WordNet's index.sense."""
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
