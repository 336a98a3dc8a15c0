"""Text generation with the forward half of a biLM."""

from collections.abc import Sequence

import torch

from elmo_bench.bilm.characters import BOS, EOS, UNK
from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.perplexity import load_softmax
from elmo_bench.errors import UserError


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
