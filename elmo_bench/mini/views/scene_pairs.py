"""Pairs about scenes, whose words are narrower, wider, the same or opposite."""

from dataclasses import replace
from typing import Any

from elmo_bench.mini.concepts import (
    Concept,
    actions,
    colours,
    counts,
    places,
    states,
    things,
    times,
)
from elmo_bench.mini.grammar import NOT, full_stop, statement
from elmo_bench.mini.scenes import DETAILS, Scene, SceneTeller
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tree import Sentence

LABELS = ("entailment", "neutral", "contradiction")
_OPPOSITE = {"entailment": "contradiction", "contradiction": "entailment", "neutral": "neutral"}
_WIDENED = ("agent", "target", "place", "colour")  # parts that have a wider word
_BREAKABLE = (
    "agent",
    "action",
    "target",
    "place",
    "agent_state",
    "place_state",
    "colour",
    "time",
    "count",
)


class ScenePairs:
    """Draws a hypothesis, then a premise that fits the label."""

    def __init__(self, teller: Teller) -> None:
        self.telling = SceneTeller(teller)
        self.draw = teller.draw

    def pair(self, label: str) -> tuple[Sentence, Sentence]:
        """Premise and hypothesis."""
        if self.draw.chance(0.15):
            return self._negated_pair(label)
        hypothesis = self._hypothesis()
        narrowed = self._narrowed(hypothesis)
        if label == "entailment":
            premise = narrowed
        elif label == "contradiction":
            premise = self._broken(hypothesis, narrowed, _BREAKABLE)
        else:
            premise = self._loosened(hypothesis, narrowed)
        return self._sentence(premise), self._sentence(hypothesis)

    def _negated_pair(self, label: str) -> tuple[Sentence, Sentence]:
        """The hypothesis denies a bare scene, so what contradicts the scene entails it."""
        bare = self._without(self.telling.scene(), DETAILS)
        narrowed = self._narrowed(bare)
        turned = _OPPOSITE[label]
        if turned == "entailment":
            premise = narrowed
        elif turned == "contradiction":
            premise = self._broken(bare, narrowed, ("action",))
        elif bare.target is not None and bare.target.kind is not None and self.draw.chance(0.5):
            premise = replace(narrowed, target=bare.target.kind)
        else:
            place = narrowed.place or self.telling.scene().place
            premise = replace(narrowed, action=None, target=None, place=place)
        return self._sentence(premise), self._sentence(bare, negated=True)

    def _sentence(self, scene: Scene, negated: bool = False) -> Sentence:
        clause = self.telling.clause(scene)
        clause.negation = NOT if negated else None
        return Sentence(full_stop(statement(clause)))

    def _without(self, scene: Scene, names: tuple[str, ...]) -> Scene:
        left_out: dict[str, Any] = dict.fromkeys(names)
        if "garment" in names:
            left_out["colour"] = None
        if "place" in names:
            left_out["place_state"] = None
        return replace(scene, **left_out)

    def _hypothesis(self) -> Scene:
        """A scene with one or two details, some of them in wide terms."""
        full = self.telling.scene()
        if self.draw.chance(0.12):  # only the location
            bare = self._without(full, tuple(name for name in DETAILS if name != "place"))
            return self._widened(replace(bare, action=None, target=None))
        kept = self.draw.some(DETAILS, self.draw.between(1, 2))
        if "place_state" in kept:
            kept.append("place")
        return self._widened(self._without(full, tuple(n for n in DETAILS if n not in kept)))

    def _widened(self, scene: Scene) -> Scene:
        for name in _WIDENED:
            concept = getattr(scene, name)
            if name == "place" and scene.place_state is not None:
                continue  # one is not `crowded outdoors`
            if concept is not None and concept.kind is not None and self.draw.chance(0.35):
                change: dict[str, Any] = {name: concept.kind}
                scene = replace(scene, **change)
        return scene

    def _narrowed(self, scene: Scene) -> Scene:
        """A scene that entails the given one: narrower words, more details."""
        full = self.telling.scene()
        changes: dict[str, Any] = {}
        for name in _WIDENED:
            concept = getattr(scene, name)
            if concept is not None:
                changes[name] = self._narrower(concept)
        if scene.action is None:
            changes |= {"action": full.action, "target": full.target}
        for name in ("agent_state", "garment", "place", "time"):
            if getattr(scene, name) is None and self.draw.chance(0.3):
                changes[name] = getattr(full, name)
                if name == "garment":
                    changes["colour"] = full.colour
        if changes.get("place") and scene.place_state is None and self.draw.chance(0.25):
            changes["place_state"] = full.place_state
        return replace(scene, **changes)

    def _narrower(self, concept: Concept) -> Concept:
        kinds = (*things().values(), colours(), *places().values())
        usable = [item for members in kinds for item in members if item.kind == concept]
        usable = [item for item in usable if item.usable(self.telling.training)]
        return self.draw.pick(usable) if usable else concept

    def _broken(self, hypothesis: Scene, premise: Scene, names: tuple[str, ...]) -> Scene:
        """The premise with one part that cannot be true together with the hypothesis."""
        present = [name for name in names if getattr(hypothesis, name) is not None]
        for name in self.draw.shuffled(present):
            concept = getattr(hypothesis, name)
            if name == "action":
                action, kind, _ = self.draw.pick([item for item in actions() if item[0] != concept])
                target = self.telling.pick(things()[kind]) if kind else None
                return replace(premise, action=action, target=target)
            rivals = [item for item in self._family(name) if item.excludes(concept)]
            rivals = [item for item in rivals if item.usable(self.telling.training)]
            if rivals:
                change: dict[str, Any] = {name: self.draw.pick(rivals)}
                return replace(premise, **change)
        raise ValueError(f"nothing excludes {hypothesis}")

    def _family(self, name: str) -> list[Concept]:
        """All alternatives for a part of a scene."""
        if name == "agent":
            return list(things()["person"])
        if name == "target":
            outside = ("person", "worker", "animal", "garment")
            return [
                item for kind, found in things().items() if kind not in outside for item in found
            ]
        if name == "place":
            return [item for members in places().values() for item in members]
        if name.endswith("_state"):
            bearer = "person" if name == "agent_state" else "place"
            return [item for pair in states(bearer) for item in pair]
        return list({"colour": colours, "time": times, "count": counts}[name]())

    def _loosened(self, hypothesis: Scene, premise: Scene) -> Scene:
        """The premise without something that the hypothesis claims, or in wider words."""
        wide = [name for name in _WIDENED if getattr(getattr(hypothesis, name), "kind", None)]
        if wide and self.draw.chance(0.5):
            name = self.draw.pick(wide)
            change: dict[str, Any] = {name: getattr(hypothesis, name).kind}
            if name == "place":
                change["place_state"] = None
            return replace(premise, **change)
        present = [name for name in DETAILS if getattr(hypothesis, name) is not None]
        return self._without(premise, (self.draw.pick(present),))
