"""Named entities in the columns of CoNLL-2003: word, part of speech, chunk, entity in IOB1."""

from collections.abc import Iterator

from elmo_bench.mini.discourse.texts import any_text
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tree import Sentence

TYPES = {"PERSON": "PER", "GPE": "LOC", "LOC": "LOC", "ORG": "ORG"}  # all others are MISC


def ner_lines(teller: Teller, count: int) -> Iterator[str]:
    """The lines of a file of `count` sentences, mostly news."""
    done = 0
    while done < count:
        yield from ("-DOCSTART- -X- -X- O", "")
        for sentence in any_text(teller, "nnnnpcdbbhh", 4, 9).sentences[: count - done]:
            yield from _columns(sentence)
            yield ""
            done += 1


def _columns(sentence: Sentence) -> Iterator[str]:
    tags = ["O"] * len(sentence.tokens)
    for start, end, mark in sentence.marks("entity"):
        name = TYPES.get(mark[1], "MISC")
        tags[start:end] = ["I-" + name] * (end - start)
        if start and tags[start - 1][2:] == name:
            tags[start] = "B-" + name  # IOB1: B only separates two neighbors of one type
    chunks = chunk_tags([item.pos for item in sentence.tokens])
    for item, chunk, tag in zip(sentence.tokens, chunks, tags, strict=True):
        yield f"{item.word} {item.pos} {chunk} {tag}"


_NOUN = {
    "DT",
    "PRP",
    "PRP$",
    "POS",
    "JJ",
    "JJR",
    "JJS",
    "NN",
    "NNS",
    "NNP",
    "NNPS",
    "CD",
    "EX",
    "WP",
    "WDT",
    "$",
}
_OPENS = {"DT", "PRP", "PRP$", "POS", "WP", "WDT"}  # start a noun chunk even directly after another
_VERB = {"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"}


def chunk_tags(tags: list[str]) -> list[str]:
    """Base phrases, IOB1, from the parts of speech."""
    kinds = [_kind(tags, place) for place in range(len(tags))]
    chunks = []
    for place, kind in enumerate(kinds):
        again = place > 0 and kinds[place - 1] == kind
        parted = again and (
            (tags[place] in _OPENS and tags[place - 1] not in ("DT", "PRP$"))
            or kind in ("PP", "SBAR")
        )
        chunks.append("O" if kind == "O" else f"{'B' if parted else 'I'}-{kind}")
    return chunks


def _kind(tags: list[str], place: int) -> str:
    tag = tags[place]
    following = tags[place + 1] if place + 1 < len(tags) else "."
    if tag == "TO":
        return "VP" if following == "VB" else "PP"
    if tag == "RB":
        return "VP" if following in _VERB else "ADVP"
    if tag.startswith("JJ") and following not in _NOUN - _OPENS:
        return "ADJP" if place and tags[place - 1] in _VERB | {"RB"} else "NP"
    if tag in _NOUN:
        return "NP"
    return "VP" if tag in _VERB else "PP" if tag == "IN" else "PRT" if tag == "RP" else "O"
