"""Natural language inference: does a premise entail a hypothesis, contradict it, or neither.

Corpus: SNLI 1.0, written by crowd workers from image captions; jsonl.
License: CC BY-SA 4.0.
Splits: 549,367 / 9,842 / 9,824 pairs, after those without a gold label are left out.
Metric: accuracy.
Predictions: dev.jsonl, test.jsonl: the pairs that have a gold label, with the prediction in its
    place.
Published: 88.0 without and 88.7 ± 0.17 with ELMo, test, mean of five seeds
    (Peters et al. 2018, table 1).
"""
