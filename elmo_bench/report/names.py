"""The names of tables and figures: what commands offer before anything heavy is imported."""

TABLES = (
    "main", "layers", "placement", "words", "weights", "finetuning", "groups", "analysis",
    "neighbors",
)  # fmt: skip
FIGURES = ("gains", "layer-weights", "learning-curves", "sample-efficiency", "analysis")
