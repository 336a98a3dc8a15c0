"""Short stories of scenes, and common knowledge about the things in them."""

from elmo_bench.mini.concepts import Concept, places, states, things
from elmo_bench.mini.discourse.compose import AND, Composer
from elmo_bench.mini.discourse.plans import Text
from elmo_bench.mini.grammar import Argument, Clause, statement
from elmo_bench.mini.lexicon import table
from elmo_bench.mini.morphology import noun_token
from elmo_bench.mini.reference import PRONOUNS, SUBJECT
from elmo_bench.mini.scenes import THE, A, SceneTeller
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tree import Phrase, Token, token
from elmo_bench.mini.world import Entity

OTHER = token("other", "JJ")
GENDERS = {"man": "m", "woman": "f", "boy": "m", "lad": "m", "girl": "f", "policeman": "m"}


def scene_text(teller: Teller, length: int) -> Text:
    """Scenes, some of which continue with the same figure."""
    composer = Composer(teller)
    telling = SceneTeller(teller)
    draw = teller.draw
    number = 0
    while len(composer.sentences) < length:
        chance = draw.unit()
        if chance < 0.2:
            composer.finish(_sign(telling, draw.pick(("person", "place"))))
        elif chance < 0.35:
            composer.finish(_kind(telling))
        else:
            _story(
                composer, telling, number, min(draw.between(1, 3), length - len(composer.sentences))
            )
            number += 1
    return Text("bn", composer.sentences)


def _story(composer: Composer, telling: SceneTeller, number: int, length: int) -> None:
    """What one figure does, step by step."""
    draw = composer.draw
    scene = telling.thinned(telling.scene(), 0.45)
    tense = draw.pick(("progressive", "past"))
    agent = telling.agent_phrase(scene)
    if scene.agent_state is not None and draw.chance(0.5):
        agent = Phrase("NP", [agent, _company(scene.agent_state)], agent.agreement)
    noun = scene.agent.words[0]
    gender = GENDERS.get(noun) or draw.pick("fm")
    figure = Entity(f"figure-{number}", "figure", "", (), (), scene.agent.words, gender)
    for place in range(length):
        if place:
            scene = telling.thinned(telling.scene(), 0.4)
            agent = _again(composer, figure, plural=agent.agreement == "p")
        clause = telling.clause(scene, tense, agent.mark("mention", figure))
        if scene.place_state is not None and draw.chance(0.5):
            located = clause.adjuncts[0]
            located.phrase = Phrase("PP", [located.phrase, _company(scene.place_state)])
        composer.finish(statement(clause, front=draw.chance(0.2)))


def _again(composer: Composer, figure: Entity, plural: bool) -> Phrase:
    """`she`, `the girl`, `they`."""
    if composer.draw.chance(0.7):
        pronoun = token("they", "PRP") if plural else PRONOUNS[figure.gender][SUBJECT]
        return Phrase("NP", [pronoun], "p" if plural else "s")
    noun = noun_token(composer.draw.pick(figure.nouns), plural)
    return Phrase("NP", [THE, noun], "p" if plural else "s")


def _sign(telling: SceneTeller, bearer: str) -> Phrase:
    """`The street was deserted with nobody in sight`: a quality with what goes with it."""
    draw = telling.draw
    state = draw.pick(draw.pick(states(bearer)))
    kinds = things() if bearer == "person" else places()
    kind = draw.pick(("person", "worker") if bearer == "person" else ("indoors", "outdoors"))
    subject = telling.noun_phrase(telling.pick(kinds[kind]), definite=True)
    quality = Phrase("ADJP", [token(telling.word(state), "JJ")])
    clause = Clause("be", "01", Argument("ARG1", subject), [Argument("ARG2", quality)])
    clause.adjuncts = [Argument("ARGM-ADV", _company(state))]
    return statement(clause)


def _company(state: Concept) -> Phrase:
    """What goes with a quality, whichever of its words is used."""
    words = table("scenes", "signs")[state.words[0]]
    return Phrase("PP", [_tagged(word) for word in words])


_TAGS = {
    **dict.fromkeys(("with", "without", "under", "in", "on", "of"), "IN"),
    **dict.fromkeys(("a", "the", "both"), "DT"),
    **dict.fromkeys(("hundreds", "people", "tears", "eyes", "legs", "clothes"), "NNS"),
    **dict.fromkeys(("single", "blue", "broad", "bright", "heavy", "long", "torn"), "JJ"),
}


def _tagged(word: str) -> Token:
    return token(word, _TAGS.get(word, "NN"))


def _synonym(telling: SceneTeller, thing: Concept) -> Phrase:
    """`Some people call a fiddle a violin`."""
    one, other = telling.draw.some(thing.words, 2)
    callers = Phrase("NP", [token("some", "DT"), noun_token("person", True)], "p")
    clause = Clause("call", "01", Argument("ARG0", callers), tense="present")
    names = [Phrase("NP", [A, noun_token(word, False)]) for word in (one, other)]
    clause.objects = [Argument("ARG1", names[0]), Argument("ARG2", names[1])]
    return statement(clause)


def _kind(telling: SceneTeller) -> Phrase:
    """`A fiddle is an instrument`, `The merchant sold fiddles and other instruments`."""
    name = telling.draw.pick([kind for kind in things() if kind not in ("person", "worker")])
    thing = telling.pick(things()[name])
    chance = telling.draw.unit()
    if chance < 0.3 and len(thing.words) > 1:
        return _synonym(telling, thing)
    if chance < 0.6:
        subject = telling.noun_phrase(thing)
        clause = Clause("be", "01", Argument("ARG1", subject), tense="present")
        clause.objects = [Argument("ARG2", Phrase("NP", [A, noun_token(name, False)]))]
        return statement(clause)
    kids = [noun_token(telling.word(thing), True), AND, OTHER, noun_token(name, True)]
    seller = Phrase("NP", [THE, noun_token("merchant", False)])
    verb = telling.draw.pick(("sell", "buy", "bring", "show"))
    clause = Clause(
        verb, "01", Argument("ARG0", seller), [Argument("ARG1", Phrase("NP", kids, "p"))]
    )
    return statement(clause)
