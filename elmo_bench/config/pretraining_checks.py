"""What the settings of a pretraining may hold, told before anything heavy is imported."""

from elmo_bench.config.checks import FLAG, RULES, Allowed, number, one_of, or_null, whole

_POSITIVE = number(0.0, open_low=True)

PRETRAINING_RULES: dict[str, Allowed] = {
    **RULES,
    "save_dtype": one_of("float32", "float16"),
    "trainer.num_nodes": whole(1),
    "trainer.log_every_n_steps": whole(1),
    "trainer.checkpoint_minutes": or_null(_POSITIVE),
    "trainer.checkpoint_steps": or_null(whole(1)),
    "pretraining.seed": whole(0),
    "pretraining.epochs": whole(1),
    "pretraining.budget_minutes": or_null(_POSITIVE),
    "pretraining.vocabulary.max_words": whole(4),
    "pretraining.vocabulary.min_count": whole(1),
    "pretraining.loss.kind": one_of("full", "sampled", "adaptive"),
    "pretraining.loss.div_value": whole(1),
    "pretraining.loss.num_negatives": whole(1),
    "pretraining.batch_size": whole(1),
    "pretraining.unroll_steps": whole(1),
    "pretraining.accumulate_grad_batches": whole(1),
    "pretraining.optimizer.kind": one_of("adam", "adagrad"),
    "pretraining.optimizer.lr": _POSITIVE,
    "pretraining.optimizer.beta2": number(0.0, 1.0, open_low=True),
    "pretraining.schedule.kind": one_of("constant", "cosine"),
    "pretraining.schedule.warmup_steps": whole(0),
    "pretraining.gradient_clip_val": or_null(_POSITIVE),
    "pretraining.sum_over_steps": FLAG,
    "pretraining.precision": one_of("32-true", "bf16-mixed", "16-mixed"),
    "pretraining.num_validations": whole(1),
}
