"""Part-of-speech tagging.

Corpus: one sentence per line, each word with its universal tag: the/DET dog/NOUN barks/VERB.
License: the sample was written for this project.
Splits: 16 / 6 / 6 sentences.
Metric: accuracy on words.
Predictions: dev.txt and test.txt, in the format of the corpus.
"""
