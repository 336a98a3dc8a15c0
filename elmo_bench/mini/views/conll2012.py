"""The columns of CoNLL-2012, for predicates with their arguments and for coreference."""

from collections.abc import Iterable, Iterator
from typing import Any

from elmo_bench.mini.tree import Sentence


def document_lines(
    name: str,
    sentences: Iterable[Sentence],
    rows: Iterable[list[list[str]]],
    corefs: Iterable[list[str]],
) -> Iterator[str]:
    """A whole document; `rows` are the argument columns of its sentences, `corefs` the last."""
    yield f"#begin document ({name}); part 000"
    for sentence, arguments, coref in zip(sentences, rows, corefs, strict=True):
        parse = parse_column(sentence)
        entities = bracket_column(
            len(sentence.tokens), [(s, e, m[1]) for s, e, m in sentence.marks("entity")]
        )
        predicates = (
            {start: mark[1] for start, _, mark in propositions(sentence)} if arguments else {}
        )
        for place, item in enumerate(sentence.tokens):
            found = predicates.get(place)
            lemma, frameset = (found.lemma, found.frameset) if found else ("-", "-")
            fields = [
                name,
                "0",
                str(place),
                item.word,
                item.pos,
                parse[place],
                lemma,
                frameset,
                "-",
                sentence.speaker,
                entities[place],
            ]
            fields += [column[place] for column in arguments]
            yield " ".join([*fields, coref[place]])
        yield ""
    yield "#end document"


def propositions(sentence: Sentence) -> list[tuple[int, int, Any]]:
    """The verbs of the propositions in order: (start, end, mark)."""
    return sorted(
        (item for item in sentence.marks("role") if item[2][2] == "V"), key=lambda item: item[0]
    )


def argument_columns(sentence: Sentence) -> list[list[str]]:
    """One column of brackets per proposition."""
    spans: dict[int, list[tuple[int, int, str]]] = {}
    for start, end, (_, proposition, label) in sentence.marks("role"):
        spans.setdefault(id(proposition), []).append((start, end, label))
    return [
        bracket_column(len(sentence.tokens), spans[id(mark[1])])
        for _, _, mark in propositions(sentence)
    ]


def bracket_column(length: int, spans: Iterable[tuple[int, int, str]]) -> list[str]:
    """`(ARG0*`, `*`, `*)` for spans that do not overlap."""
    column = ["*"] * length
    for start, end, label in spans:
        column[start] = f"({label}*"
        column[end - 1] += ")"
    return column


def parse_column(sentence: Sentence) -> list[str]:
    opening = [""] * len(sentence.tokens)
    closing = [""] * len(sentence.tokens)
    for start, end, phrase in sentence.spans:  # outer phrases first
        if phrase.cat:
            opening[start] += f"({phrase.cat}"
            closing[end - 1] += ")"
    return [f"{left}*{right}" for left, right in zip(opening, closing, strict=True)]


def coref_columns(sentences: list[Sentence]) -> list[list[str]]:
    """Chains of at least two mentions, numbered in order of appearance."""
    mentions = [
        (place, start, end, mark[1].key)
        for place, sentence in enumerate(sentences)
        for start, end, mark in sentence.marks("mention")
    ]
    counts: dict[str, int] = {}
    for *_, key in mentions:
        counts[key] = counts.get(key, 0) + 1
    numbers: dict[str, int] = {}
    columns = [[[] for _ in sentence.tokens] for sentence in sentences]  # type: list[list[list[str]]]
    for place, start, end, key in mentions:
        if counts[key] > 1:
            number = numbers.setdefault(key, len(numbers))
            if end - start == 1:
                columns[place][start].append(f"({number})")
            else:
                columns[place][start].append(f"({number}")
                columns[place][end - 1].append(f"{number})")
    return [["|".join(cell) or "-" for cell in column] for column in columns]
