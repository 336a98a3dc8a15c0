"""Discourse plans: which facts a text tells, in which order, and who speaks."""

from dataclasses import dataclass, field
from functools import cache

from elmo_bench.mini.discourse.compose import Composer
from elmo_bench.mini.discourse.speech import quote, report, wish
from elmo_bench.mini.discourse.together import say_together
from elmo_bench.mini.facts import Fact
from elmo_bench.mini.lexicon import table, words
from elmo_bench.mini.relations import EVERY_RELATION
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tree import Sentence
from elmo_bench.mini.world import GROUPS, Entity


@dataclass(slots=True)
class Text:
    """A text with its genre, in OntoNotes' letters."""

    genre: str
    sentences: list[Sentence] = field(default_factory=list)


SPEAKERS = table("plans", "speakers")
EVENTS = table("plans", "events")
TOPICS = tuple(EVENTS)
PROFILED = words("plans", "profiled")


@cache
def openings(kind: str, topic: str) -> tuple[tuple[str, str], ...]:
    """(relation, slot) of the events of a field in which an entity of the kind can take part."""
    return tuple(
        (name, slot)
        for name in EVENTS[topic]
        for slot, wanted in EVERY_RELATION[name].slots.items()
        if wanted == kind or kind in GROUPS.get(wanted, ()) or _employs(kind, name, wanted)
    )


def _employs(kind: str, name: str, wanted: str) -> bool:
    workers = {
        "club": ("footballer", "trainer"),
        "company": ("executive",),
        "party": ("politician",),
    }
    first = next(iter(EVERY_RELATION[name].slots.values()))
    return wanted == "employer" and first in workers.get(kind, ())


def event_about(teller: Teller, topic: str, entity: Entity) -> Fact:
    """An event that involves the entity if possible, or any other event of the field."""
    possible = openings(entity.kind, topic)
    if not possible:
        return teller.fact(teller.draw.pick(EVENTS[topic]))
    name, slot = teller.draw.pick(possible)
    return teller.fact(name, **{slot: entity})


def topic_of(entity: Entity) -> str:
    """The field in which an entity makes news."""
    if entity.kind == "town":
        return "politics"
    return next(topic for topic in TOPICS if openings(entity.kind, topic))


def profile(teller: Teller, entity: Entity, length: int) -> Text:
    """An encyclopedic text about one entity, with asides about related entities."""
    composer = Composer(teller)
    draw = teller.draw
    lasting = teller.lasting(entity)
    facts = [fact for fact in lasting if fact.subject() is entity]
    others = [fact for fact in lasting if fact.subject() is not entity]
    facts += draw.some(others, 3 if entity.label == "PERSON" else 1)
    topic = topic_of(entity)
    for name, slot in draw.some(openings(entity.kind, topic), max(0, length - len(facts))):
        if name not in [fact.relation.name for fact in facts]:
            facts.append(teller.fact(name, **{slot: entity}))
    kept = sorted(draw.some(range(len(facts)), length))
    queue = [facts[place] for place in kept]
    while queue:
        fact = queue.pop(0)
        chance = draw.unit()
        if queue and chance < 0.4 and queue[0].relation is not fact.relation:
            composer.say_two(fact, queue.pop(0))
        elif chance < 0.7 and (extra := aside(teller, fact, entity, facts)):
            facts.append(extra)
            composer.say_two(fact, extra)
        else:
            composer.say(fact, hedge=False)
    return Text("mz", composer.sentences)


def aside(teller: Teller, fact: Fact, topic: Entity, told: list[Fact]) -> Fact | None:
    """A lasting fact about another participant, or None if there is nothing new to tell."""
    others = [entity for entity in fact.entities() if entity is not topic]
    if not others:
        return None
    other = teller.draw.pick(others)
    known = [item for item in teller.lasting(other) if item not in told and item.subject() is other]
    return teller.draw.pick(known) if known else None


def news(teller: Teller, topic: str, length: int) -> Text:
    """A story that starts with an event and follows its participants."""
    composer = Composer(teller)
    draw = teller.draw
    first = teller.fact(draw.pick(EVENTS[topic]))
    cast = first.entities()
    told = [first]
    people = [entity for entity in cast if entity.label == "PERSON"]
    speaker = draw.pick(people) if people else teller.entity(draw.pick(SPEAKERS[topic]))
    composer.say(first)
    while len(composer.sentences) < length:
        entity = draw.pick(cast)
        chance = draw.unit()
        if chance < 0.2:
            first_remark, other = (teller.happening(topic, speaker=speaker) for _ in range(2))
            alone = other[1] is first_remark[1] or draw.chance(0.4)
            quote(composer, speaker, [first_remark] if alone else [first_remark, other])
        elif chance < 0.27 and entity.label == "PERSON":
            friend = teller.entity(entity.kind)
            shared = [event_about(teller, topic, entity) for _ in range(3)]
            if friend.short != entity.short:
                say_together(composer, entity, friend, shared)
        elif chance < 0.34:
            fact, telling = teller.happening("happening", **happening_slots(entity))
            composer.say(fact, telling=telling)
        else:
            fact = event_about(teller, topic, entity)
            told.append(fact)
            _tell(composer, fact, entity, speaker, told)
            cast += [other for other in fact.entities() if other not in cast and len(cast) < 6]
    return Text("nw", composer.sentences)


def _tell(
    composer: Composer, fact: Fact, entity: Entity, speaker: Entity, told: list[Fact]
) -> None:
    """One more event of a story: reported, wished for, with a background, or plain."""
    chance = composer.draw.unit()
    if chance < 0.18:
        report(composer, speaker, fact)
    elif chance < 0.34:
        wish(composer, fact, entity)
    elif chance < 0.72 and (background := aside(composer.teller, fact, speaker, told)):
        told.append(background)
        composer.say_two(fact, background)
    else:
        composer.say(fact)


def chronicle(teller: Teller, length: int) -> Text:
    """Small events of one place and a few people."""
    composer = Composer(teller)
    town, company, club = (teller.entity(kind) for kind in ("town", "company", "club"))
    people = [teller.entity("person"), teller.entity("person")]
    while len(composer.sentences) < length:
        given = {"town": town, "company": company, "club": club, "person": teller.draw.pick(people)}
        fact, telling = teller.happening("happening", **given)
        composer.say(fact, telling=telling)
    return Text("wb", composer.sentences)


def happening_slots(entity: Entity) -> dict[str, Entity]:
    """The slot of a happening that the entity can fill."""
    if entity.label == "PERSON":
        return {"musician" if entity.kind == "musician" else "person": entity}
    if entity.kind in GROUPS["work"]:
        return {"work": entity}
    return {entity.kind: entity} if entity.kind in ("town", "club", "company", "river") else {}
