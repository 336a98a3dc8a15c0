"""Lasting facts: who wrote what, who was born where. All texts agree on them."""

from elmo_bench.mini.draw import Draw
from elmo_bench.mini.facts import NOW, FactMaker, Filling
from elmo_bench.mini.lexicon import table
from elmo_bench.mini.relations import EVERY_RELATION
from elmo_bench.mini.tellings import members
from elmo_bench.mini.world import GROUPS, Entity, World

SETTLED_FACTS = table("plans", "settled")
AUTHORS = {
    "novel": ("write", "writer"),
    "film": ("direct", "filmmaker"),
    "album": ("record", "musician"),
}


def settle_facts(world: World, draw: Draw) -> None:
    """Draw the lasting facts of every entity and file them under every participant."""
    historian = _Historian(world, draw)
    open_maker = FactMaker(draw, world.pools, {}, 0.0, training=False)
    safe_maker = FactMaker(draw, world.known, {}, 0.0, training=True)
    for entity in world.entities():
        # If training may name an entity, it must be able to tell most facts about it.
        historian.settle(safe_maker if not entity.held else open_maker, entity)


class _Historian:
    """Tracks what can be true only once: marriages, captains, authors."""

    def __init__(self, world: World, draw: Draw) -> None:
        self.world = world
        self.draw = draw
        self.taken: set[str] = set()

    def settle(self, maker: FactMaker, entity: Entity) -> None:
        general = SETTLED_FACTS["person"] if entity.label == "PERSON" else ()
        for name in general + SETTLED_FACTS.get(entity.kind, ()):
            if name == "plays" and entity.employer and self._take(entity.employer):
                name = "captain"
            fact = maker.fact(
                name, {_slot(name, entity): entity, **self._given(maker, name, entity)}
            )
            if name == "marry" and not (self._take(entity) and self._take(fact.slots["spouse"])):
                continue
            for kind in fact.relation.classes:  # otherwise the first text to tell it would choose
                fact.nouns[kind] = self.draw.pick(members(kind, maker.training))
            for participant in fact.entities():
                self.world.facts.setdefault(participant.key, []).append(fact)

    def _take(self, entity: Filling) -> bool:
        """Return True only the first time; an entity has one captain, one spouse."""
        assert isinstance(entity, Entity)
        free = entity.key not in self.taken
        self.taken.add(entity.key)
        return free

    def _given(self, maker: FactMaker, name: str, entity: Entity) -> dict[str, Filling]:
        """The author of a work: drawn for the first fact, which also sets its year, then kept."""
        if entity.kind not in AUTHORS:
            return {}
        relation, slot = AUTHORS[entity.kind]
        if name == relation:
            author = maker.entity(slot)
            entity.since = min(NOW, author.since + self.draw.between(22, 50))
            return {slot: author}
        if name == "prize":
            facts = self.world.facts[entity.key]
            written = next(fact for fact in facts if fact.relation.name == relation)
            return {"person": written.slots[slot]}
        return {}


def _slot(name: str, entity: Entity) -> str:
    """The slot of the relation that the entity fills."""
    slots = EVERY_RELATION[name].slots.items()
    return next(
        s for s, kind in slots if kind == entity.kind or entity.kind in GROUPS.get(kind, ())
    )
