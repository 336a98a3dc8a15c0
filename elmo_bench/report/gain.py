"""The gain over a baseline, computed as in the paper."""


def error_reduction(baseline: float, score: float) -> float:
    """The share of the baseline's error that is removed, in percent: the paper's relative gain."""
    return 100 * (score - baseline) / (100 - baseline) if baseline != 100 else 0.0


def format_gain(baseline: float, score: float) -> str:
    """The absolute and the relative gain, as in the paper's Table 1."""
    return f"{score - baseline:+.2f} / {error_reduction(baseline, score):+.1f} %"
