"""`elmo-bench generate`: a sentence continued by the forward model."""

import argparse

HELP = "continue a sentence with the forward language model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bilm", help="a biLM folder, or a name in results/bilm")
    parser.add_argument("text", nargs="?", default="", help="how the sentence begins, tokens apart")
    parser.add_argument("--words", type=int, default=40, help="at most so many words more (40)")
    parser.add_argument("--number", type=int, default=1, help="how many continuations (1)")
    parser.add_argument(
        "--temperature",
        type=float,
        default=0.8,
        help="0 takes the likeliest word, 1 draws as the model expects them (0.8)",
    )
    parser.add_argument("--seed", type=int, default=1, help="another seed, another sentence (1)")


def run(args: argparse.Namespace) -> int:
    """Print one line for each continuation."""
    from elmo_bench import BiLm
    from elmo_bench.bilm.generate import continue_sentence

    bilm = BiLm.load(args.bilm)
    for number in range(args.number):
        seed = args.seed + number
        words = args.text.split()
        print(" ".join(continue_sentence(bilm, words, args.words, args.temperature, seed)))
    return 0
