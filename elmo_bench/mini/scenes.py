"""Scenes: nameless people and animals doing things in places, as in picture captions."""

from dataclasses import dataclass, replace
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
from elmo_bench.mini.grammar import Argument, Clause
from elmo_bench.mini.lexicon import table
from elmo_bench.mini.morphology import noun_token
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tree import Phrase, Token, token

A, THE = token("a", "DT"), token("the", "DT")
IN, ON, AT = (token(word, "IN") for word in ("in", "on", "at"))
DETAILS = ("place", "agent_state", "garment", "place_state", "time")
_ON = frozenset({"street", "road", "beach", "shore", "bridge", "square", "field", "meadow"})
_AT = frozenset({"market", "harbour", "port"})
_MASS = frozenset({"coffee", "tea", "juice", "lemonade", "beer", "wine", "milk", "cocoa", "fruit"})


@dataclass(frozen=True)
class Scene:
    """Someone does something somewhere; parts that are None are not mentioned."""

    agent: Concept
    action: Concept | None
    target: Concept | None = None
    place: Concept | None = None
    agent_state: Concept | None = None
    place_state: Concept | None = None
    garment: Concept | None = None
    colour: Concept | None = None
    time: Concept | None = None
    count: Concept | None = None


class SceneTeller:
    """Draws scenes and tells them in the words that a split may use."""

    def __init__(self, teller: Teller) -> None:
        self.draw = teller.draw
        self.training = teller.training

    def pick(self, concepts: tuple[Concept, ...]) -> Concept:
        return self.draw.pick([item for item in concepts if item.usable(self.training)] or concepts)

    def scene(self) -> Scene:
        """A scene in full detail."""
        draw = self.draw
        action, target, sides = draw.pick(actions())
        return Scene(
            self.pick(things()["person" if draw.chance(0.65) else "worker"]),
            action,
            self.pick(things()[target]) if target else None,
            self.pick(places()[draw.pick(sides)]),
            draw.pick(draw.pick(states("person"))),
            draw.pick(draw.pick(states("place"))),
            self.pick(things()["garment"]),
            self.pick(colours()),
            draw.pick(times()),
            draw.pick(counts()) if draw.chance(0.2) else None,
        )

    def thinned(self, scene: Scene, keep: float) -> Scene:
        """The scene with details dropped at random."""
        changes: dict[str, Any] = {name: None for name in DETAILS if not self.draw.chance(keep)}
        if "garment" in changes:
            changes["colour"] = None
        if "place" in changes:
            changes["place_state"] = None
        return replace(scene, **changes)

    def word(self, concept: Concept) -> str:
        return concept.word(self.draw, self.training)

    def noun_phrase(
        self, concept: Concept, state: Concept | None = None, definite: bool = False
    ) -> Phrase:
        word = self.word(concept)
        kids: list[Token] = [] if word in _MASS and not state else [THE if definite else A]
        if state is not None:
            kids.append(token(self.word(state), "JJ"))
        return Phrase("NP", [*kids, noun_token(word, False)])

    def agent_phrase(self, scene: Scene) -> Phrase:
        """`a tired man in a red coat`, `two men in red coats`."""
        state = [] if scene.agent_state is None else [token(self.word(scene.agent_state), "JJ")]
        number = A if scene.count is None else token(self.word(scene.count), "CD")
        plural = scene.count is not None
        noun = noun_token(self.word(scene.agent), plural)
        phrase = Phrase("NP", [number, *state, noun], "p" if plural else "s")
        if scene.garment is None:
            return phrase
        return Phrase("NP", [phrase, Phrase("PP", [IN, self._clothes(scene, plural)])])

    def _clothes(self, scene: Scene, plural: bool) -> Phrase:
        """`a red coat`, `red coats`."""
        assert scene.garment is not None
        if not plural:
            return self.noun_phrase(scene.garment, scene.colour)
        colour = [] if scene.colour is None else [token(self.word(scene.colour), "JJ")]
        return Phrase("NP", [*colour, noun_token(self.word(scene.garment), True)], "p")

    def place_phrase(self, scene: Scene) -> Phrase:
        assert scene.place is not None
        word = self.word(scene.place)
        if word in ("indoors", "outdoors"):
            return Phrase("ADVP", [token(word, "RB")])
        kids: list[Token] = [self.draw.pick((A, THE))]
        if scene.place_state is not None:
            kids.append(token(self.word(scene.place_state), "JJ"))
        preposition = ON if word in _ON else AT if word in _AT else IN
        return Phrase("PP", [preposition, Phrase("NP", [*kids, noun_token(word, False)])])

    def clause(
        self, scene: Scene, tense: str = "progressive", agent: Phrase | None = None
    ) -> Clause:
        """The scene as a clause; `agent` replaces the phrase of its agent if given."""
        subject = agent or self.agent_phrase(scene)
        if scene.action is None:
            clause = Clause("be", "01", Argument("ARG1", subject), tense="present")
            clause.objects = [Argument("ARG2", self.place_phrase(scene))]
        else:
            verb = self.word(scene.action)
            clause = Clause(verb, scene.action.frameset, Argument("ARG0", subject), tense=tense)
            if scene.target is not None:
                clause.objects = [Argument("ARG1", self.noun_phrase(scene.target))]
            if scene.place is not None:
                clause.adjuncts = [Argument("ARGM-LOC", self.place_phrase(scene))]
        if scene.time is not None:
            preposition, *words = table("scenes", "times")[scene.time.words[0]]
            kids = [THE] if len(words) > 1 else []
            time = Phrase("NP", [*kids, token(words[-1], "NN")])
            clause.adjuncts.append(Argument("ARGM-TMP", time, preposition))
        return clause
