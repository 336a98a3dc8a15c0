"""Question answering from SQuAD 1.1 JSON or Hub rows.

Answers are aligned to tokens. One that begins or ends inside a token is widened to whole tokens
and counted; one that covers no token is dropped and counted. A question without an aligned answer
is left out of training but kept in evaluation, since the official script counts all questions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from elmo_bench.data.example import Example, Skipped, Split
from elmo_bench.data.files import DataError, read_json
from elmo_bench.data.tokenizer import Offsets, token_offsets, tokenize
from elmo_bench.errors import UserError

Span = tuple[int, int]  # first and last token of the paragraph, inclusive

QUESTION_WORDS = ("what", "which", "who", "whom", "whose", "when", "where", "why", "how")

_NOTHING = ("?",)  # replaces a text without words, so that there is something to read


@dataclass(frozen=True)
class SquadTarget:
    """The reference answers of a question, and what turns a span of tokens back into text."""

    context: str
    offsets: tuple[Offsets, ...]  # (start, end) in the context of every paragraph token
    answers: tuple[str, ...]
    spans: tuple[Span, ...]  # the answers that align to tokens, each distinct one once

    def text(self, first: int, last: int) -> str:
        """Return the text of a span of tokens, exactly as in the context."""
        return self.context[self.offsets[first][0] : self.offsets[last][1]]


def question_word(question: Sequence[str]) -> str:
    """The word that says what is asked for; "how" with the word after it, such as "how many"."""
    words = [token.lower() for token in question]
    for index, word in enumerate(words):
        if word == "how" and words[index + 1 : index + 2] in (["many"], ["much"], ["long"]):
            return f"how {words[index + 1]}"
        if word in QUESTION_WORDS:
            return word
    return "other"


def read(path: Path, split: Split, articles: str | None, skipped: Skipped) -> Iterator[Example]:
    """Read the questions of a file, in its order.

    Args:
        path: A SQuAD 1.1 JSON file.
        split: Which articles to take, if `articles` is given.
        articles: A JSON file {split: [titles]} that divides one file into splits. Articles that
            it does not name are read whatever the split, as is all of a split that it omits.
        skipped: Counts what is skipped.
    """
    others = articles and _of_other_splits(Path(articles).expanduser(), split)
    found = False
    for location, article, paragraph, question in read_questions(path):
        if others and str(article.get("title")) in others:
            continue
        found = True
        try:
            example = _example(
                question["id"],
                paragraph["context"],
                question["question"],
                [(answer["text"], answer["answer_start"]) for answer in question["answers"]],
                split,
                skipped,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(path, None, f"{location}: {_problem(error)}") from error
        if example is not None:
            yield example
    if not found:
        raise DataError(
            path, None, "the file contains no questions" + (" from these articles" * bool(others))
        )


def _of_other_splits(path: Path, split: Split) -> frozenset[str]:
    """Return the articles that the JSON names for other splits than this one."""
    splits = read_json(path)
    if not isinstance(splits, dict) or not all(isinstance(t, list) for t in splits.values()):
        raise DataError(path, None, "not a JSON object {split: [titles]}")
    if split not in splits:
        return frozenset()
    named = {name: frozenset(map(str, titles)) for name, titles in splits.items()}
    return frozenset().union(*named.values()) - named[split]


Node = Mapping[str, Any]


def read_questions(path: Path) -> Iterator[tuple[str, Node, Node, Node]]:
    """Yield (location, article, paragraph, question) for every question in a file."""
    articles = _list(path, "the file", read_json(path), "data")
    for i, article in enumerate(articles):
        paragraphs = _list(path, f"data[{i}]", article, "paragraphs")
        for j, paragraph in enumerate(paragraphs):
            location = f"data[{i}].paragraphs[{j}]"
            for k, question in enumerate(_list(path, location, paragraph, "qas")):
                if not isinstance(question, dict):
                    raise DataError(path, None, f"{location}.qas[{k}]: not a JSON object")
                yield f"{location}.qas[{k}]", article, paragraph, question


def _list(path: Path, location: str, node: Any, key: str) -> list[Any]:
    if not isinstance(node, dict) or not isinstance(node.get(key), list):
        raise DataError(path, None, f"{location}: no list under {key!r}; is this SQuAD 1.1 JSON?")
    return node[key]


def _problem(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)


def read_references(path: Path) -> dict[str, list[str]]:
    """Return the reference answers of every question, aligned to tokens or not."""
    references: dict[str, list[str]] = {}
    for location, _, _, question in read_questions(path):
        try:
            answers = [str(answer["text"]) for answer in question["answers"]]
            references[str(question["id"])] = answers
        except (KeyError, TypeError) as error:
            raise DataError(path, None, f"{location}: {_problem(error)}") from error
        if not answers:
            raise DataError(path, None, f"{location}: no answers, so nothing to score against")
    if not references:
        raise DataError(path, None, "the file contains no questions")
    return references


def _example(
    question_id: Any,
    context: Any,
    question: Any,
    answers: list[tuple[Any, Any]],
    split: Split,
    skipped: Skipped,
) -> Example | None:
    if not all(isinstance(text, str) for text in (question_id, context, question)):
        raise UserError("id, context and question must be strings")
    offsets = _context_offsets(context)
    paragraph = tuple(context[start:end] for start, end in offsets)
    words = tokenize(question, split_inside=True)
    spans = [_span(context, offsets, text, start, skipped) for text, start in answers]
    aligned = tuple(dict.fromkeys(span for span in spans if span is not None))
    if not answers:
        skipped["questions without an answer"] += 1
    elif split == "train" and not aligned:
        skipped["questions without an answer that covers a token"] += 1
    elif split == "train" and not words:
        skipped["questions without words"] += 1
    else:
        texts = tuple(text for text, _ in answers)
        target = SquadTarget(context, offsets or ((0, 0),), texts, aligned)
        return Example(question_id, (paragraph or _NOTHING, words or _NOTHING), target)
    return None


@lru_cache(maxsize=4)  # the questions of a paragraph are consecutive
def _context_offsets(context: str) -> tuple[Offsets, ...]:
    return token_offsets(context, split_inside=True)


def _span(
    context: str, offsets: Sequence[Offsets], text: Any, start: Any, skipped: Skipped
) -> Span | None:
    if not isinstance(text, str) or not isinstance(start, int):
        raise UserError(f"answer {text!r} at {start!r}: not a string and an integer")
    end = start + len(text)
    if start < 0 or context[start:end] != text:
        raise UserError(f"answer {text[:60]!r} is not at offset {start} of its context")
    inside = [i for i, (left, right) in enumerate(offsets) if left < end and start < right]
    if not inside:
        skipped["answers that cover no token"] += 1
        return None
    first, last = inside[0], inside[-1]
    if (offsets[first][0], offsets[last][1]) != (start, end):
        skipped["answers that cut a token, widened to it"] += 1
    return first, last


def from_hub(
    rows: Iterable[Mapping[str, Any]], split: Split, skipped: Skipped
) -> Iterator[Example]:
    """Convert rows with `id`, `context`, `question` and `answers` {text: [], answer_start: []}."""
    for number, row in enumerate(rows):
        texts, starts = row["answers"]["text"], row["answers"]["answer_start"]
        try:
            answers = list(zip(texts, starts, strict=True))
            example = _example(row["id"], row["context"], row["question"], answers, split, skipped)
        except ValueError as error:
            raise DataError(f"Hub dataset, row {number}", None, str(error)) from error
        if example is not None:
            yield example


def cut_paragraphs(
    examples: Iterable[Example], max_tokens: int, skipped: Skipped
) -> Iterator[Example]:
    """Truncate paragraphs; a question whose answers are all beyond the cut is left out."""
    for example in examples:
        paragraph, question = example.segments
        if len(paragraph) <= max_tokens:
            yield example
            continue
        target = example.target
        spans = tuple(span for span in target.spans if span[1] < max_tokens)
        if not spans:
            skipped["questions answered behind the cut of a long paragraph"] += 1
            continue
        shorter = replace(target, offsets=target.offsets[:max_tokens], spans=spans)
        yield Example(example.id, (paragraph[:max_tokens], question), shorter)


def parse(text: str) -> Example:
    """Parse a question that a user types: `paragraph ||| question`."""
    context, bar, question = text.partition("|||")
    context, question = context.strip(), question.strip()
    if not (bar and context and question):
        raise UserError(f"type `paragraph ||| question`, not {text[:60]!r}")
    offsets = _context_offsets(context)
    paragraph = tuple(context[start:end] for start, end in offsets)
    words = tokenize(question, split_inside=True)
    return Example(question, (paragraph, words), SquadTarget(context, offsets, (), ()))
