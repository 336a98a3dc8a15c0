"""Composition of sentiment: every node of a binary tree gets one of five levels, bottom up."""

from typing import Any

from elmo_bench.mini.tree import COMMA, PERIOD, Phrase, Token

LIMIT = 2.5
CONCEDED = 0.4  # what remains of an opinion that is conceded before the opposite
_BOUNDS = (-1.5, -0.4, 0.4, 1.5)

Scored = tuple[float, str]  # a value, and the name of a pending operator


def level(value: float) -> int:
    """0 very negative, 1 negative, 2 neutral, 3 positive, 4 very positive."""
    if value < 0:
        return (value > _BOUNDS[0]) + (value > _BOUNDS[1])
    return 2 + (value >= _BOUNDS[2]) + (value >= _BOUNDS[3])


def compose(left: Scored, right: Scored) -> Scored:
    """Combine two neighbors: operators act on what is to their right, opinions add up."""
    operator, (value, waiting) = left[1], right
    if operator == "not":
        return _negated(value), waiting
    if operator == "lack":
        return (-1.0 if value > 0 else 1.0 if value < 0 else 0.0), waiting
    if operator.startswith("x"):
        return _clipped(value * float(operator[1:])), waiting
    if operator in ("but", "although"):
        return value, "granting" if operator == "but" else "granted"
    if waiting == "granting" and operator != ",":
        return _clipped(CONCEDED * left[0] + value), ""
    if operator == "granted":
        return _clipped(CONCEDED * left[0] + value), ""
    return _clipped(left[0] + value), waiting if waiting != "," else operator


def _negated(value: float) -> float:
    """`not superb` is mild blame, `not dull` mild praise, `not awful` almost neutral."""
    if value > 0:
        return -1.0
    return 0.6 if -1.5 < value < 0 else 0.2 if value < 0 else 0.0


def _clipped(value: float) -> float:
    return max(-LIMIT, min(LIMIT, value))


def tree_text(tokens: list[Token], root: Phrase) -> tuple[str, int]:
    """Return a sentence as a bracketed binary tree with a level at every node, and its root level.

    `tokens` are those of the flattened sentence, whose first word is capitalized and so on.
    """
    words = iter(tokens)
    following: list[Token] = [next(words)]

    def take() -> Token:
        found = following[0]
        following[0] = next(words, PERIOD)
        return found

    def build(node: Any) -> list[tuple[str, Scored]]:
        """Return the leaf or the single node of a phrase; nothing for a dropped comma."""
        if isinstance(node, Token):
            if node is COMMA and following[0] is not COMMA:
                return []
            if not node.pos:
                return []
            return [_leaf(take())]
        return _fold([built for kid in node.kids for built in build(kid)])

    [(text, scored)] = build(root)
    return text, level(scored[0])


def _leaf(word: Token) -> tuple[str, Scored]:
    shown = {"(": "-LRB-", ")": "-RRB-"}.get(word.word, word.word)
    if word.pos in (",", ".", ":", "``", "''"):
        return f"(2 {shown})", (0.0, ",")
    if isinstance(word.effect, str):
        waiting = word.effect
        tilt = 1 if waiting in ("not", "lack") else 2
        return f"({tilt} {shown})", (0.0, waiting)
    return f"({level(word.effect)} {shown})", (word.effect, "")


def _fold(parts: list[tuple[str, Scored]]) -> list[tuple[str, Scored]]:
    """Merge parts into one right-branching node."""
    while len(parts) > 1:
        (left_text, left), (right_text, right) = parts[-2:]
        scored = compose(left, right)
        parts[-2:] = [(f"({level(scored[0])} {left_text} {right_text})", scored)]
    return parts
