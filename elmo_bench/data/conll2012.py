"""The CoNLL-2012 column format, shared by semantic role labeling and coreference.

Columns: document, part, index, word, POS, parse, lemma, frameset, sense, speaker, entity, then one
column of argument brackets per predicate, and coreference brackets last. Blank lines end
sentences; `#begin document (name); part 000` and `#end document` delimit documents.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from elmo_bench.data.files import DataError, numbered_lines

Span = tuple[int, int]  # first and last token, inclusive
Argument = tuple[int, int, str]  # first and last token, label

_BEGIN = re.compile(r"#begin document \((?P<name>.*)\);(?: part (?P<part>\d{1,9}))?\s*", re.ASCII)
_GAP = re.compile(r"[ \t]+")  # a word may contain other white space, such as a non-breaking space
_BRACKETS = re.compile(r"(?P<opened>(?:\([^()*\s]+)*)\*(?P<closed>\)*)")
_MENTION = re.compile(r"(?P<opened>\()?(?P<cluster>\d{1,9})(?P<closed>\))?", re.ASCII)
_FIRST_ARGUMENTS = 11
_MIN_COLUMNS = _FIRST_ARGUMENTS + 1


@dataclass(frozen=True)
class Sentence:
    """The columns of one sentence; `line` is the line number of its first word."""

    line: int
    words: tuple[str, ...]
    pos: tuple[str, ...]
    framesets: tuple[str, ...]  # "-" where a word is not a predicate
    speakers: tuple[str, ...]
    arguments: tuple[tuple[str, ...], ...]  # one column of brackets per predicate
    coreference: tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """One part of a document, as the shared task counts documents."""

    name: str
    part: int
    sentences: tuple[Sentence, ...]

    @property
    def key(self) -> str:
        """Name and part combined, unique within a corpus."""
        return f"{self.name}_{self.part}"


@dataclass(frozen=True)
class Proposition:
    """A predicate with its arguments, including the predicate's own V."""

    predicate: int
    arguments: tuple[Argument, ...]


def read_documents(path: Path) -> Iterator[Document]:
    """Read a file document by document, plain or .gz."""
    name, part, begun = "", 0, 0
    sentences: list[Sentence] = []
    rows: list[list[str]] = []
    number = 0
    for number, line in numbered_lines(path):
        if rows and (not line.strip() or line.startswith("#end document")):
            sentences.append(_sentence(path, number - len(rows), rows, (name, str(part))))
            rows = []
        if not line.strip():
            continue
        if line.startswith("#begin document"):
            if begun:
                raise DataError(
                    path, number, f"the document begun on line {begun} has no #end document"
                )
            name, part = _header(path, number, line)
            begun = number
        elif line.startswith("#end document"):
            if not sentences:
                raise DataError(path, number, "#end document without any words before it")
            yield Document(name, part, tuple(sentences))
            begun, sentences = 0, []
        elif not begun:
            raise DataError(path, number, "a line outside any document (no #begin document)")
        else:
            rows.append(_GAP.split(line.strip(" \t")))
    if begun:
        raise DataError(path, number, f"the document begun on line {begun} has no #end document")
    if not number:
        raise DataError(path, None, "the file is empty")


def _header(path: Path, number: int, line: str) -> tuple[str, int]:
    found = _BEGIN.fullmatch(line)
    if not found:
        problem = f"not of the form '#begin document (name); part 000': {line[:80]!r}"
        raise DataError(path, number, problem)
    return found["name"], int(found["part"] or 0)


def _sentence(path: Path, first: int, rows: list[list[str]], document: tuple[str, str]) -> Sentence:
    for index, row in enumerate(rows):
        if len(row) < _MIN_COLUMNS:
            problem = f"{len(row)} columns, but CoNLL-2012 has {_MIN_COLUMNS} or more"
        elif len(row) != len(rows[0]):
            problem = f"{len(row)} columns, but the sentence began with {len(rows[0])}"
        elif (row[0], row[1]) != document:
            problem = f"document {row[0]!r} part {row[1]!r} inside {' part '.join(document)}"
        elif row[2] != str(index):
            problem = f"word number {row[2]!r}, expected {index}"
        else:
            continue
        raise DataError(path, first + index, problem)
    columns = list(zip(*rows, strict=True))
    return Sentence(
        line=first,
        words=columns[3],
        pos=columns[4],
        framesets=columns[7],
        speakers=columns[9],
        arguments=tuple(columns[_FIRST_ARGUMENTS:-1]),
        coreference=columns[-1],
    )


def propositions(path: Path, sentence: Sentence) -> list[Proposition]:
    """The predicates of a sentence with their arguments, in column order.

    Words with a frameset are the predicates; if there are more or fewer of them than columns,
    the V of each column is its predicate.
    """
    marked = [i for i, frameset in enumerate(sentence.framesets) if frameset != "-"]
    found = []
    for index, column in enumerate(sentence.arguments):
        # By start only, so that of two arguments on the same words the inner one stays first.
        arguments = tuple(sorted(_bracketed(path, sentence.line, column), key=itemgetter(0)))
        own = [start for start, _, label in arguments if label == "V"]
        if len(marked) == len(sentence.arguments):
            own = [marked[index]]
        if not own:
            problem = f"argument column {index + 1} has neither a frameset nor a V"
            raise DataError(path, sentence.line, problem)
        found.append(Proposition(own[0], arguments))
    return found


def _bracketed(path: Path, line: int, column: tuple[str, ...]) -> Iterator[Argument]:
    opened: list[tuple[int, str]] = []
    for index, cell in enumerate(column):
        brackets = _BRACKETS.fullmatch(cell)
        if not brackets:
            raise DataError(path, line + index, f"not argument brackets: {cell!r}")
        opened += [(index, label) for label in brackets["opened"].split("(")[1:]]
        for _ in brackets["closed"]:
            if not opened:
                problem = f"an argument is closed but was never opened: {cell!r}"
                raise DataError(path, line + index, problem)
            start, label = opened.pop()
            yield start, index, label
    if opened:
        start, label = opened[-1]
        raise DataError(path, line + start, f"argument {label} is not closed in its sentence")


def clusters(path: Path, document: Document) -> list[list[Span]]:
    """The mentions of every cluster in text order; offsets count over the whole document."""
    opened: dict[str, list[tuple[int, int]]] = {}  # cluster -> (token, line) of open mentions
    found: dict[str, list[Span]] = {}
    token = 0
    for sentence in document.sentences:
        for line, cell in enumerate(sentence.coreference, start=sentence.line):
            for mention in cell.split("|") if cell != "-" else []:
                parsed = _MENTION.fullmatch(mention)
                if not parsed or not (parsed["opened"] or parsed["closed"]):
                    raise DataError(path, line, f"not coreference brackets: {cell!r}")
                cluster = parsed["cluster"]
                if parsed["opened"]:
                    opened.setdefault(cluster, []).append((token, line))
                if parsed["closed"]:
                    if not opened.get(cluster):
                        problem = f"a mention of cluster {cluster} is closed but was never opened"
                        raise DataError(path, line, problem)
                    found.setdefault(cluster, []).append((opened[cluster].pop()[0], token))
            token += 1
    for cluster, starts in opened.items():
        if starts:
            raise DataError(path, starts[-1][1], f"a mention of cluster {cluster} is not closed")
    return sorted(sorted(mentions) for mentions in found.values())
