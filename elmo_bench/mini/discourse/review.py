"""Reviews: mostly positive or mostly negative opinions, with contrasts and facts between them."""

from elmo_bench.mini.discourse.compose import Composer
from elmo_bench.mini.discourse.plans import Text
from elmo_bench.mini.facts import Fact
from elmo_bench.mini.grammar import Argument, Clause, statement
from elmo_bench.mini.lexicon import sections, table
from elmo_bench.mini.morphology import noun_token, number_token
from elmo_bench.mini.opinions import AND, THE, Critic
from elmo_bench.mini.reference import PRONOUNS
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tree import COMMA, Phrase, Token, token

BUT, YET = token("but", "CC", effect="but"), token("yet", "CC", effect="but")
ALTHOUGH, THOUGH, WHILE = (
    token(word, "IN", effect="although") for word in ("although", "though", "while")
)
SO = token("so", "IN")
DESPITE = token("despite", "IN", effect="although")


def opinion(critic: Critic, side: int) -> Phrase:
    """A sentence of opinion: one clause, two alike, or a contrast."""
    draw = critic.draw
    chance = draw.unit()
    if chance < 0.1:
        return _despite(critic, side)
    if chance < 0.14:
        return consequence(critic, side)
    if chance < 0.18:
        return attitude(critic, side)
    first = critic.clause(side)
    if chance < 0.36:
        return first
    if chance < 0.56:
        return Phrase("S", [first, COMMA, AND, critic.clause(side)])
    if chance < 0.82:
        return Phrase("S", [first, COMMA, draw.pick((BUT, BUT, YET)), critic.clause(-side)])
    granted = Phrase("SBAR", [draw.pick((ALTHOUGH, THOUGH, WHILE)), first])
    return Phrase("S", [granted, COMMA, *critic.clause(-side).kids])


def consequence(critic: Critic, side: int) -> Phrase:
    """`It was superb , so we applauded`: shows a language model which words are praise."""
    weight = side * critic.draw.between(1, 2)
    every = sections("opinions")["consequences"]
    lines = [line for line in every if line.split()[0] == str(weight)]
    said = critic.plain_clause(weight)
    kids: list[Phrase | Token] = []
    for piece in critic.draw.pick(lines).split()[1:]:
        word, tag, *own = piece.split("/")
        if word in ("I", "it"):
            kids.append(critic.i() if word == "I" else critic.it())
        else:
            kids.append(token(word, tag, effect=float(own[0]) if own else 0.0))
        if word == "we":
            kids[-1] = Phrase("NP", kids[-1:]).mark("mention", critic.discourse.ours())
    return Phrase("S", [said, COMMA, SO, Phrase("S", kids)])


def attitude(critic: Critic, side: int) -> Phrase:
    """`Sadly , the plot is dull`."""
    word = critic.draw.pick(table("opinions", "attitudes")[str(side)])
    return Phrase(
        "S",
        [
            Phrase("ADVP", [token(word, "RB", effect=side / 2)]),
            COMMA,
            *critic.plain_clause(side).kids,
        ],
    )


def _despite(critic: Critic, side: int) -> Phrase:
    """`Despite its superb cast , the film drags`."""
    its = PRONOUNS["n"][2] if critic.target is not None else THE
    aspect = critic.aspect_noun()
    thing = Phrase("NP", [its, critic.adjective_phrase(side), aspect])
    return Phrase("S", [Phrase("PP", [DESPITE, thing]), COMMA, *critic.clause(-side).kids])


def new_critic(composer: Composer) -> Critic:
    """Someone with an opinion about a work, a stay somewhere or a match."""
    teller = composer.teller
    chance = teller.draw.unit()
    if chance < 0.6:
        work = teller.entity("work")
        return Critic(teller, composer.discourse, work, work.kind)
    return Critic(teller, composer.discourse, None, "stay" if chance < 0.85 else "match")


def tell_fact(composer: Composer, critic: Critic, told: list[Fact]) -> bool:
    """Tell a fact about the work without opinion; False if there is nothing new to tell."""
    facts = composer.teller.lasting(critic.target) if critic.target is not None else []
    fresh = [fact for fact in facts if fact not in told]
    if not fresh:
        return False
    told.append(composer.draw.pick(fresh))
    composer.say(told[-1], hedge=False)
    return True


def review(teller: Teller, length: int) -> Text:
    """A review that is mostly positive or mostly negative."""
    composer = Composer(teller)
    draw = teller.draw
    critic = new_critic(composer)
    side = 1 if draw.chance(0.5) else -1
    critic.vivid = True
    starred = False
    told: list[Fact] = []
    while len(composer.sentences) < length:
        chance = draw.unit()
        if chance < 0.12 and tell_fact(composer, critic, told):
            continue
        if chance < 0.16 and not starred:
            starred = True
            composer.finish(_stars(critic, side))
        elif chance < 0.22:
            composer.finish(critic.clause(side))
        elif chance < 0.68:
            composer.finish(consequence(critic, side))
        elif chance < 0.90:
            composer.finish(attitude(critic, side))
        else:
            composer.finish(opinion(critic, side if draw.chance(0.6) else -side))
    return Text("wb", composer.sentences)


def _stars(critic: Critic, side: int) -> Phrase:
    """`I gave it five stars`."""
    stars = critic.draw.between(4, 5) if side > 0 else critic.draw.between(1, 2)
    clause = Clause("give", "01", Argument("ARG0", critic.i()))
    count = Phrase("NP", [number_token(stars), noun_token("star", stars != 1)])
    clause.objects = [Argument("ARG2", critic.it()), Argument("ARG1", count)]
    return statement(clause)
