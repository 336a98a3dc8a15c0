"""The names of tables and figures, which commands list without importing anything heavy."""

TABLES = (
    "main", "encoders", "updates", "layers", "placement", "words", "weights", "finetuning",
    "groups", "analysis", "neighbors",
)  # fmt: skip
# Of the records of runs and analyses.
FIGURES = ("gains", "layer-weights", "learning-curves", "sample-efficiency", "analysis")
PRETRAINING = "pretraining"  # a figure of a biLM's folder
