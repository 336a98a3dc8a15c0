"""Facts: relations whose slots are filled at random or by what the world has settled."""

from dataclasses import dataclass, field

from elmo_bench.mini.draw import Draw
from elmo_bench.mini.relations import EVERY_RELATION
from elmo_bench.mini.tellings import Relation, Telling
from elmo_bench.mini.tree import Token
from elmo_bench.mini.values import MAKERS, Value, year_value
from elmo_bench.mini.world import Entity

Filling = Entity | Value
SETTLED = frozenset({"home", "nation", "employer"})  # kinds of slot that an entity determines
NOW = 2015  # no year is later


@dataclass(slots=True, eq=False)
class Fact:
    """A relation with its slots filled; told again, it keeps the nouns of the first telling."""

    relation: Relation
    slots: dict[str, Filling]
    nouns: dict[str, Token] = field(default_factory=dict)  # of each class that a telling used

    def entities(self) -> list[Entity]:
        return [value for value in self.slots.values() if value.__class__ is Entity]

    def subject(self) -> Entity | None:
        """What the fact is about: its first slot."""
        first = next(iter(self.slots.values()))
        return first if isinstance(first, Entity) else None


class FactMaker:
    """Draws facts whose entities come from the given pools.

    Args:
        draw: The source of random choices.
        pools: The entities that may be drawn, by kind.
        preferred: Entities that are drawn instead with probability `preference`.
        training: Whether to use only words that training files may use.
    """

    def __init__(
        self,
        draw: Draw,
        pools: dict[str, list[Entity]],
        preferred: dict[str, list[Entity]],
        preference: float,
        training: bool,
    ) -> None:
        self.draw = draw
        self.pools = pools
        self.preferred = preferred
        self.preference = preference
        self.training = training

    def entity(self, kind: str) -> Entity:
        if self.preference and self.draw.chance(self.preference) and self.preferred[kind]:
            return self.draw.pick(self.preferred[kind])
        return self.draw.pick(self.pools[kind])

    def fact(self, name: str, given: dict[str, Filling], telling: Telling | None = None) -> Fact:
        """Make a fact; slots not given are drawn, and only those of the telling if there is one."""
        relation = EVERY_RELATION[name]
        slots: dict[str, Filling] = {}
        given = self._with_anchor(relation, given)
        for slot, kind in relation.slots.items():
            if slot in given:
                slots[slot] = given[slot]
            elif telling is None or slot in telling.slots or slot in telling.owners:
                slots[slot] = self._fill(kind, slots, given)
        return Fact(relation, slots)

    def _with_anchor(self, relation: Relation, given: dict[str, Filling]) -> dict[str, Filling]:
        """If an employer is given but not the first slot, fill that with an employee."""
        first, kind = next(iter(relation.slots.items()))
        if first in given or "employer" not in relation.slots.values():
            return given
        slot = next(slot for slot, kind in relation.slots.items() if kind == "employer")
        if slot not in given:
            return given
        staff = [item for item in self.pools[kind] if item.employer is given[slot]]
        return {**given, first: self.draw.pick(staff)} if staff else given

    def _fill(self, kind: str, slots: dict[str, Filling], given: dict[str, Filling]) -> Filling:
        if kind in MAKERS:
            return MAKERS[kind](self.draw, self.training)
        if kind in SETTLED:
            settled: Entity = getattr(next(iter(slots.values())), kind)
            return settled
        if kind == "year":
            return self._year(next(iter(slots.values())))
        if kind.startswith("since."):
            holder = slots[kind.removeprefix("since.")]
            assert isinstance(holder, Entity)
            return year_value(holder.since)
        taken = [value for value in (*slots.values(), *given.values()) if value.__class__ is Entity]
        for _ in range(8):
            found = self.entity(kind)
            if all(found.short[-1] is not other.short[-1] for other in taken):
                break
        return found

    def _year(self, anchor: Filling) -> Value:
        """A year in which the anchor could take part in something."""
        if not isinstance(anchor, Entity) or not anchor.since:
            return year_value(self.draw.between(1950, NOW))
        adult = anchor.since + (20 if anchor.label == "PERSON" else 1)
        last = min(NOW, anchor.since + 65) if anchor.label == "PERSON" else NOW
        return year_value(self.draw.between(min(adult, last), last))
