"""Referring expressions: names, descriptions and pronouns, given what the reader knows."""

from elmo_bench.mini.draw import Draw
from elmo_bench.mini.morphology import noun_token
from elmo_bench.mini.tree import COMMA, Phrase, token
from elmo_bench.mini.world import Entity

THE, A = token("the", "DT"), token("a", "DT")
FROM, OF, IN = token("from", "IN"), token("of", "IN"), token("in", "IN")
POSSESSIVE = token("'s", "POS")
PRONOUNS = {  # subject, object, possessive
    "f": (token("she", "PRP"), token("her", "PRP"), token("her", "PRP$")),
    "m": (token("he", "PRP"), token("him", "PRP"), token("his", "PRP$")),
    "n": (token("it", "PRP"), token("it", "PRP"), token("its", "PRP$")),
}
FIRST_PERSON = (token("I", "PRP", "I"), token("me", "PRP"), token("my", "PRP$"))
SECOND_PERSON = (token("you", "PRP"), token("you", "PRP"), token("your", "PRP$"))
SUBJECT, OBJECT, OWNER = 0, 1, 2


class Discourse:
    """What has been mentioned so far in one text, and the choice of the next expression.

    Args:
        draw: The source of random choices.
        names_only: Always refer by name, as questions and isolated facts do.
        short: Use short names, as in headlines.
    """

    def __init__(self, draw: Draw, names_only: bool = False, short: bool = False) -> None:
        self.short = short
        self.draw = draw
        self.names_only = names_only
        self.known: dict[str, Entity] = {}
        self.current: list[Entity] = []
        self.previous: list[Entity] = []
        self.last_subject: Entity | None = None
        self.subject: Entity | None = None
        self.groups: dict[str, Entity] = {}
        self.speaker: Entity | None = None
        self.listener: Entity | None = None
        self.plain = False  # introduce by name alone: the clause itself describes the entity
        self.apposed = False  # one apposition per sentence is enough

    def next_sentence(self) -> None:
        self.previous, self.current = self.current, []
        self.last_subject, self.subject = self.subject, None
        self.apposed = False

    def refer(self, entity: Entity, case: int) -> Phrase:
        """A noun phrase for the entity, marked as a mention of it."""
        phrase = self._expression(entity, case)
        if entity is self.speaker or entity is self.listener:
            return phrase.mark("mention", entity)  # `I` does not introduce anyone by name
        if not self.current and case == SUBJECT:
            self.subject = entity
        self.current.append(entity)
        self.known[entity.key] = entity
        return phrase.mark("mention", entity)

    def possessive(self, entity: Entity) -> Phrase:
        """The possessive pronoun of an entity just mentioned in the same clause."""
        if entity is self.speaker:
            return Phrase("NP", [FIRST_PERSON[OWNER]]).mark("mention", entity)
        return Phrase("NP", [PRONOUNS[entity.gender][OWNER]]).mark("mention", entity)

    def ours(self) -> Entity:
        """The group that a speaker means by `we`."""
        owner = self.speaker.key if self.speaker is not None else ""
        return self.groups.setdefault(owner, Entity(f"we-{owner}", "group", "", (), (), (), "p"))

    def _expression(self, entity: Entity, case: int) -> Phrase:
        if entity is self.speaker:
            return Phrase("NP", [FIRST_PERSON[case]], "i")
        if entity is self.listener:
            return Phrase("NP", [SECOND_PERSON[case]], "p")
        if self.names_only:
            return named(entity, self.short)
        if entity.key not in self.known:
            return self._introduction(entity)
        chance = self.draw.unit()
        recent = entity in self.previous or entity in self.current
        if recent and chance < 0.75 and self._is_clear(entity, case):
            return Phrase("NP", [PRONOUNS[entity.gender][case]])
        if chance < 0.9 or case == OWNER:
            return named(entity, short=self.draw.chance(0.9))
        return self._description(entity)

    def _is_clear(self, entity: Entity, case: int) -> bool:
        """Whether a pronoun would be understood: no rival, or the topic continues."""
        if entity.kind == "town" and case != SUBJECT:
            return False  # nobody grows up in it
        rivals = [
            other
            for other in (*self.previous, *self.current)
            if other is not entity and other.gender == entity.gender
        ]
        if not rivals:
            return True
        return (
            entity is self.last_subject
            and case == SUBJECT
            and not any(r in self.current for r in rivals)
        )

    def _introduction(self, entity: Entity) -> Phrase:
        chance = 1.0 if self.plain else self.draw.unit()
        if entity.label == "PERSON":
            if chance < 0.22:  # the striker Marta Novak, the Dunmere striker Marta Novak
                before = self._nation(entity) or self._employer(entity)
                noun = noun_token(entity.nouns[0], False)
                return Phrase("NP", [THE, *before, noun, name_phrase(entity)])
            if chance < 0.36 and entity.home is not None:
                return self._apposition(entity, entity.home, FROM)
            return named(entity)
        if chance < 0.15 and entity.home is not None and entity.kind in ("club", "company"):
            return self._apposition(entity, entity.home, FROM)
        if entity.kind == "town" and chance < 0.12 and entity.nation is not None:
            return self._apposition(entity, entity.nation, IN)
        if entity.kind == "town" and chance < 0.3:
            return Phrase("NP", [THE, noun_token(entity.nouns[0], False), OF, name_phrase(entity)])
        if entity.label == "WORK_OF_ART" and chance < 0.5:
            return Phrase("NP", [THE, noun_token(entity.nouns[0], False), name_phrase(entity)])
        return named(entity, short=entity.kind in ("club", "company") and chance < 0.6)

    def _apposition(self, entity: Entity, home: Entity, preposition: object) -> Phrase:
        """`Marta Novak , a striker from Dunmere ,`."""
        if self.apposed:
            return named(entity)
        self.apposed, plain, self.plain = True, self.plain, True
        place = Phrase("PP", [preposition, self.refer(home, OBJECT)])
        self.plain = plain
        nation = [] if home is entity.nation else self._nation(entity)
        inner = Phrase(
            "NP",
            [Phrase("NP", [A, *nation, noun_token(self.draw.pick(entity.nouns), False)]), place],
        )
        return Phrase("NP", [named(entity), COMMA, inner, COMMA])

    def _nation(self, entity: Entity) -> list[Phrase]:
        if entity.nation is None or entity.nation.adjective is None or not self.draw.chance(0.3):
            return []
        return [Phrase("", [entity.nation.adjective]).mark("entity", "NORP")]

    def _employer(self, entity: Entity) -> list[Phrase]:
        employer = entity.employer
        if employer is None or employer.kind == "party" or not self.draw.chance(0.4):
            return []
        self.known[employer.key] = employer
        self.current.append(employer)
        return [Phrase("NP", [name_phrase(employer, short=True)]).mark("mention", employer)]

    def _description(self, entity: Entity) -> Phrase:
        """`the striker`, if it fits no other known entity; otherwise the name."""
        noun = self.draw.pick(entity.nouns)
        if any(noun in other.nouns for other in self.known.values() if other is not entity):
            return named(entity, short=True)
        return Phrase("NP", [THE, noun_token(noun, False)])


def name_phrase(entity: Entity, short: bool = False) -> Phrase:
    """The bare name, which is what an entity recognizer should find."""
    return Phrase("", list(entity.short if short else entity.full)).mark("entity", entity.label)


def named(entity: Entity, short: bool = False) -> Phrase:
    """The name as a noun phrase, with the article that goes with it."""
    name = name_phrase(entity, short)
    return Phrase("NP", [THE, name] if entity.article else [name])
