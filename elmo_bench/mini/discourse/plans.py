"""Discourse plans: which facts a text tells, in which order, and who speaks."""

from dataclasses import dataclass, field

from elmo_bench.mini.discourse.compose import Composer
from elmo_bench.mini.teller import Fact, Teller
from elmo_bench.mini.tree import Sentence
from elmo_bench.mini.world import Entity


@dataclass(slots=True)
class Text:
    """A text with its genre, in OntoNotes' letters, and its field."""

    genre: str
    topic: str
    sentences: list[Sentence] = field(default_factory=list)


# field: slot kinds of the people who speak in it
SPEAKERS = {
    "sport": ("trainer", "footballer"),
    "business": ("executive",),
    "politics": ("politician",),
    "arts": ("writer", "filmmaker", "musician", "actor"),
}
# What a news story can open with and go on with, by field.
NEWS = {
    "sport": (
        "beat",
        "transfer",
        "goal",
        "injury",
        "sack",
        "praise",
        "cupwin",
        "reachfinal",
        "captain",
    ),
    "business": (
        "takeover",
        "appoint",
        "resign",
        "profit",
        "open",
        "close",
        "sue",
        "supply",
        "walkout",
        "employ",
        "make",
    ),
    "politics": (
        "elect",
        "nominate",
        "defect",
        "visit",
        "meet",
        "criticise",
        "support",
        "oppose",
        "build",
        "treaty",
        "flood",
        "disaster",
    ),
    "arts": ("write", "direct", "star", "record", "prize", "concert", "reviewed", "setin"),
}
# What can be told of an entity, by kind; the first ones come first.
LIVES = ("born", "study", "move", "marry", "live", "climb")
PROFILES = {
    "footballer": ("born", "transfer", "captain", "goal", "injury", "marry", "live", "transfer"),
    "trainer": ("born", "train", "praise", "marry", "move"),
    "executive": ("born", "study", "found", "appoint", "resign", "marry"),
    "politician": ("born", "study", "elect", "nominate", "visit", "meet", "support", "oppose"),
    "writer": ("born", "study", "write", "prize", "move", "write", "marry"),
    "filmmaker": ("born", "direct", "prize", "move", "marry", "direct"),
    "actor": ("born", "star", "prize", "marry", "star", "live"),
    "musician": ("born", "study", "record", "concert", "prize", "record"),
    "scientist": ("born", "study", "teach", "discover", "move", "climb", "die"),
    "town": ("country", "river", "population", "townfound", "famous", "hosts", "disaster"),
    "club": ("ground", "clubfound", "cupwin", "beat", "reachfinal", "sack"),
    "company": ("base", "found", "make", "employ", "takeover", "open", "supply", "profit"),
    "novel": ("write", "setin", "prize", "reviewed"),
    "film": ("direct", "star", "setin", "prize", "reviewed"),
    "album": ("record", "prize", "reviewed"),
}


def fact_about(teller: Teller, name: str, entity: Entity, **given: Entity) -> Fact:
    """A fact of the relation in which the entity plays the first part that it can."""
    from elmo_bench.mini.tellings import EVERY_RELATION
    from elmo_bench.mini.world import GROUPS

    for slot, kind in EVERY_RELATION[name].slots.items():
        if (kind == entity.kind or entity.kind in GROUPS.get(kind, ())) and slot not in given:
            return teller.fact(name, **{slot: entity}, **given)
    return teller.fact(name, **given)


def profile(teller: Teller, entity: Entity, length: int) -> Text:
    """An encyclopedic text about one entity, with asides about those it meets."""
    composer = Composer(teller)
    draw = teller.draw
    names = PROFILES[entity.kind]
    chosen = sorted(draw.some(range(len(names)), length))
    facts = [fact_about(teller, names[place], entity) for place in chosen]
    while facts:
        fact = facts.pop(0)
        chance = draw.unit()
        if facts and chance < 0.25:
            composer.say_two(fact, facts.pop(0))
        elif chance < 0.45:
            composer.say_two(fact, aside(teller, fact, entity))
        else:
            composer.say(fact, hedge=False)
    return Text("mz", "profile", composer.sentences)


def aside(teller: Teller, fact: Fact, topic: Entity) -> Fact:
    """Something about another participant of the fact."""
    others = [
        value
        for value in fact.slots.values()
        if isinstance(value, Entity) and value is not topic and value.kind in PROFILES
    ]
    if not others:
        return fact_about(teller, teller.draw.pick(PROFILES[topic.kind]), topic)
    other = teller.draw.pick(others)
    return fact_about(teller, teller.draw.pick(PROFILES[other.kind]), other)


def news(teller: Teller, topic: str, length: int) -> Text:
    """A story that starts with an event and follows its participants."""
    composer = Composer(teller)
    draw = teller.draw
    facts = [teller.fact(draw.pick(NEWS[topic]))]
    cast = [value for value in facts[0].slots.values() if isinstance(value, Entity)]
    speakers = [entity for entity in cast if entity.label == "PERSON"] or [
        teller.entity(draw.pick(SPEAKERS[topic]))
    ]
    composer.say(facts[0])
    while len(composer.sentences) < length:
        entity = draw.pick(cast)
        fact = fact_about(teller, draw.pick(NEWS[topic]), entity)
        chance = draw.unit()
        speaker = draw.pick(speakers)
        if chance < 0.2:
            remarks = [fact_about(teller, topic, speaker) for _ in range(draw.between(1, 2))]
            composer.quote(speaker, remarks)
        elif chance < 0.32:
            composer.report(speaker, fact)
        elif chance < 0.44:
            composer.wish(fact)
        elif chance < 0.62 and entity.kind in PROFILES:
            composer.say_two(fact, fact_about(teller, draw.pick(PROFILES[entity.kind]), entity))
        elif chance < 0.72:
            composer.say(teller.fact("happening", **_happening(entity)))
        else:
            composer.say(fact)
        cast += [
            value for value in fact.slots.values() if isinstance(value, Entity) and len(cast) < 5
        ]
    return Text("nw", topic, composer.sentences)


def _happening(entity: Entity) -> dict[str, Entity]:
    kinds = {"town": "town", "club": "club", "company": "company", "river": "river"}
    slot = "person" if entity.label == "PERSON" else kinds.get(entity.kind, "")
    return {slot: entity} if slot else {}
