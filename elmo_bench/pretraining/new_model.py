"""What a pretraining starts from: a biLM, its softmax and vocabulary."""

from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.perplexity import has_softmax, load_softmax
from elmo_bench.bilm.softmax import Softmax, as_trained_with, build_softmax
from elmo_bench.bilm.vocabulary import Vocabulary
from elmo_bench.config.errors import ConfigError
from elmo_bench.config.pretraining_settings import PretrainingSettings, PretrainSettings
from elmo_bench.pretraining.sentence_store import PreparedCorpus

Model = tuple[BiLm, Softmax, Vocabulary]


def new_model(settings: PretrainSettings, text: PreparedCorpus, name: str) -> Model:
    """A new biLM, softmax and vocabulary, or those of `init_from`.

    Official weights have no softmax and no vocabulary, so these are made for the corpus.
    """
    recipe = settings.pretraining
    words = recipe.vocabulary
    if settings.init_from is None:
        vocabulary = text.vocabulary(words.max_words, words.min_count)
        bilm = BiLm(settings.bilm.architecture().but(name=name), vocabulary.words)
    else:
        bilm = BiLm.load(settings.init_from).train()
        bilm.architecture = bilm.architecture.but(name=name)
        if has_softmax(bilm):
            softmax, vocabulary = load_softmax(bilm)
            loss = recipe.loss.fitted(len(vocabulary))
            return bilm, as_trained_with(loss, softmax), vocabulary
        vocabulary = text.vocabulary(words.max_words, words.min_count)
        bilm.vocabulary = vocabulary.words
    loss = recipe.loss.fitted(len(vocabulary))
    return bilm, build_softmax(loss, bilm.projection_dim, len(vocabulary)), vocabulary


def count_steps(text: PreparedCorpus, recipe: PretrainingSettings) -> int:
    """Optimizer steps of a training."""
    # A sentence of n words has n + 1 targets in each direction.
    tokens = recipe.epochs * (text.train.num_words + len(text.train))
    if tokens < recipe.tokens_per_step:
        raise ConfigError(
            f"the corpus has {tokens} tokens in {recipe.epochs} epochs, but one step takes "
            f"{recipe.tokens_per_step}. Lower pretraining.batch_size, or raise pretraining.epochs."
        )
    return tokens // recipe.tokens_per_step
