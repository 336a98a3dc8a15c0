"""Bulletins: results and standings in the style of news agencies, almost only names."""

from elmo_bench.mini.discourse.plans import EVENTS, TOPICS, Text
from elmo_bench.mini.grammar import statement
from elmo_bench.mini.reference import Discourse, name_phrase
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tree import Phrase, Sentence, Token, token
from elmo_bench.mini.values import MAKERS
from elmo_bench.mini.world import Entity

COLON, DASH = token(":", ":"), token("-", ":")
LEFT, RIGHT = token("-LRB-", "-LRB-"), token("-RRB-", "-RRB-")
IN, ON, AFTER, OF, THE = (
    token(word, pos)
    for word, pos in (("in", "IN"), ("on", "IN"), ("after", "IN"), ("of", "IN"), ("the", "DT"))
)
RESULTS, STANDINGS = token("results", "NNS", "result"), token("standings", "NNS", "standing")


def bulletin(teller: Teller, length: int) -> Text:
    """A heading and one line per result."""
    kind = teller.draw.pick(("football", "race", "vote"))
    lines = [_heading(teller, kind)]
    while len(lines) < length:
        lines.append(_line(teller, kind, len(lines)))
    return Text("nw", [Sentence(Phrase("TOP", [Phrase("FRAG", line)])) for line in lines])


def headlines(teller: Teller, length: int) -> Text:
    """News of one line each: short names, present tense, terse style."""
    sentences: list[Sentence] = []
    while len(sentences) < length:
        topic = teller.draw.pick(TOPICS)
        fact = teller.fact(teller.draw.pick(EVENTS[topic]))
        discourse = Discourse(teller.draw, names_only=True, short=True)
        clause = teller.clause(fact, discourse, wanted=frozenset(fact.slots) - {"date"})
        clause.tense, clause.passive = "present", clause.passive and teller.draw.chance(0.5)
        sentences.append(Sentence(Phrase("TOP", [statement(clause)])))
    return Text("nw", sentences)


def _heading(teller: Teller, kind: str) -> list[Phrase | Token]:
    date = MAKERS["date"](teller.draw, teller.training)
    when: list[Phrase | Token] = [*date.opening, date.phrase()]
    if kind == "football":
        return [RESULTS, OF, token("matches", "NNS", "match", "match.game"), *when, COLON]
    if kind == "race":
        event = teller.entity("event")
        return [STANDINGS, AFTER, THE, name_phrase(event), *when, COLON]
    return [
        RESULTS,
        OF,
        THE,
        token("vote", "NN"),
        IN,
        name_phrase(teller.entity("town")),
        *when,
        COLON,
    ]


def _line(teller: Teller, kind: str, place: int) -> list[Phrase | Token]:
    draw = teller.draw
    if kind == "football":
        home, guest = teller.entity("club"), teller.entity("club")
        while guest.short == home.short:
            guest = teller.entity("club")
        return [
            _name(teller, home),
            _number(draw.between(0, 4)),
            _name(teller, guest),
            _number(draw.between(0, 4)),
        ]
    person = teller.entity("person" if kind == "race" else "politician")
    if kind == "race":
        owner: Entity = person.nation or person
        time = token(f"{draw.between(1, 4)}:{draw.between(10, 59)}.{draw.between(0, 9)}", "CD")
        return [_number(place), name_phrase(person), LEFT, name_phrase(owner), RIGHT, time]
    party = person.employer or teller.entity("party")
    votes = MAKERS["count"](draw, teller.training)
    return [
        _name(teller, person),
        LEFT,
        name_phrase(party),
        RIGHT,
        votes.phrase(),
        token("votes", "NNS", "vote"),
    ]


def _name(teller: Teller, entity: Entity) -> Phrase:
    return name_phrase(entity, short=teller.draw.chance(0.6))


def _number(number: int) -> Token:
    return token(str(number), "CD")
