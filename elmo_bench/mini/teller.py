"""Express facts as clauses, in the names and words that a part of the data may use."""

from typing import Literal

from elmo_bench.mini.draw import Draw
from elmo_bench.mini.facts import Fact, FactMaker, Filling
from elmo_bench.mini.grammar import Argument, Clause
from elmo_bench.mini.morphology import noun_token
from elmo_bench.mini.reference import OBJECT, SUBJECT, Discourse
from elmo_bench.mini.relations import EVERY_RELATION
from elmo_bench.mini.tellings import Filler, Relation, Role, Telling, members
from elmo_bench.mini.tree import Phrase, Token
from elmo_bench.mini.world import Entity, World

Part = Literal["train", "dev", "test", "corpus"]
FRESH = 0.45  # probability that dev and test draw a held-out entity


class Teller:
    """Draws facts about the world and expresses them, for one part of the data.

    Training files never use the held-out names and words, dev and test prefer held-out names,
    the corpus uses all.
    """

    def __init__(self, world: World, draw: Draw, part: Part) -> None:
        self.world = world
        self.draw = draw
        self.part = part
        self.training = part == "train"
        preference = FRESH if part in ("dev", "test") else 0.0
        pools = world.known if self.training else world.pools
        self.maker = FactMaker(draw, pools, world.held, preference, self.training)
        self.entity = self.maker.entity
        self.tellings = {
            name: self._permitted(relation) for name, relation in EVERY_RELATION.items()
        }
        self.told: Telling | None = None  # the telling of the latest clause

    def _permitted(self, relation: Relation) -> tuple[Telling, ...]:
        kept = tuple(telling for telling in relation.tellings if not telling.held)
        return kept if self.training and kept else relation.tellings

    def exact(self, fact: Fact) -> list[Telling]:
        """The tellings that say neither more nor less about their slots than the others."""
        return [telling for telling in self.tellings[fact.relation.name] if not telling.loose]

    def fact(self, name: str, **given: Filling) -> Fact:
        return self.maker.fact(name, given)

    def happening(self, name: str, **given: Filling) -> tuple[Fact, Telling]:
        """A fact of a relation whose tellings have little in common, and the telling it is for."""
        telling = self.draw.pick(self.tellings[name])
        fitting = {
            slot: value for slot, value in given.items() if slot in EVERY_RELATION[name].slots
        }
        return self.maker.fact(name, fitting, telling), telling

    def lasting(self, entity: Entity) -> list[Fact]:
        """The lasting facts about an entity that this part may tell."""
        facts = self.world.facts.get(entity.key, [])
        if not self.training:
            return facts
        return [fact for fact in facts if not any(other.held for other in fact.entities())]

    def clause(
        self,
        fact: Fact,
        discourse: Discourse,
        telling: Telling | None = None,
        wanted: frozenset[str] | None = None,
        passive: bool | None = None,
    ) -> Clause:
        """The fact as a clause, in one of its tellings, with the `wanted` slots it can hold."""
        telling = telling or self.draw.pick(self.tellings[fact.relation.name])
        self.told = telling
        discourse.plain = telling.lemma == "be" or fact.relation.settled
        roles = [role for role in telling.roles if not role.optional or self._wants(role, wanted)]
        if telling.voice == "passive":
            passive = True
        elif passive is None:
            passive = telling.can_be_passive() and self._prefers_passive(telling, fact, discourse)
        order = list(range(len(roles)))
        if passive and telling.voice == "both":
            order = [1, *order[2:], 0]  # create mentions in reading order
        built = {}
        for place, number in enumerate(order):
            case = OBJECT if place else SUBJECT
            built[number] = self._argument(roles[number], fact, discourse, case)
        subject, *others = (built[number] for number in range(len(roles)))
        objects = [item for item in others if not item.role.startswith("ARGM")]
        adjuncts = [item for item in others if item.role.startswith("ARGM")]
        if telling.voice == "passive":  # no agent: the subject is the object of the verb
            objects.insert(0, subject)
        tense = "present" if telling.present else "past"
        clause = Clause(telling.lemma, telling.frameset, subject, objects, adjuncts)
        clause.particle, clause.tense, clause.passive = telling.particle, tense, passive
        return clause

    def _wants(self, role: Role, wanted: frozenset[str] | None) -> bool:
        if wanted is None:
            return self.draw.chance(0.6)
        return any(slot in wanted for slot in role.filler.slots)

    def _prefers_passive(self, telling: Telling, fact: Fact, discourse: Discourse) -> bool:
        """Whether the object is the better subject: it is the topic, the agent is no pronoun."""
        agent, patient = (fact.slots.get(role.filler.slot) for role in telling.roles[:2])
        if agent is not None and (agent in discourse.previous or agent in discourse.current):
            return False
        topic = patient is not None and patient is discourse.last_subject
        return self.draw.chance(0.75 if topic else 0.25)

    def _argument(self, role: Role, fact: Fact, discourse: Discourse, case: int) -> Argument:
        filler = role.filler
        if filler.slot:
            phrase, opening = self._slot(fact, filler.slot, discourse, case)
            if opening:
                phrase = Phrase("PP", [*opening, phrase])
            return Argument(role.label, phrase, role.preposition, filler.slot)
        kids = self._text(filler, fact, discourse)
        phrase = Phrase(filler.category, kids, "p" if filler.plural else "s")
        return Argument(role.label, phrase, role.preposition)

    def _text(self, filler: Filler, fact: Fact, discourse: Discourse) -> list[Phrase | Token]:
        """Tagged text with its holes filled."""
        kids: list[Phrase | Token] = []
        for part in filler.parts:
            if isinstance(part, Token):
                kids.append(part)
                if part.word in ("we", "our"):
                    kids[-1] = Phrase("NP", [part]).mark("mention", discourse.ours())
            elif part.kind == "class":
                if part.name not in fact.nouns:
                    fact.nouns[part.name] = self.draw.pick(members(part.name, self.training))
                kids.append(fact.nouns[part.name])
            elif part.kind == "slot":
                kids.append(self._slot(fact, part.name, discourse, OBJECT)[0])
            else:
                owner = fact.slots[part.name]
                assert isinstance(owner, Entity)
                noun = part.kind == "noun"
                kids.append(
                    noun_token(owner.nouns[0], False) if noun else discourse.possessive(owner)
                )
        return kids

    def _slot(
        self, fact: Fact, slot: str, discourse: Discourse, case: int
    ) -> tuple[Phrase, tuple[Token, ...]]:
        value = fact.slots[slot]
        if isinstance(value, Entity):
            return discourse.refer(value, case).mark("slot", fact, slot, self.told), ()
        return value.phrase().mark("slot", fact, slot, self.told), value.opening
