"""The gain over a baseline, as the paper counts it."""


def error_reduction(baseline: float, score: float) -> float:
    """How much of the baseline's error is gone, in percent: the paper's relative increase."""
    return 100 * (score - baseline) / (100 - baseline) if baseline != 100 else 0.0


def gain_words(baseline: float, score: float) -> str:
    """A gain absolute and relative, as in the paper's table 1."""
    return f"{score - baseline:+.2f} / {error_reduction(baseline, score):+.1f} %"
