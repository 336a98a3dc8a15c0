"""Pairs of sentences: the second follows from the first, contradicts it, or is left open by it.

The hypothesis is drawn first, and alike for all labels; then the premise is made to fit the label.
So nothing in the hypothesis alone tells the label.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from elmo_bench.mini.concepts import Concept, colours, places, states, things
from elmo_bench.mini.discourse.scenes import Scene, SceneTeller
from elmo_bench.mini.facts import Fact
from elmo_bench.mini.grammar import NOT, Argument, Clause, full_stop, statement
from elmo_bench.mini.reference import Discourse
from elmo_bench.mini.subordination import infinitive
from elmo_bench.mini.teller import Part, Teller
from elmo_bench.mini.tellings import ALL_RELATIONS, Telling
from elmo_bench.mini.tree import Sentence, Token, plain_text
from elmo_bench.mini.world import Entity

LABELS = ("entailment", "neutral", "contradiction")
SCENES = 0.6  # share of pairs about scenes; the others are about facts with names
UNDECIDED = 0.015  # share of pairs on which the annotators found no majority
OPEN = (
    ("agree", "01"),
    ("hope", "01"),
    ("plan", "01"),
    ("want", "01"),
    ("try", "01"),
    ("offer", "01"),
    ("intend", "01"),
)
DETAILS = ("place", "agent_state", "garment", "place_state")
AGAINST = (("refuse", "01"), ("decline", "02"), ("fail", "01"))


def snli_lines(teller: Teller, part: Part, count: int) -> Iterator[str]:
    """One pair a line, in the fields of SNLI 1.0."""
    draw = teller.draw
    scenes = ScenePairs(teller)
    for number in range(count):
        label = draw.pick(LABELS)
        make = scenes.pair if draw.chance(SCENES) else FactPairs(teller).pair
        premise, hypothesis = make(label)
        yield json.dumps(
            _row(f"{part}{number}", label, premise, hypothesis, draw.chance(UNDECIDED)),
            ensure_ascii=False,
        )


def _row(
    name: str, label: str, premise: Sentence, hypothesis: Sentence, undecided: bool
) -> dict[str, Any]:
    others = [other for other in LABELS if other != label]
    votes = [label, label, *others, others[0]] if undecided else [label] * 5
    return {
        "annotator_labels": votes,
        "captionID": f"{name}.jpg#0",
        "gold_label": "-" if undecided else label,
        "pairID": name,
        "sentence1": plain_text(premise.tokens)[0],
        "sentence1_binary_parse": binary_parse(premise),
        "sentence2": plain_text(hypothesis.tokens)[0],
        "sentence2_binary_parse": binary_parse(hypothesis),
    }


def binary_parse(sentence: Sentence) -> str:
    """`( ( A man ) ( is ( asleep . ) ) )`, branching to the right."""
    words = iter(sentence.words)
    following = [next(words)]

    def build(node: Any) -> list[str]:
        if isinstance(node, Token):
            if not node.pos or (node.word == "," and following[0] != ","):
                return []
            found, following[0] = following[0], next(words, "")
            return [found]
        parts = [part for kid in node.kids for part in build(kid)]
        while len(parts) > 1:
            parts[-2:] = [f"( {parts[-2]} {parts[-1]} )"]
        return parts

    return build(sentence.root)[0]


class ScenePairs:
    """Pairs about scenes, whose words are narrower, wider, the same or opposite."""

    def __init__(self, teller: Teller) -> None:
        self.telling = SceneTeller(teller)
        self.draw = teller.draw

    def pair(self, label: str) -> tuple[Sentence, Sentence]:
        hypothesis = self._hypothesis()
        narrowed = self._narrowed(hypothesis)
        if label == "entailment":
            premise = narrowed
        elif label == "contradiction":
            premise = self._broken(hypothesis, narrowed)
        else:
            premise = self._loosened(hypothesis, narrowed)
        return self._sentence(premise), self._sentence(hypothesis)

    def _sentence(self, scene: Scene) -> Sentence:
        return Sentence(full_stop(statement(self.telling.clause(scene))))

    def _hypothesis(self) -> Scene:
        """A scene with one or two details, some of them in wide terms."""
        full = self.telling.scene()
        detail = self.draw.some(DETAILS, self.draw.between(1, 2))
        left_out: dict[str, Any] = {name: None for name in DETAILS if name not in detail}
        scene = replace(full, **left_out)
        if scene.place_state is not None:
            scene = replace(scene, place=full.place)
        if scene.garment is None:
            scene = replace(scene, colour=None)
        for name in ("agent", "target", "colour"):
            concept = getattr(scene, name)
            if concept is not None and concept.kind is not None and self.draw.chance(0.35):
                scene = replace(scene, **{name: concept.kind})
        if scene.place is not None and scene.place_state is None and self.draw.chance(0.35):
            scene = replace(scene, place=scene.place.kind)
        return scene

    def _narrowed(self, scene: Scene) -> Scene:
        """A scene that entails the given one: narrower words, more details."""
        full = self.telling.scene()
        changes: dict[str, Any] = {}
        for name in ("agent", "target", "place", "colour"):
            concept = getattr(scene, name)
            if concept is not None:
                changes[name] = self._narrower(concept)
        for name in ("agent_state", "garment", "place"):
            if getattr(scene, name) is None and self.draw.chance(0.3):
                changes[name] = getattr(full, name)
                if name == "garment":
                    changes["colour"] = full.colour
        if scene.place_state is None and changes.get("place") is not None and self.draw.chance(0.2):
            changes["place_state"] = full.place_state
        return replace(scene, **changes)

    def _narrower(self, concept: Concept) -> Concept:
        kinds = (*things().values(), colours(), *places().values())
        narrower = [
            item
            for members in kinds
            for item in members
            if item.kind == concept and item.usable(self.telling.training)
        ]
        return self.draw.pick(narrower) if narrower else concept

    def _broken(self, hypothesis: Scene, premise: Scene) -> Scene:
        """The premise with one part that cannot be true together with the hypothesis."""
        names = [
            name
            for name in (
                "agent",
                "action",
                "target",
                "place",
                "agent_state",
                "place_state",
                "colour",
            )
            if getattr(hypothesis, name) is not None
        ]
        for name in self.draw.shuffled(names):
            concept = getattr(hypothesis, name)
            if name == "action":
                other = self.telling.scene()
                if other.action != concept:
                    return replace(premise, action=other.action, target=other.target)
                continue
            rivals = [
                item
                for item in self._family(name)
                if item.excludes(concept) and item.usable(self.telling.training)
            ]
            if rivals:
                return replace(premise, **{name: self.draw.pick(rivals)})
        raise AssertionError("every action has a rival")

    def _family(self, name: str) -> list[Concept]:
        if name == "agent":
            return [*things()["person"], *things()["animal"]]
        if name in ("agent_state", "place_state"):
            return [
                item
                for pair in states("person" if name == "agent_state" else "place")
                for item in pair
            ]
        if name == "colour":
            return list(colours())
        if name == "place":
            return [item for members in places().values() for item in members]
        return [
            item
            for kind, members in things().items()
            if kind not in ("person", "worker", "animal", "garment")
            for item in members
        ]

    def _loosened(self, hypothesis: Scene, premise: Scene) -> Scene:
        """The premise without something that the hypothesis claims, or in wider words."""
        names = [
            name
            for name in ("place", "agent_state", "place_state", "garment")
            if getattr(hypothesis, name) is not None
        ]
        wide = [
            name
            for name in ("agent", "target", "place", "colour")
            if getattr(hypothesis, name) is not None and getattr(hypothesis, name).kind is not None
        ]
        if wide and self.draw.chance(0.5):
            name = self.draw.pick(wide)
            changes: dict[str, Any] = {name: getattr(hypothesis, name).kind}
            if name == "place":
                changes["place_state"] = None
            return replace(premise, **changes)
        name = self.draw.pick(names)
        changes = {name: None}
        if name == "garment":
            changes["colour"] = None
        if name == "place":
            changes["place_state"] = None
        return replace(premise, **changes)


class FactPairs:
    """Pairs about one fact, told twice."""

    def __init__(self, teller: Teller) -> None:
        self.teller = teller
        self.draw = teller.draw
        self.names = [
            name for name in ALL_RELATIONS if sum(not t.loose for t in teller.tellings[name]) > 1
        ]

    def pair(self, label: str) -> tuple[Sentence, Sentence]:
        """Draws hypotheses until one admits every label: the label must not choose among them."""
        while True:
            fact = self.teller.fact(self.draw.pick(self.names))
            told = self.draw.pick(self.teller.exact(fact))
            optional = sorted(told.slots - told.needed)
            extra = self.draw.some(optional, self.draw.between(1, 2)) if optional else []
            slots = told.needed | frozenset(extra)
            wider = [t for t in self.teller.exact(fact) if t.slots >= slots and t is not told]
            subject = fact.slots.get(told.subject_slot)
            if extra and wider and isinstance(subject, Entity) and not told.present:
                break
        hypothesis = self._statement(fact, told, slots)
        premise = getattr(self, "_" + label)(fact, told, slots, self.draw.pick(wider), extra)
        return premise, hypothesis

    def _statement(
        self, fact: Fact, telling: Telling, slots: frozenset[str], negated: bool = False
    ) -> Sentence:
        clause = self.teller.clause(fact, Discourse(self.draw, names_only=True), telling, slots)
        clause.negation = NOT if negated else None
        return Sentence(full_stop(statement(clause, front=self.draw.chance(0.2))))

    def _more(self, telling: Telling, slots: frozenset[str]) -> frozenset[str]:
        return slots | frozenset(slot for slot in sorted(telling.slots) if self.draw.chance(0.4))

    def _entailment(
        self, fact: Fact, told: Telling, slots: frozenset[str], other: Telling, extra: list[str]
    ) -> Sentence:
        return self._statement(fact, other, self._more(other, slots))

    def _contradiction(
        self, fact: Fact, told: Telling, slots: frozenset[str], other: Telling, extra: list[str]
    ) -> Sentence:
        chance = self.draw.unit()
        if chance < 0.2:
            return self._statement(fact, other, other.needed & slots, negated=other.needed <= slots)
        if chance < 0.4:
            return self._attempt(fact, told, told.needed, AGAINST)
        changed = self.draw.pick(sorted(slots))
        fresh = self.teller.fact(fact.relation.name)
        while _words(fresh, changed) == _words(fact, changed):
            fresh = self.teller.fact(fact.relation.name)
        return self._statement(
            Fact(fact.relation, {**fact.slots, changed: fresh.slots[changed]}, fact.nouns),
            other,
            self._more(other, slots),
        )

    def _neutral(
        self, fact: Fact, told: Telling, slots: frozenset[str], other: Telling, extra: list[str]
    ) -> Sentence:
        if self.draw.chance(0.35):
            return self._attempt(fact, told, slots, OPEN)
        dropped = self.draw.pick(extra)
        fitting = [t for t in self.teller.exact(fact) if dropped not in t.needed]
        chosen = self.draw.pick(fitting)
        return self._statement(fact, chosen, self._more(chosen, slots) - {dropped})

    def _attempt(
        self, fact: Fact, told: Telling, slots: frozenset[str], verbs: tuple[tuple[str, str], ...]
    ) -> Sentence:
        """`X hoped to ...`, `X refused to ...`."""
        inner = self.teller.clause(
            fact, Discourse(self.draw, names_only=True), told, slots, passive=False
        )
        subject = inner.subject.phrase
        lemma, frameset = self.draw.pick(verbs)
        outer = Clause(
            lemma,
            frameset,
            Argument("ARG0", subject),
            [Argument("ARG1", infinitive(inner, subject))],
        )
        return Sentence(full_stop(statement(outer)))


def _words(fact: Fact, slot: str) -> list[str]:
    value = fact.slots[slot]
    return [item.word for item in (value.short if isinstance(value, Entity) else value.tokens)]
