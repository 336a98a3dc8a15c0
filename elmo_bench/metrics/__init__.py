"""The tasks' official metrics: plain lists and dicts in, percentages out.

Each reproduces the scorer that papers on its task report (conlleval, srl-eval.pl, scorer.pl v8.01,
evaluate-v1.1.py), quirks included; the module of each metric names its scorer.
"""

from elmo_bench.metrics.classification import accuracy
from elmo_bench.metrics.coref import score_coref
from elmo_bench.metrics.ner import score_ner
from elmo_bench.metrics.squad import score_squad
from elmo_bench.metrics.srl import score_srl

__all__ = ["accuracy", "score_coref", "score_ner", "score_squad", "score_srl"]
