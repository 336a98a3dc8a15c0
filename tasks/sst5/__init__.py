"""Sentiment in five levels, from very negative to very positive.

Corpus: Stanford Sentiment Treebank, film reviews; trees with a label at every node.
License: none stated by its makers, so it is not shipped.
Splits: 8,544 / 1,101 / 2,210 sentences. Training takes the phrases of the trees as well, dev and
    test the whole sentences alone.
Metric: accuracy on whole sentences.
Published: 51.4 without and 54.7 ± 0.5 with ELMo, test, mean of five seeds
    (Peters et al. 2018, table 1).
"""

from tasks.sst5.task import Sst5Task

__all__ = ["Sst5Task"]
