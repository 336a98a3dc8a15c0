"""Named entity recognition.

Corpus: CoNLL-2003 English, Reuters news, four entity types; the columns of the official release,
    and any other IOB1 or IOB2 columns (WNUT-17, the mini benchmark).
License: annotation free; the Reuters text is licensed by NIST, so it is not shipped.
Splits: 14,041 / 3,250 / 3,453 sentences (eng.train, eng.testa, eng.testb).
Metric: F1 over entities, as conlleval counts it.
Predictions: dev.conll, test.conll: token, gold tag and predicted tag, separated by tabs, which is
    what conlleval reads.
Published: 90.15 without and 92.22 ± 0.10 with ELMo, test, mean of five seeds
    (Peters et al. 2018, table 1).
"""
