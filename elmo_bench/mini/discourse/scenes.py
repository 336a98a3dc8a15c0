"""Scenes: nameless people and animals doing things in places, as picture captions tell them."""

from dataclasses import dataclass, replace
from typing import Any

from elmo_bench.mini.concepts import Concept, actions, colours, places, states, things
from elmo_bench.mini.discourse.compose import Composer
from elmo_bench.mini.discourse.plans import Text
from elmo_bench.mini.grammar import Argument, Clause, statement
from elmo_bench.mini.lexicon import table
from elmo_bench.mini.morphology import noun_token
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tree import Phrase, Token, token

A, THE, IN, ON, AT = (
    token("a", "DT"),
    token("the", "DT"),
    token("in", "IN"),
    token("on", "IN"),
    token("at", "IN"),
)
AND, OTHER = token("and", "CC"), token("other", "JJ")
_ON = {"street", "road", "beach", "shore", "bridge", "square", "field", "meadow"}
_AT = {"market", "harbour", "port"}
_MASS = {"coffee", "tea", "juice", "lemonade", "beer", "wine", "milk", "cocoa", "fruit"}


@dataclass(frozen=True)
class Scene:
    """One thing that someone does somewhere; what is None is not told."""

    agent: Concept
    action: Concept
    target: Concept | None = None
    place: Concept | None = None
    agent_state: Concept | None = None
    place_state: Concept | None = None
    garment: Concept | None = None
    colour: Concept | None = None


class SceneTeller:
    """Draws scenes and tells them in the words that a split may use."""

    def __init__(self, teller: Teller) -> None:
        self.draw = teller.draw
        self.training = teller.training

    def pick(self, concepts: tuple[Concept, ...]) -> Concept:
        return self.draw.pick([item for item in concepts if item.usable(self.training)] or concepts)

    def scene(self) -> Scene:
        """A scene in full detail."""
        action, target = self.draw.pick(actions())
        people = "person" if self.draw.chance(0.65) else "worker"
        agent = self.pick(things()[people])
        place = self.pick(places()[self.draw.pick(("indoors", "outdoors"))])
        return Scene(
            agent,
            action,
            self.pick(things()[target]) if target else None,
            place,
            self.draw.pick(self.draw.pick(states("person"))),
            self.draw.pick(self.draw.pick(states("place"))),
            self.pick(things()["garment"]),
            self.pick(colours()),
        )

    def thinned(self, scene: Scene, keep: float) -> Scene:
        """The scene with details left out at random."""
        changes: dict[str, Any] = {}
        for name in ("place", "agent_state", "place_state", "garment"):
            if not self.draw.chance(keep):
                changes[name] = None
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
        kids: list[Token | Phrase] = [] if word in _MASS and not state else [THE if definite else A]
        if state is not None:
            kids.append(token(self.word(state), "JJ"))
        return Phrase("NP", [*kids, noun_token(word, False)])

    def agent_phrase(self, scene: Scene, definite: bool = False) -> Phrase:
        noun = self.noun_phrase(scene.agent, scene.agent_state, definite)
        if scene.garment is None:
            return noun
        clothes = self.noun_phrase(scene.garment, scene.colour)
        return Phrase("NP", [noun, Phrase("PP", [IN, clothes])])

    def place_phrase(self, scene: Scene) -> Phrase:
        assert scene.place is not None
        word = self.word(scene.place)
        if word in ("indoors", "outdoors"):
            return Phrase("ADVP", [token(word, "RB")])
        kids: list[Token | Phrase] = [self.draw.pick((A, THE))]
        if scene.place_state is not None:
            kids.append(token(self.word(scene.place_state), "JJ"))
        preposition = ON if word in _ON else AT if word in _AT else IN
        return Phrase("PP", [preposition, Phrase("NP", [*kids, noun_token(word, False)])])

    def clause(self, scene: Scene, tense: str = "progressive", definite: bool = False) -> Clause:
        """The scene as a clause."""
        clause = Clause(
            self.word(scene.action),
            scene.action.frameset,
            Argument("ARG0", self.agent_phrase(scene, definite)),
            tense=tense,
        )
        if scene.target is not None:
            clause.objects = [Argument("ARG1", self.noun_phrase(scene.target))]
        if scene.place is not None:
            clause.adjuncts = [Argument("ARGM-LOC", self.place_phrase(scene))]
        return clause


def scene_text(teller: Teller, length: int) -> Text:
    """A few scenes, and what one may know of the things in them."""
    composer = Composer(teller)
    telling = SceneTeller(teller)
    draw = teller.draw
    while len(composer.sentences) < length:
        scene = telling.thinned(telling.scene(), 0.45)
        chance = draw.unit()
        if chance < 0.2:
            composer.finish(_sign(telling, draw.pick(("person", "place"))))
        elif chance < 0.35:
            composer.finish(_kind(telling))
        else:
            clause = telling.clause(scene, draw.pick(("progressive", "past")))
            if clause.can_be_passive() and draw.chance(0.15):
                clause.passive, clause.tense = True, "past"
            composer.finish(statement(clause, front=False))
    return Text("bn", composer.sentences)


def _sign(telling: SceneTeller, bearer: str) -> Phrase:
    """`The street was deserted , with nobody in sight`: a quality with what goes with it."""
    state = telling.draw.pick(telling.draw.pick(states(bearer)))
    if bearer == "person":
        holder = telling.pick(things()[telling.draw.pick(("person", "worker"))])
    else:
        holder = telling.pick(places()[telling.draw.pick(("indoors", "outdoors"))])
    subject = telling.noun_phrase(holder, definite=True)
    clause = Clause(
        "be",
        "01",
        Argument("ARG1", subject),
        [Argument("ARG2", Phrase("ADJP", [token(telling.word(state), "JJ")]))],
    )
    words = table("scenes", "signs")[state.words[0]]
    clause.adjuncts = [Argument("ARGM-ADV", Phrase("PP", [_tag(word) for word in words]))]
    return statement(clause)


_TAGS = {
    "with": "IN",
    "without": "IN",
    "under": "IN",
    "in": "IN",
    "on": "IN",
    "of": "IN",
    "a": "DT",
    "the": "DT",
    "both": "DT",
    "hundreds": "NNS",
    "people": "NNS",
    "tears": "NNS",
    "eyes": "NNS",
    "legs": "NNS",
    "clothes": "NNS",
    "single": "JJ",
    "blue": "JJ",
    "broad": "JJ",
    "grey": "JJ",
    "long": "JJ",
    "torn": "JJ",
    "gold": "NN",
}


def _tag(word: str) -> Token:
    return token(word, _TAGS.get(word, "NN"))


def _kind(telling: SceneTeller) -> Phrase:
    """`A fiddle is an instrument`, `Fiddles and other instruments ...`."""
    name = telling.draw.pick([kind for kind in things() if kind not in ("person", "worker")])
    thing = telling.pick(things()[name])
    if telling.draw.chance(0.4):
        subject = telling.noun_phrase(thing)
        clause = Clause("be", "01", Argument("ARG1", subject), tense="present")
        clause.objects = [Argument("ARG2", Phrase("NP", [A, noun_token(name, False)]))]
        return statement(clause)
    goods = Phrase(
        "NP", [noun_token(telling.word(thing), True), AND, OTHER, noun_token(name, True)], "p"
    )
    seller = Phrase("NP", [THE, noun_token("merchant", False)])
    clause = Clause(
        telling.draw.pick(("sell", "buy", "bring", "show")),
        "01",
        Argument("ARG0", seller),
        [Argument("ARG1", goods)],
    )
    return statement(clause)
