"""Question answering: the span of a paragraph that answers a question.

Corpus: SQuAD 1.1, questions on Wikipedia paragraphs; JSON.
License: CC BY-SA 4.0.
Splits: 87,599 / 10,570 questions; the test set is hidden, so the dev set replaces it unless
    another file is named. Compare such numbers with the paper's dev numbers (80.8 and 85.6).
Metric: token F1 and exact match, as evaluate-v1.1.py counts them, over every question that has an
    answer; training skips those whose answers align to no token.
Deviations, for memory: training cuts paragraphs at `max_train_tokens`, and a batch has at most
    `max_padded_tokens`; the authors' code has neither limit. null turns them off.
Memory: a batch is limited in padded tokens, so longer paragraphs need no more memory: at the
    paper's sizes, with ELMo, the tensors of a training step with 37 questions, each with its own
    paragraph of 400 tokens, take 3.1 GB, those of an evaluation step 1.5 GB
    (`python benchmarks/task_memory.py --tasks squad`).
Predictions: dev.json, test.json: {question id: answer}, as evaluate-v1.1.py expects.
Published: 81.1 without and 85.8 with ELMo, test F1, one run (Peters et al. 2018, table 1).
"""
