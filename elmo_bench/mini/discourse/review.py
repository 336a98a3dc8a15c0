"""Opinions about works, stays and matches, in clauses whose sentiment composes."""

from functools import cache

from elmo_bench.mini.discourse.compose import BUT, Composer
from elmo_bench.mini.discourse.plans import PROFILES, Text, fact_about
from elmo_bench.mini.draw import Draw, share
from elmo_bench.mini.grammar import NOT, NT, Argument, Clause, statement
from elmo_bench.mini.lexicon import sections, table, words
from elmo_bench.mini.morphology import noun_token, number_token
from elmo_bench.mini.reference import FIRST_PERSON, SUBJECT, Discourse
from elmo_bench.mini.subordination import infinitive
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tree import COMMA, Phrase, Token, token
from elmo_bench.mini.world import Entity

HELD_OPINIONS = 0.35  # share of the words of praise and blame that training never uses
NEVER, HARDLY = token("never", "RB", effect="not"), token("hardly", "RB", effect="not")
ALTHOUGH, THOUGH = (
    token("although", "IN", effect="although"),
    token("though", "IN", effect="although"),
)
THE, A, AND, ITS = token("the", "DT"), token("a", "DT"), token("and", "CC"), token("its", "PRP$")
IT = token("it", "PRP")


@cache
def _words(section: str, weight: int, for_training: bool) -> tuple[str, ...]:
    every = table("opinions", section)[str(weight)]
    kept = [word for word in every if share("opinion:" + word) >= HELD_OPINIONS]
    return tuple(kept) if for_training and kept else every


@cache
def _mixed(for_training: bool) -> tuple[tuple[str, tuple[str, ...], int], ...]:
    """(adjective, what it is said of, weight) of words that praise one thing and blame another."""
    entries = []
    for line in sections("opinions")["mixed"]:
        word, praised, blamed = line.split("|")
        entries += [(word, tuple(praised.split()), 1), (word, tuple(blamed.split()), -1)]
    return tuple(entries)


class Critic:
    """Makes opinion clauses about one subject: a work, a place to stay, a match."""

    def __init__(
        self, teller: Teller, discourse: Discourse, target: Entity | None, aspects: str
    ) -> None:
        self.teller = teller
        self.draw: Draw = teller.draw
        self.discourse = discourse
        self.target = target
        self.aspects = table("opinions", "aspects")[aspects]
        self.noun = aspects if target is not None else "evening"
        self.training = teller.training

    def word(self, table: str, weight: int) -> str:
        return self.draw.pick(_words(table, weight, self.training))

    def weight(self, side: int) -> int:
        return side * (2 if self.draw.chance(0.35) else 1)

    def subject(self) -> Phrase:
        """The work itself, or one of its aspects."""
        if self.target is not None and self.draw.chance(0.45):
            return self.discourse.refer(self.target, SUBJECT)
        return Phrase("NP", [THE, noun_token(self.draw.pick(self.aspects), False)])

    def adjective_phrase(self, side: int) -> Phrase:
        """An adjective of the wanted side: plain, graded, or two of them."""
        weight = self.weight(side)
        first = Phrase("", [token(self.word("adjectives", weight), "JJ", effect=float(weight))])
        chance = self.draw.unit()
        if chance < 0.3 and abs(weight) == 1:
            return Phrase("ADJP", [self._degree(), first])
        if chance < 0.5:
            other = self.word("adjectives", self.weight(side))
            second = next(
                w for w in (2, 1, -1, -2) if other in table("opinions", "adjectives")[str(w)]
            )
            if other != first.kids[0].word:
                return Phrase("ADJP", [first, AND, token(other, "JJ", effect=float(second))])
        return Phrase("ADJP", [first])

    def _degree(self) -> Token:
        word, factor = self.draw.pick(sections("opinions")["degrees"]).split()
        return token(word, "RB", effect=f"x{factor}")

    def clause(self, side: int) -> Phrase:
        """An opinion of the wanted side before negation, which may turn it."""
        make = self.draw.pick(
            (
                self._is,
                self._is,
                self._is,
                self._is_a,
                self._alone,
                self._towards,
                self._lacks,
                self._fails,
                self._feels,
                self._mixed,
            )
        )
        clause = make(side)
        return statement(clause)

    def _negate(self, clause: Clause, probability: float) -> Clause:
        if self.draw.chance(probability):
            clause.negation = self.draw.pick(
                (NOT, NOT, NT, NEVER, HARDLY) if clause.lemma == "be" else (NOT, NT)
            )
        return clause

    def _tense(self) -> str:
        return "present" if self.draw.chance(0.6) else "past"

    def _is(self, side: int) -> Clause:
        clause = Clause("be", "01", Argument("ARG1", self.subject()), tense=self._tense())
        clause.objects = [Argument("ARG2", self.adjective_phrase(side))]
        return self._negate(clause, 0.25)

    def _mixed(self, side: int) -> Clause:
        entries = [entry for entry in _mixed(self.training) if entry[2] == side]
        word, things, weight = self.draw.pick(entries)
        thing = self.draw.pick(things)
        plural = thing.endswith("s") and thing not in ("gossip",)
        subject = Phrase(
            "NP", [THE, token(thing, "NNS" if plural else "NN")], "p" if plural else "s"
        )
        clause = Clause("be", "01", Argument("ARG1", subject), tense=self._tense())
        adjective = token(
            word, "JJ", effect=float(weight), sense=f"{word}.{'praise' if weight > 0 else 'blame'}"
        )
        kids: list[object] = [self._degree(), adjective] if self.draw.chance(0.3) else [adjective]
        clause.objects = [Argument("ARG2", Phrase("ADJP", kids))]
        return self._negate(clause, 0.15)

    def _is_a(self, side: int) -> Clause:
        subject = self.discourse.refer(self.target, SUBJECT) if self.target else Phrase("NP", [IT])
        clause = Clause("be", "01", Argument("ARG1", subject), tense=self._tense())
        if self.draw.chance(0.4):
            weight = self.weight(side)
            kids: list[object] = [A, token(self.word("nouns", weight), "NN", effect=float(weight))]
        else:
            kids = [A, self.adjective_phrase(side), noun_token(self.noun, False)]
        clause.objects = [Argument("ARG2", Phrase("NP", kids))]
        return self._negate(clause, 0.2)

    def _alone(self, side: int) -> Clause:
        weight = self.weight(side)
        clause = Clause(
            self.word("alone", weight), "01", Argument("ARG1", self.subject()), tense=self._tense()
        )
        clause.effect = float(weight)
        return self._negate(clause, 0.15)

    def _towards(self, side: int) -> Clause:
        weight = self.weight(side)
        clause = Clause(
            self.word("towards", weight),
            "01",
            Argument("ARG0", self.subject()),
            tense=self._tense(),
        )
        audience = self.draw.pick(words("opinions", "audiences"))
        plural = audience in ("critics", "viewers", "children", "fans")
        lemma = {"children": "child"}.get(
            audience, audience.removesuffix("s") if plural else audience
        )
        person = Phrase("NP", [THE, noun_token(lemma, plural)])
        clause.objects = [Argument("ARG1", person)]
        clause.effect = float(weight)
        return self._negate(clause, 0.15)

    def _lacks(self, side: int) -> Clause:
        """To lack something good is bad, to avoid something bad is good."""
        lemma = "lack" if side < 0 else "avoid"
        clause = Clause(lemma, "01", Argument("ARG0", self.subject()), tense=self._tense())
        clause.effect = "lack"
        quality = self.draw.pick(_words("qualities", -side, self.training))
        plural = quality == "clichés"
        thing = token(quality, "NNS" if plural else "NN", effect=float(-side))
        clause.objects = [Argument("ARG1", Phrase("NP", [thing]))]
        return clause

    def _fails(self, side: int) -> Clause:
        """`fails to charm the audience`, `never fails to ...`."""
        weight = self.weight(1)
        subject = self.subject()
        inner = Clause(self.word("towards", weight), "01", Argument("ARG0", subject), tense="past")
        inner.effect = float(weight)
        inner.objects = [Argument("ARG1", Phrase("NP", [THE, noun_token("audience", False)]))]
        outer = Clause(
            "fail" if side < 0 else "manage",
            "01",
            Argument("ARG1" if side < 0 else "ARG0", subject),
            tense=self._tense(),
        )
        outer.objects = [Argument("ARG2" if side < 0 else "ARG1", infinitive(inner, subject))]
        outer.effect = "lack" if side < 0 else 0.0
        return outer

    def _feels(self, side: int) -> Clause:
        weight = self.weight(side)
        lemma = self.word("feelings", weight)
        clause = Clause(
            lemma, "01", Argument("ARG0", Phrase("NP", [FIRST_PERSON[0]], "i")), tense=self._tense()
        )
        clause.objects = [
            Argument("ARG1", Phrase("NP", [THE, noun_token(self.draw.pick(self.aspects), False)]))
        ]
        clause.effect = float(weight)
        return self._negate(clause, 0.15)


def opinion(critic: Critic, side: int) -> Phrase:
    """A sentence of opinion: one clause, two alike, or a contrast."""
    draw = critic.draw
    chance = draw.unit()
    first = critic.clause(side)
    if chance < 0.5:
        return first
    if chance < 0.62:
        return Phrase("S", [first, COMMA, AND, critic.clause(side)])
    if chance < 0.82:
        return Phrase("S", [first, COMMA, BUT, critic.clause(-side)])
    granted = Phrase("SBAR", [draw.pick((ALTHOUGH, THOUGH)), first])
    return Phrase("S", [granted, COMMA, *critic.clause(-side).kids])


def new_critic(composer: Composer) -> Critic:
    """Someone with an opinion about a work, a stay somewhere or a match."""
    teller = composer.teller
    chance = teller.draw.unit()
    if chance < 0.6:
        work = teller.entity("work")
        return Critic(teller, composer.discourse, work, work.kind)
    return Critic(teller, composer.discourse, None, "stay" if chance < 0.85 else "match")


def review(teller: Teller, length: int) -> Text:
    """A review of one leaning, with facts between the opinions."""
    composer = Composer(teller)
    draw = teller.draw
    critic = new_critic(composer)
    side = 1 if draw.chance(0.5) else -1
    while len(composer.sentences) < length:
        chance = draw.unit()
        if chance < 0.22 and critic.target is not None:
            composer.say(
                fact_about(teller, draw.pick(PROFILES[critic.target.kind]), critic.target),
                hedge=False,
            )
        elif chance < 0.28:
            composer.finish(_stars(draw, side))
        elif chance < 0.82:
            composer.finish(critic.clause(side))
        else:
            composer.finish(opinion(critic, side if draw.chance(0.7) else -side))
    return Text("wb", "review", composer.sentences)


def _stars(draw: Draw, side: int) -> Phrase:
    """`I gave it five stars .`."""
    stars = draw.between(4, 5) if side > 0 else draw.between(1, 2)
    clause = Clause("give", "01", Argument("ARG0", Phrase("NP", [FIRST_PERSON[0]], "i")))
    clause.objects = [
        Argument("ARG2", Phrase("NP", [IT])),
        Argument("ARG1", Phrase("NP", [number_token(stars), noun_token("star", stars != 1)])),
    ]
    return statement(clause)
