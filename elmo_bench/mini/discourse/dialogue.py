"""Conversations: two people talk about what happened, in turns."""

from elmo_bench.mini.discourse.compose import Composer, opening_words
from elmo_bench.mini.discourse.plans import EVENTS, SPEAKERS, Text, event_about
from elmo_bench.mini.discourse.review import opinion
from elmo_bench.mini.facts import Fact
from elmo_bench.mini.grammar import Argument, Clause, statement
from elmo_bench.mini.opinions import Critic
from elmo_bench.mini.reference import SUBJECT
from elmo_bench.mini.teller import Teller
from elmo_bench.mini.tellings import Telling
from elmo_bench.mini.tree import PERIOD, QUESTION, Phrase, Sentence, Token, token

YES, NO, WELL, OH = (token(word, "UH") for word in ("yes", "no", "well", "oh"))
DO, DID = token("do", "VBP", "do"), token("did", "VBD", "do")
THAT = token("that", "IN")


class Conversation:
    """Two speakers who take turns; `I` and `you` switch with the turn."""

    def __init__(self, teller: Teller, topic: str) -> None:
        self.composer = Composer(teller)
        self.draw = teller.draw
        self.teller = teller
        kinds = SPEAKERS[topic]
        self.speakers = [teller.entity(self.draw.pick(kinds)), teller.entity(self.draw.pick(kinds))]
        while self.speakers[1].short == self.speakers[0].short:
            self.speakers[1] = teller.entity(self.draw.pick(kinds))
        self.turn = 0
        self._take_turn()

    def _take_turn(self) -> None:
        discourse = self.composer.discourse
        discourse.speaker = self.speakers[self.turn % 2]
        discourse.listener = self.speakers[(self.turn + 1) % 2]

    @property
    def name(self) -> str:
        return "_".join(item.word for item in self.speakers[self.turn % 2].full)

    def next_turn(self) -> None:
        self.turn += 1
        self._take_turn()

    def utter(self, kids: list[Phrase | Token], end: Token = PERIOD) -> None:
        """One sentence of the current speaker."""
        self.composer.sentences.append(Sentence(Phrase("TOP", [*kids, end]), self.name))
        self.composer.discourse.next_sentence()

    def state(self, fact: Fact, opening: tuple[Token, ...], telling: Telling | None = None) -> None:
        said = statement(self.teller.clause(fact, self.composer.discourse, telling))
        self.utter([*opening_words(*opening), said])

    def ask(self, fact: Fact) -> None:
        """`Did you hear that ... ?`, `Do you know ... ?`."""
        discourse = self.composer.discourse
        listener = discourse.refer(self.speakers[(self.turn + 1) % 2], SUBJECT)
        past = self.draw.chance(0.6)
        clause = Clause(
            self.draw.pick(("hear", "read", "notice") if past else ("know", "think", "believe")),
            "01",
            Argument("ARG0", listener),
        )
        proposition = clause.proposition
        inner = statement(self.teller.clause(fact, discourse))
        listener.mark("role", proposition, "ARG0")
        verb = Phrase("", [token(clause.lemma, "VB")]).mark("role", proposition, "V")
        content = Phrase("SBAR", [THAT, inner]).mark("role", proposition, "ARG1")
        self.utter([DID if past else DO, listener, Phrase("VP", [verb, content])], QUESTION)


def dialogue(teller: Teller, topic: str, length: int) -> Text:
    """A conversation that starts with a question and stays with the people it names."""
    talk = Conversation(teller, topic)
    draw = teller.draw
    first = teller.fact(draw.pick(EVENTS[topic]))
    cast = first.entities()
    talk.ask(first)
    talk.next_turn()
    talk.state(event_about(teller, topic, draw.pick(cast)), (draw.pick((YES, NO, WELL, OH)),))
    while len(talk.composer.sentences) < length:
        if draw.chance(0.5):
            talk.next_turn()
        fact = event_about(teller, topic, draw.pick(cast))
        chance = draw.unit()
        if chance < 0.2:
            talk.ask(fact)
            talk.next_turn()
        elif chance < 0.45:
            remark, telling = teller.happening(topic, speaker=talk.speakers[talk.turn % 2])
            talk.state(remark, (), telling)
        elif chance < 0.6 and topic in ("arts", "sport"):
            about = "match" if topic == "sport" else "film"
            critic = Critic(teller, talk.composer.discourse, None, about)
            talk.utter([opinion(critic, draw.pick((1, -1)))])
        else:
            talk.state(fact, (draw.pick((YES, NO, WELL)),) if draw.chance(0.3) else ())
        cast += [other for other in fact.entities() if other not in cast and len(cast) < 5]
    return Text("tc", talk.composer.sentences)
