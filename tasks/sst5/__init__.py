"""Sentiment in five levels, from very negative to very positive.

Corpus: Stanford Sentiment Treebank, movie reviews; trees with a label at every node.
License: none stated by its authors, so it is not shipped.
Splits: 8,544 / 1,101 / 2,210 sentences. Training also uses the phrases of the trees with four
    tokens or more, each once per label; dev and test only whole sentences.
Metric: accuracy on whole sentences.
Predictions: dev.txt, test.txt: one tree per sentence, with the prediction at its root; its words
    are neutral.
Published: 51.4 without and 54.7 ± 0.5 with ELMo, test, mean of five seeds
    (Peters et al. 2018, table 1).
"""
