"""Exact match and token F1 as computed by evaluate-v1.1.py (SQuAD 1.1)."""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from elmo_bench.errors import UserError
from elmo_bench.metrics.ratios import Ratio

# Deleted, not replaced by a space: `well-known` becomes one word. Non-ASCII punctuation stays.
ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
# \b is Unicode-aware, so an article next to an en dash or a combining accent is removed too.
ARTICLE = re.compile(r"\b(a|an|the)\b")


def score_squad(
    references: Mapping[str, Sequence[str]], predictions: Mapping[str, Any]
) -> dict[str, float]:
    """Mean over questions of the best match with any reference, separately for each measure.

    A question without a prediction scores 0; predictions for other questions are ignored.
    """
    if not references:
        raise UserError("no questions to score: references is empty")
    exact = f1 = 0.0
    for question, answers in references.items():
        _check_answers(question, answers)
        if question not in predictions:
            continue
        prediction = predictions[question]
        if not isinstance(prediction, str):
            raise UserError(
                f"question {question!r}: the prediction {prediction!r} is not a text string"
            )
        words = normalize_answer(prediction).split()
        answer_words = [normalize_answer(answer).split() for answer in answers]
        exact += max(words == answer for answer in answer_words)
        f1 += max(_token_f1(words, answer) for answer in answer_words)
    return {
        "exact_match": Ratio(exact, len(references)).percent,
        "f1": Ratio(f1, len(references)).percent,
    }


def normalize_answer(text: str) -> str:
    """Lowercase, remove punctuation and articles, and separate words by one space.

    No Unicode normalization: composed and decomposed accents are different letters.
    """
    text = text.lower().translate(ASCII_PUNCTUATION)
    return " ".join(ARTICLE.sub(" ", text).split())


def _token_f1(prediction: list[str], answer: list[str]) -> float:
    # Two empty answers have no token in common: F1 0, although they match exactly.
    shared = (Counter(prediction) & Counter(answer)).total()
    return 2 * shared / (len(prediction) + len(answer)) if shared else 0.0


def _check_answers(question: str, answers: Sequence[str]) -> None:
    if isinstance(answers, str) or not answers:
        raise UserError(f"question {question!r}: {answers!r} is not a list of reference answers")
