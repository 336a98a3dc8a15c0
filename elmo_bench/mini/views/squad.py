"""Questions about paragraphs, whose answers are the spans that the facts left in the text."""

import json
from dataclasses import dataclass
from typing import Any

from elmo_bench.mini.discourse.plans import PROFILED, profile
from elmo_bench.mini.facts import Fact
from elmo_bench.mini.reference import Discourse
from elmo_bench.mini.subordination import question
from elmo_bench.mini.teller import Part, Teller
from elmo_bench.mini.tellings import Role, Telling
from elmo_bench.mini.tree import Phrase, Sentence, Token, plain_text, token
from elmo_bench.mini.values import Value
from elmo_bench.mini.world import Entity

QUESTIONS = 5  # at most, about one paragraph
WHO, WHAT, WHEN, WHERE = (
    token("who", "WP"),
    token("what", "WP"),
    token("when", "WRB"),
    token("where", "WRB"),
)
HOW, MANY, MUCH, WHICH = (
    token("how", "WRB"),
    token("many", "JJ"),
    token("much", "JJ"),
    token("which", "WDT"),
)


@dataclass
class Paragraph:
    """A text as one string, with the character span of every token of every sentence."""

    sentences: list[Sentence]

    def __post_init__(self) -> None:
        tokens = [item for sentence in self.sentences for item in sentence.tokens]
        self.text, self.places = plain_text(tokens)
        self.starts = [0]
        for sentence in self.sentences:
            self.starts.append(self.starts[-1] + len(sentence.tokens))

    def answer(self, number: int, start: int, end: int) -> dict[str, int | str]:
        first, last = (
            self.places[self.starts[number] + start][0],
            self.places[self.starts[number] + end - 1][1],
        )
        return {"answer_start": first, "text": self.text[first:last]}


@dataclass
class Told:
    """A fact of the paragraph: how it was told, and where each slot stands."""

    fact: Fact
    telling: Telling
    spans: dict[str, tuple[int, int, int]]  # slot: sentence, start, end


def squad_json(teller: Teller, part: Part, count: int) -> str:
    """A SQuAD 1.1 file of `count` questions; dev and test have several reference answers."""
    articles: list[dict[str, Any]] = []
    done = 0
    while done < count:
        entity = teller.entity(teller.draw.pick(PROFILED))
        paragraph = Paragraph(profile(teller, entity, 7).sentences)
        told = facts_told(paragraph.sentences)
        rows: list[dict[str, Any]] = []
        for number in range(min(QUESTIONS, count - done)):
            row = _ask(teller, paragraph, told, several=part != "train")
            if row and row["question"] not in [other["question"] for other in rows]:
                rows.append({"id": f"{part}-{len(articles):04d}-{number}", **row})
        if len(paragraph.sentences) >= 3 and rows:
            articles.append(
                {
                    "title": entity.name.replace(" ", "_"),
                    "paragraphs": [{"context": paragraph.text, "qas": rows}],
                }
            )
            done += len(rows)
    return json.dumps({"data": articles, "version": "1.1"}, ensure_ascii=False)


def facts_told(sentences: list[Sentence]) -> list[Told]:
    found: dict[int, Told] = {}
    for number, sentence in enumerate(sentences):
        for start, end, (_, fact, slot, telling) in sentence.marks("slot"):
            told = found.setdefault(id(fact), Told(fact, telling, {}))
            told.spans.setdefault(slot, (number, start, end))
    return list(found.values())


def _ask(
    teller: Teller, paragraph: Paragraph, told: list[Told], several: bool
) -> dict[str, Any] | None:
    """A question with its answers, or None when the draw gives none that is clear."""
    draw = teller.draw
    chosen = draw.pick(told)
    exact = [
        telling for telling in teller.exact(chosen.fact) if telling.needed <= chosen.spans.keys()
    ]
    if chosen.telling.loose or not exact:
        return None
    telling = draw.pick(exact)
    slots = [
        slot
        for slot in sorted(telling.slots & chosen.spans.keys())
        if _wh(chosen.fact, telling, slot, teller)
    ]
    if not slots:
        return None
    asked = draw.pick(slots)
    known = sorted(telling.slots & chosen.spans.keys())
    wanted = telling.needed | {asked} | {slot for slot in known if draw.chance(0.6)}
    if not _is_unique(chosen, told, wanted - {asked}):
        return None
    references = _answers(paragraph, chosen, asked)
    if not references:
        return None
    text = _question(teller, chosen.fact, telling, asked, wanted)
    return {"question": text, "answers": references if several else references[:1]}


def _is_unique(chosen: Told, told: list[Told], known: frozenset[str]) -> bool:
    """Whether no other fact of the paragraph fits all that the question gives away."""
    return not any(
        other is not chosen
        and other.fact.relation is chosen.fact.relation
        and all(_same(other.fact.slots[slot], chosen.fact.slots[slot]) for slot in known)
        for other in told
    )


def _same(left: Entity | Value, right: Entity | Value) -> bool:
    return left is right or (isinstance(left, Value) and isinstance(right, Value) and left == right)


def _role_of(telling: Telling, slot: str) -> Role:
    return next(role for role in telling.roles if slot in role.filler.slots)


def _wh(fact: Fact, telling: Telling, slot: str, teller: Teller) -> Phrase | None:
    """The question word for a slot, or None when it cannot be asked for in this telling."""
    value, role = fact.slots[slot], _role_of(telling, slot)
    if not role.filler.slot:
        parts = role.filler.parts
        if (
            isinstance(value, Value)
            and value.kind == "count"
            and len(parts) == 2
            and isinstance(parts[1], Token)
        ):
            return Phrase("WHNP", [HOW, MANY, parts[1]], "p")
        return None
    if isinstance(value, Value):
        plain: dict[str, list[Token]] = {
            "date": [WHEN],
            "minute": [WHEN],
            "product": [WHAT],
            "discovery": [WHAT],
            "subject": [WHAT],
        }
        plain |= {"money": [HOW, MUCH], "instrument": [WHICH, token("instrument", "NN")]}
        words = plain.get(value.kind)
        return Phrase("WHNP", list(words)) if words else None
    if role.label == "ARGM-LOC" or (role.preposition == "in" and value.kind in ("town", "country")):
        return Phrase("WHADVP", [WHERE])
    if value.label == "PERSON" and teller.draw.chance(0.8):
        return Phrase("WHNP", [WHO])
    return Phrase(
        "WHNP",
        [WHICH if teller.draw.chance(0.6) else token("what", "WDT"), token(value.nouns[0], "NN")],
    )


def _question(
    teller: Teller, fact: Fact, telling: Telling, asked: str, wanted: frozenset[str]
) -> str:
    draw = teller.draw
    passive = draw.chance(0.4) and telling.can_be_passive()
    clause = teller.clause(fact, Discourse(draw, names_only=True), telling, wanted, passive)
    wh = _wh(fact, telling, asked, teller)
    assert wh is not None
    for argument in (clause.subject, *clause.objects, *clause.adjuncts):
        if argument.slot == asked or any(
            mark[:1] == ("slot",) and mark[2] == asked
            for kid in argument.phrase.kids
            if isinstance(kid, Phrase)
            for mark in kid.marks
        ):
            argument.slot = asked
            if wh.kids[0] in (WHERE, WHEN):
                argument.preposition = ""
    tree = question(clause, asked, wh, pied_piping=draw.chance(0.5))
    return plain_text(Sentence(tree).tokens)[0]


def _answers(paragraph: Paragraph, chosen: Told, asked: str) -> list[dict[str, int | str]]:
    """The shortest answer first, then longer ones and other places of the same name."""
    value = chosen.fact.slots[asked]
    number, start, end = chosen.spans[asked]
    if isinstance(value, Value):
        wider = [
            (s, e)
            for s, e, phrase in paragraph.sentences[number].spans
            if phrase.cat in ("PP", "NP") and s <= start and end <= e and e - s == end - start + 1
        ]
        spans = [(number, start, end), *[(number, s, e) for s, e in wider[-1:]]]
    else:
        spans = _names(paragraph, value, number, start, end)
    references = [paragraph.answer(*span) for span in spans]
    unique = [
        reference
        for place, reference in enumerate(references)
        if reference not in references[:place]
    ]
    return (unique + unique[:1] * 3)[: max(3, len(unique))][:4] if unique else []


def _names(
    paragraph: Paragraph, entity: Entity, number: int, start: int, end: int
) -> list[tuple[int, int, int]]:
    """Where the text names the entity: here if it does, then before, then anywhere."""
    found = []
    for place, sentence in enumerate(paragraph.sentences):
        mentions = [(s, e) for s, e, mark in sentence.marks("mention") if mark[1] is entity]
        named = [(s, e) for s, e, mark in sentence.marks("entity")]
        for s, e in mentions:
            inner = [span for span in named if s <= span[0] and span[1] <= e]
            if inner:
                found.append((place, *inner[0]))
                whole = (place, s, e)
                if e - s <= inner[0][1] - inner[0][0] + 3 and whole not in found:
                    found.append(whole)
    before = [span for span in found if (span[0], span[1]) <= (number, end)]
    nearest = sorted(
        before,
        key=lambda span: (span[0] == number and start <= span[1] < end, span[0], span[1]),
        reverse=True,
    )
    return nearest or found
