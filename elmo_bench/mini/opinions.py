"""Clauses of praise and blame; `sentiment` computes the level that they add up to."""

from elmo_bench.mini.grammar import NOT, NT, Argument, Clause, statement
from elmo_bench.mini.lexicon import sections, table
from elmo_bench.mini.morphology import noun_token
from elmo_bench.mini.opinion_words import mixed_words, opinion_words
from elmo_bench.mini.reference import FIRST_PERSON, SUBJECT, Discourse, named
from elmo_bench.mini.subordination import infinitive
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tellings import parse_tagged
from elmo_bench.mini.tree import Phrase, Token, token
from elmo_bench.mini.world import Entity

NEVER, HARDLY = token("never", "RB", effect="not"), token("hardly", "RB", effect="not")
NEITHER, NOR = token("neither", "DT", effect="not"), token("nor", "CC")
FAR, FROM = token("far", "RB"), token("from", "IN", effect="not")
ANYTHING, BUT_NOT = token("anything", "NN"), token("but", "CC", effect="not")
THE, A, AND, IT = (token(*pair.split("/")) for pair in ("the/DT", "a/DT", "and/CC", "it/PRP"))
OF = token("of", "IN")


class Critic:
    """Makes opinion clauses about one subject: a work, a stay somewhere, a match."""

    def __init__(
        self, teller: Teller, discourse: Discourse, target: Entity | None, about: str
    ) -> None:
        self.draw = teller.draw
        self.training = teller.training
        self.discourse = discourse
        self.target = target
        self.about = about
        self.unnamed = Entity(f"a-{about}", about, "", (), (), ())  # if it has no name
        self.vivid = False  # whether degree words may reveal the side, as in whole reviews
        self.strength = 0  # of the next opinions; 0 draws it at random
        self.author = discourse.speaker or Entity("author", "author", "", (), (), ())
        self.adjectives = ("adjectives", about if about in ("stay", "match") else "art")
        self.plain = (self._is_plain, self._is_plain, self._alone_plain, self._towards_plain)
        self.clauses = (
            *(self._is, self._is, self._is, self._is_a, self._is_a, self._alone, self._towards),
            *(self._lacks, self._fails, self._feels, self._mixed, self._done),
        )

    def clause(self, side: int) -> Phrase:
        """An opinion of the given side, unless a negation reverses it."""
        return statement(self.draw.pick(self.clauses)(side))

    def plain_clause(self, weight: int) -> Phrase:
        """An opinion that is certainly of the side and strength of the weight."""
        self.strength = abs(weight)
        said = statement(self.draw.pick(self.plain)(weight // abs(weight)))
        self.strength = 0
        return said

    def adjective_phrase(self, side: int, negated: bool = False) -> Phrase:
        """An adjective of the given side: plain, graded, or two of them."""
        first = self._adjective(side)
        # Often enough that a small language model learns the side of a word from its neighbor.
        if self.vivid and not negated and self.draw.chance(0.7):
            coloured = self.draw.pick(table("opinions", "degrees_coloured")[str(side)])
            return Phrase("ADJP", [token(coloured, "RB", effect="x1.5"), first])
        chance = self.draw.unit()
        if chance < 0.3 and abs(first.effect) == 1:  # type: ignore[arg-type]
            return Phrase("ADJP", [self._degree(negated), first])
        if chance < 0.55:
            second = self._adjective(side)
            if second is not first:
                return Phrase("ADJP", [first, AND, second])
        return Phrase("ADJP", [first])

    def _weight(self, side: int) -> int:
        return side * (self.strength or (2 if self.draw.chance(0.35) else 1))

    def _word(self, section: str, weight: int) -> str:
        return self.draw.pick(opinion_words(section, weight, self.training))

    def _adjective(self, side: int) -> Token:
        weight = self._weight(side)
        return token(
            self._word(self.draw.pick(self.adjectives), weight), "JJ", effect=float(weight)
        )

    def _degree(self, negated: bool) -> Token:
        lines = sections("opinions")["degrees_negated" if negated else "degrees"]
        word, factor = self.draw.pick(lines).split()
        return token(word, "RB", effect=f"x{factor}")

    def _subject(self) -> Phrase:
        """The whole, or one of its aspects."""
        if self.target is None:
            return self._aspect()
        chance = self.draw.unit()
        if chance < 0.4:
            return self.discourse.refer(self.target, SUBJECT)
        if chance < 0.55:
            name = named(self.target, short=True).mark("mention", self.target)
            whole = Phrase("PP", [OF, name])
            return Phrase("NP", [self._aspect(), whole])
        return self._aspect()

    def aspect_noun(self) -> Token:
        return noun_token(self.draw.pick(table("opinions", "aspects")[self.about]), False)

    def _aspect(self) -> Phrase:
        return Phrase("NP", [THE, self.aspect_noun()])

    def _whole(self) -> Phrase:
        if self.target is not None:
            return self.discourse.refer(self.target, SUBJECT)
        return self.it()

    def i(self) -> Phrase:
        return Phrase("NP", [FIRST_PERSON[SUBJECT]], "i").mark("mention", self.author)

    def it(self) -> Phrase:
        """A pronoun for the whole, named or not."""
        return Phrase("NP", [IT]).mark("mention", self.target or self.unnamed)

    def _audience(self) -> Phrase:
        noun = self.draw.pick(table("opinions", "audiences")[self.about])
        plural = noun.endswith("s") or noun == "children"
        return Phrase("NP", [THE, parse_tagged(f"{noun}/{'NNS' if plural else 'NN'}")])

    def _about(self, lemma: str, role: str, subject: Phrase) -> Clause:
        tense = "present" if self.draw.chance(0.6) else "past"
        return Clause(lemma, "01", Argument(role, subject), tense=tense)

    def _negate(self, clause: Clause, probability: float) -> Clause:
        if self.draw.chance(probability):
            choices = (NOT, NOT, NT, NEVER, HARDLY) if clause.lemma == "be" else (NOT, NT)
            clause.negation = self.draw.pick(choices)
        return clause

    def _is(self, side: int) -> Clause:
        clause = self._about("be", "ARG1", self._subject())
        chance = self.draw.unit()
        if chance < 0.22:
            clause.objects = [Argument("ARG2", self.adjective_phrase(side, negated=True))]
            return self._negate(clause, 1.0)
        if chance < 0.3:
            kids: list[Phrase | Token] = [FAR, Phrase("PP", [FROM, self._adjective(-side)])]
        elif chance < 0.35:
            kids = [ANYTHING, Phrase("PP", [BUT_NOT, self._adjective(-side)])]
        elif chance < 0.42:
            kids = [NEITHER, self._adjective(-side), NOR, self._adjective(-side)]
        else:
            kids = self.adjective_phrase(side).kids
        clause.objects = [Argument("ARG2", Phrase("ADJP", kids))]
        return clause

    def _is_plain(self, side: int) -> Clause:
        clause = self._about("be", "ARG1", self._subject())
        clause.objects = [Argument("ARG2", self.adjective_phrase(side))]
        return clause

    def _is_a(self, side: int) -> Clause:
        clause = self._about("be", "ARG1", self._whole())
        if self.draw.chance(0.4):
            weight = self._weight(side)
            noun = token(self._word("nouns", weight), "NN", effect=float(weight))
            kids: list[Phrase | Token] = [A, noun]
        else:
            whole = noun_token(self.draw.pick(table("opinions", "wholes")[self.about]), False)
            kids = [A, self.adjective_phrase(side), whole]
        clause.objects = [Argument("ARG2", Phrase("NP", kids))]
        return self._negate(clause, 0.2)

    def _done(self, side: int) -> Clause:
        """`It is beautifully written`: the manner carries the opinion."""
        weight = self._weight(side)
        manner = token(self._word("manner", weight), "RB", effect=float(weight))
        done = self.draw.pick(table("opinions", "done")[self.about])
        clause = self._about("be", "ARG1", self._whole())
        clause.objects = [Argument("ARG2", Phrase("ADJP", [manner, token(done, "VBN")]))]
        return self._negate(clause, 0.1)

    def _mixed(self, side: int) -> Clause:
        word, things, weight = self.draw.pick(mixed_words(self.adjectives[1], side))
        subject = Phrase("NP", [THE, noun_token(self.draw.pick(things), False)])
        clause = self._about("be", "ARG1", subject)
        sense = f"{word}.{'praise' if weight > 0 else 'blame'}"
        adjective = token(word, "JJ", effect=float(weight), sense=sense)
        kids = [self._degree(False), adjective] if self.draw.chance(0.3) else [adjective]
        clause.objects = [Argument("ARG2", Phrase("ADJP", kids))]
        return clause

    def _alone_plain(self, side: int) -> Clause:
        weight = self._weight(side)
        clause = self._about(self._word("alone", weight), "ARG1", self._subject())
        clause.effect = float(weight)
        return clause

    def _alone(self, side: int) -> Clause:
        return self._negate(self._alone_plain(side), 0.15)

    def _towards_plain(self, side: int) -> Clause:
        weight = self._weight(side)
        clause = self._about(self._word("towards", weight), "ARG0", self._subject())
        clause.objects = [Argument("ARG1", self._audience())]
        clause.effect = float(weight)
        return clause

    def _towards(self, side: int) -> Clause:
        return self._negate(self._towards_plain(side), 0.15)

    def _lacks(self, side: int) -> Clause:
        """To lack something good is bad, to avoid something bad is good."""
        clause = self._about("lack" if side < 0 else "avoid", "ARG0", self._subject())
        clause.effect = "lack"
        quality = token(self._word("qualities", -side), "NN", effect=float(-side))
        clause.objects = [Argument("ARG1", Phrase("NP", [quality]))]
        return clause

    def _fails(self, side: int) -> Clause:
        """`fails to charm the audience`, `manages to charm the audience`."""
        weight = self._weight(1)
        subject = self._subject()
        inner = Clause(self._word("towards", weight), "01", Argument("ARG0", subject))
        inner.effect = float(weight)
        inner.objects = [Argument("ARG1", self._audience())]
        bad = side < 0
        outer = self._about("fail" if bad else "manage", "ARG1" if bad else "ARG0", subject)
        outer.objects = [Argument("ARG2" if bad else "ARG1", infinitive(inner, subject))]
        outer.effect = "lack" if bad else 0.0
        return outer

    def _feels(self, side: int) -> Clause:
        weight = self._weight(side)
        clause = self._about(self._word("feelings", weight), "ARG0", self.i())
        clause.objects = [Argument("ARG1", self._aspect())]
        clause.effect = float(weight)
        return self._negate(clause, 0.15)
