"""Facts, and their telling as clauses in the words that a split may use."""

from dataclasses import dataclass
from typing import Literal

from elmo_bench.mini.draw import Draw
from elmo_bench.mini.grammar import Argument, Clause
from elmo_bench.mini.reference import OBJECT, SUBJECT, Discourse
from elmo_bench.mini.tellings import EVERY_RELATION, Relation, Role, Telling, members
from elmo_bench.mini.tree import Phrase, Token
from elmo_bench.mini.values import MAKERS, Value
from elmo_bench.mini.world import Entity, World

Part = Literal["train", "dev", "test", "corpus"]
FRESH = 0.45  # how often dev and test ask for an entity whose name training never saw


@dataclass(slots=True, eq=False)
class Fact:
    """A relation with its slots filled."""

    relation: Relation
    slots: dict[str, Entity | Value]


class Teller:
    """Draws facts about the world and tells them, for one part of the data.

    Training files never use the held names and words, dev and test prefer held names, the corpus
    uses all.
    """

    def __init__(self, world: World, draw: Draw, part: Part) -> None:
        self.world = world
        self.told: Telling | None = None  # the telling of the clause being built
        self.draw = draw
        self.training = part == "train"
        self.fresh = FRESH if part in ("dev", "test") else 0.0
        self.pools = {
            kind: [entity for entity in pool if not (self.training and entity.held)]
            for kind, pool in world.pools.items()
        }
        self.held = {
            kind: [entity for entity in pool if entity.held] for kind, pool in world.pools.items()
        }
        self.tellings: dict[str, tuple[Telling, ...]] = {
            name: self._permitted(relation) for name, relation in EVERY_RELATION.items()
        }

    def _permitted(self, relation: Relation) -> tuple[Telling, ...]:
        kept = tuple(telling for telling in relation.tellings if not telling.held)
        return kept if self.training and kept else relation.tellings

    def exact(self, fact: "Fact") -> list[Telling]:
        """The tellings that say neither more nor less of their slots than the others do."""
        return [telling for telling in self.tellings[fact.relation.name] if not telling.loose]

    def entity(self, kind: str) -> Entity:
        pool = self.held[kind] if self.fresh and self.draw.chance(self.fresh) else self.pools[kind]
        return self.draw.pick(pool)

    def fact(self, name: str, **given: "Entity | Value") -> Fact:
        """A fact of the relation; slots that are not given are drawn, no entity twice."""
        relation = EVERY_RELATION[name]
        slots: dict[str, Entity | Value] = {}
        for slot, kind in relation.slots.items():
            if kind in ("home", "nation"):  # settled when the world was made
                slots[slot] = getattr(next(iter(slots.values())), kind)
            else:
                slots[slot] = given[slot] if slot in given else self._fill(kind, slots, given)
        return Fact(relation, slots)

    def _fill(
        self, kind: str, slots: dict[str, Entity | Value], given: dict[str, Entity | Value]
    ) -> Entity | Value:
        if kind in MAKERS:
            return MAKERS[kind](self.draw, self.training)
        for _ in range(8):
            entity = self.entity(kind)
            if not any(
                entity is other or (isinstance(other, Entity) and entity.short == other.short)
                for other in (*slots.values(), *given.values())
            ):
                break
        return entity

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
        roles = [role for role in telling.roles if not role.optional or self._wanted(role, wanted)]
        if telling.voice == "passive":
            passive = True
        elif passive is None:
            passive = self.passivable(telling) and self._prefers_passive(telling, fact, discourse)
        built: dict[int, Argument] = {}
        order = list(range(len(roles)))
        if passive and telling.voice == "both":
            order = [1, *range(2, len(roles)), 0]  # mentions are made in the order they are read
        for place, number in enumerate(order):
            case = SUBJECT if place == 0 else OBJECT
            built[number] = self._argument(roles[number], fact, discourse, case)
        arguments = [built[number] for number in range(len(roles))]
        objects = [item for item in arguments[1:] if not item.role.startswith("ARGM")]
        adjuncts = [item for item in arguments[1:] if item.role.startswith("ARGM")]
        clause = Clause(
            telling.lemma,
            telling.frameset,
            arguments[0],
            objects,
            adjuncts,
            telling.particle,
            "present" if telling.present else "past",
        )
        if telling.voice == "passive":  # has no agent: the subject is the object of the active verb
            clause.objects.insert(0, arguments[0])
        clause.passive = passive
        return clause

    def _wanted(self, role: Role, wanted: frozenset[str] | None) -> bool:
        if wanted is None:
            return self.draw.chance(0.5)
        return any(slot in wanted for slot in role.slots())

    def _prefers_passive(self, telling: Telling, fact: Fact, discourse: Discourse) -> bool:
        """Whether the object is the better subject: it is the topic, the agent is no pronoun."""
        agent, patient = (fact.slots.get(role.filler.slot) for role in telling.roles[:2])
        if agent is not None and (agent in discourse.previous or agent in discourse.current):
            return False
        return self.draw.chance(
            0.75 if patient is not None and patient is discourse.last_subject else 0.25
        )

    @staticmethod
    def passivable(telling: Telling) -> bool:
        second = telling.roles[1] if len(telling.roles) > 1 else None
        return (
            telling.voice == "both"
            and second is not None
            and not second.optional
            and not second.preposition
            and second.filler.category == "NP"
            and second.label in ("ARG1", "ARG2")
            and telling.lemma not in ("be", "become")
            and not any(
                part[-2] == "!" if isinstance(part, str) else part.pos == "PRP$"
                for part in second.filler.parts
            )
        )

    def _argument(self, role: Role, fact: Fact, discourse: Discourse, case: int) -> Argument:
        filler = role.filler
        slot = filler.slot
        if slot:
            phrase, opening = self._slot(fact, slot, discourse, case)
            if opening:
                phrase = Phrase("PP", [*opening, phrase])
            return Argument(role.label, phrase, role.preposition, slot)
        kids: list[Phrase | Token] = []
        for part in filler.parts:
            if isinstance(part, Token):
                kids.append(part)
            elif part[0] == "{":
                kids.append(self.draw.pick(members(part[1:-1], self.training)))
            elif part[-2] == "!":
                owner = fact.slots[part[1:-2]]
                assert isinstance(owner, Entity)
                kids.append(discourse.possessive(owner))
            else:
                kids.append(self._slot(fact, part[1:-1], discourse, OBJECT)[0])
        phrase = Phrase(filler.category, kids, "p" if filler.plural else "s")
        return Argument(role.label, phrase, role.preposition)

    def _slot(
        self, fact: Fact, slot: str, discourse: Discourse, case: int
    ) -> tuple[Phrase, tuple[Token, ...]]:
        value = fact.slots[slot]
        if isinstance(value, Entity):
            return discourse.refer(value, case).mark("slot", fact, slot, self.told), ()
        return value.phrase().mark("slot", fact, slot, self.told), value.opening
