"""Semantic role labeling: who did what to whom, for predicates that are given.

Corpus: OntoNotes 5.0 in the CoNLL-2012 split and columns; any PropBank text in these columns.
License: LDC user agreement, so it is not shipped.
Splits: about 253,000 / 35,000 / 24,000 predicates; one example per predicate that has a column
    of arguments, or only verbs with `all_predicates: false`.
Metric: F1 over arguments without V, as srl-eval.pl (CoNLL-2005) counts it. Scoring two files
    counts every predicate of the gold file; with `--partial`, only those predicted.
Predictions: dev.conll, test.conll: CoNLL-2012 columns of the sentences that have predicates.
Published: 81.4 without and 84.6 with ELMo, test, one run (Peters et al. 2018, table 1).
"""
