"""Questions about paragraphs, whose answers are the spans of the facts in the text."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from elmo_bench.mini.discourse.plans import PROFILED, profile
from elmo_bench.mini.facts import Fact, Filling
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tellings import Telling
from elmo_bench.mini.tree import Sentence, plain_text
from elmo_bench.mini.values import Value
from elmo_bench.mini.views.questions import can_ask, question_text
from elmo_bench.mini.world import Entity

QUESTIONS = 4  # at most, about one paragraph
FACTS = 8  # that a paragraph is about, besides asides
Span = tuple[int, int, int]  # sentence, start, end


class Paragraph:
    """A text as one string, with the character span of every token of every sentence."""

    def __init__(self, sentences: list[Sentence]) -> None:
        self.sentences = sentences
        self.text, self.places = plain_text([item for found in sentences for item in found.tokens])
        self.starts = [0]
        for sentence in sentences:
            self.starts.append(self.starts[-1] + len(sentence.tokens))

    def answer(self, span: Span) -> dict[str, int | str]:
        offset = self.starts[span[0]]
        first, last = self.places[offset + span[1]][0], self.places[offset + span[2] - 1][1]
        return {"answer_start": first, "text": self.text[first:last]}


@dataclass
class Told:
    """A fact of the paragraph: how it was told, and the span of each slot."""

    fact: Fact
    telling: Telling
    spans: dict[str, Span]


def squad_lines(teller: Teller, count: int) -> Iterator[str]:
    """A SQuAD 1.1 file of `count` questions, which is one line of JSON.

    Questions of dev and test have several reference answers.
    """
    articles: list[dict[str, Any]] = []
    done = 0
    while done < count:
        entity = teller.entity(teller.draw.pick(PROFILED))
        paragraph = Paragraph(profile(teller, entity, FACTS).sentences)
        if len(paragraph.sentences) < 3:
            continue
        name = f"{teller.part}-{len(articles):04d}"
        wanted = min(QUESTIONS, count - done)
        rows = _ask_about(teller, paragraph, name, wanted, several=not teller.training)
        if rows:
            paragraphs = [{"context": paragraph.text, "qas": rows}]
            articles.append({"title": entity.name.replace(" ", "_"), "paragraphs": paragraphs})
            done += len(rows)
    yield json.dumps({"data": articles, "version": "1.1"}, ensure_ascii=False)


def _ask_about(
    teller: Teller, paragraph: Paragraph, name: str, count: int, several: bool
) -> list[dict[str, Any]]:
    """Questions about different slots of the facts in a paragraph."""
    told = facts_told(paragraph.sentences)
    rows: list[dict[str, Any]] = []
    asked: set[tuple[int, str]] = set()
    for _ in range(3 * count):
        chosen = teller.draw.pick(told)
        found = _ask(teller, chosen, told)
        if found is None or (id(chosen), found[0]) in asked:
            continue
        slot, text = found
        answers = _answers(paragraph, chosen, slot)
        if answers:
            asked.add((id(chosen), slot))
            shown = answers if several else answers[:1]
            rows.append({"id": f"{name}-{len(rows)}", "question": text, "answers": shown})
        if len(rows) == count:
            break
    return rows


def facts_told(sentences: list[Sentence]) -> list[Told]:
    """All facts whose slots are marked in the sentences."""
    found: dict[int, Told] = {}
    for number, sentence in enumerate(sentences):
        for start, end, (_, fact, slot, telling) in sentence.marks("slot"):
            told = found.setdefault(id(fact), Told(fact, telling, {}))
            told.spans.setdefault(slot, (number, start, end))
    return list(found.values())


def _ask(teller: Teller, chosen: Told, told: list[Told]) -> tuple[str, str] | None:
    """(slot, question), or None if the question drawn is not clear."""
    draw = teller.draw
    known = chosen.spans.keys()
    exact = [telling for telling in teller.exact(chosen.fact) if telling.needed <= known]
    if chosen.telling.loose or not exact:
        return None
    telling = draw.pick(exact)
    tellable = sorted(telling.slots & known)
    slots = [slot for slot in tellable if can_ask(chosen.fact, telling, slot)]
    if not slots:
        return None
    asked = draw.pick(slots)
    wanted = telling.needed | {asked} | {slot for slot in tellable if draw.chance(0.6)}
    if not _is_unique(chosen, told, wanted - {asked}):
        return None
    return asked, question_text(teller, chosen.fact, telling, asked, wanted)


def _is_unique(chosen: Told, told: list[Told], given: frozenset[str]) -> bool:
    """Whether no other fact of the paragraph fits everything that the question reveals."""
    return not any(
        other is not chosen
        and other.fact.relation is chosen.fact.relation
        and all(_same(other.fact.slots[slot], chosen.fact.slots[slot]) for slot in given)
        for other in told
    )


def _same(left: Filling, right: Filling) -> bool:
    return left is right or (isinstance(left, Value) and left == right)


def _answers(paragraph: Paragraph, chosen: Told, asked: str) -> list[dict[str, int | str]]:
    """The shortest answer first, then longer ones and other mentions of the name: three or four."""
    value = chosen.fact.slots[asked]
    span = chosen.spans[asked]
    if isinstance(value, Value):
        spans = [span, *_wider(paragraph.sentences[span[0]], span)]
    else:
        spans = _names(paragraph, value, span)
    unique = list(dict.fromkeys(spans))
    if not unique:
        return []
    return [paragraph.answer(span) for span in (unique + unique[:1] * 3)[: max(3, len(unique))][:4]]


def _wider(sentence: Sentence, span: Span) -> list[Span]:
    """The phrase with one more word, such as `in 1990` for `1990`."""
    number, start, end = span
    return [
        (number, first, last)
        for first, last, phrase in sentence.spans
        if phrase.cat in ("PP", "NP") and last == end and first == start - 1
    ][-1:]


def _names(paragraph: Paragraph, entity: Entity, span: Span) -> list[Span]:
    """Where the text names the entity: here if possible, then earlier, otherwise anywhere."""
    found: list[Span] = []
    for number, sentence in enumerate(paragraph.sentences):
        names = [(start, end) for start, end, _ in sentence.marks("entity")]
        for start, end, mark in sentence.marks("mention"):
            inner = [name for name in names if start <= name[0] and name[1] <= end]
            if mark[1] is not entity or not inner:
                continue
            first, last = inner[-1] if inner[-1][1] == end else inner[0]
            found.append((number, first, last))
            if end - start <= last - first + 3:  # with its article or noun, but no apposition
                found.append((number, start, end))
    before = [place for place in found if place[:2] <= (span[0], span[2])]

    def nearness(place: Span) -> tuple[bool, int, int]:
        return place[0] == span[0] and span[1] <= place[1] < span[2], place[0], place[1]

    return sorted(before, key=nearness, reverse=True) or found
