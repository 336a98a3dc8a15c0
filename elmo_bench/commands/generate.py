"""`elmo-bench generate`: continue a sentence with the forward language model."""

import argparse

HELP = "continue a sentence with the forward language model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bilm", help="a biLM folder or a name in results/bilm")
    parser.add_argument(
        "text",
        nargs="?",
        default="",
        help="the beginning of the sentence, tokenized (default: empty)",
    )
    parser.add_argument(
        "--words",
        type=int,
        default=40,
        help="maximum number of words to add (default: %(default)s)",
    )
    parser.add_argument(
        "--number", type=int, default=1, help="number of continuations (default: %(default)s)"
    )
    parser.add_argument(
        "--temperature",
        type=float,
        default=0.8,
        help="0 takes the most likely word, 1 samples from the model's distribution "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        help="random seed of the first continuation (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> int:
    """Print one line per continuation."""
    from elmo_bench import BiLm
    from elmo_bench.bilm.generate import continue_sentence

    bilm = BiLm.load(args.bilm)
    for number in range(args.number):
        seed = args.seed + number
        words = args.text.split()
        print(" ".join(continue_sentence(bilm, words, args.words, args.temperature, seed)))
    return 0
