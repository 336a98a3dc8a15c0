"""Words that a biLM expects: text continued by its forward half, blanks filled by both."""

from collections.abc import Sequence

import torch

from elmo_bench.bilm.characters import BOS, EOS, UNK
from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.perplexity import load_softmax
from elmo_bench.bilm.sentences import check_sentence
from elmo_bench.errors import UserError

BLANK = "___"


@torch.no_grad()
def continue_sentence(
    bilm: BiLm, words: Sequence[str], max_words: int, temperature: float, seed: int
) -> list[str]:
    """Continue a sentence word by word until the model ends it or `max_words` are added.

    A temperature of 1 samples from the model's distribution, a lower one favors likely words, and
    0 always takes the most likely word.
    """
    if not 0 <= temperature < float("inf"):
        raise UserError(f"The temperature is {temperature}; it must be a number of at least 0.")
    if not -(2**63) <= seed < 2**63:
        raise UserError(f"The seed is {seed}; it must fit into 64 bits.")
    check_sentence(words, 0)
    softmax, vocabulary = load_softmax(bilm)
    excluded = torch.tensor(vocabulary.ids([BOS, UNK]), device=bilm.device)
    generator = torch.Generator(bilm.device).manual_seed(seed)
    text, state, unread = list(words), None, [BOS, *words]
    bilm.eval()
    for _ in range(max_words):
        layers, state = bilm.forward_lstm(bilm.encode_words(unread)[None], state)
        scores = softmax.log_probs(layers[-1, :, -1])[0]
        scores[excluded] = float("-inf")
        if temperature == 0:
            choice = int(scores.argmax())
        else:
            probabilities = (scores / temperature).softmax(dim=0)
            choice = int(torch.multinomial(probabilities, 1, generator=generator))
        unread = [vocabulary.words[choice]]
        if unread == [EOS]:
            break
        text += unread
    return text


@torch.no_grad()
def fill_blank(bilm: BiLm, words: Sequence[str], number: int) -> list[tuple[str, float]]:
    """The words that fit best into the one blank (`___`) of a sentence, with their probabilities.

    A word's probability is the product of what both directions give it, the forward one from the
    words before the blank and the backward one from those after it, divided by the sum over the
    vocabulary.
    """
    if (blanks := list(words).count(BLANK)) != 1:
        raise UserError(f"The sentence has {blanks} blanks; write exactly one word as {BLANK}.")
    position = list(words).index(BLANK)
    check_sentence(words, 0)
    softmax, vocabulary = load_softmax(bilm)
    bilm.eval()
    before, after = [BOS, *words[:position]], [EOS, *reversed(words[position + 1 :])]
    scores = torch.zeros(len(vocabulary), device=bilm.device)
    for stack, context in ((bilm.forward_lstm, before), (bilm.backward_lstm, after)):
        layers, _ = stack(bilm.encode_words(context)[None], None)
        scores += softmax.log_probs(layers[-1, :, -1])[0]
    scores[torch.tensor(vocabulary.ids([BOS, EOS, UNK]), device=bilm.device)] = float("-inf")
    best = scores.softmax(dim=0).topk(min(number, len(vocabulary) - 3))
    return [
        (vocabulary.words[index], probability)
        for index, probability in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
