"""Coreference resolution: which mentions of a document refer to the same entity.

Corpus: OntoNotes 5.0 in the CoNLL-2012 split and columns; any text in these columns (OntoGUM).
License: LDC user agreement, so it is not shipped.
Splits: 2,802 / 343 / 348 documents, each part of a long document counted separately.
    `/.` and `/?` are read as `.` and `?`; in training, clusters that share a mention are merged.
Metric: mean F1 of MUC, B-cubed and CEAFe, as scorer.pl v8.01 counts them.
Predictions: dev.conll, test.conll: CoNLL-2012 columns, as scorer.pl expects.
Published: 67.2 without and 70.4 with ELMo, test, one run (Peters et al. 2018, table 1).
"""
