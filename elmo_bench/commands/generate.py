"""`elmo-bench generate`: continue a sentence, or fill a blank in one."""

import argparse

HELP = "continue a sentence with the forward LM, or fill a blank with both directions"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bilm", help="a biLM folder or a name in results/bilm")
    parser.add_argument(
        "text",
        nargs="?",
        default="",
        help="the beginning of the sentence, tokenized (default: empty)",
    )
    parser.add_argument(
        "--fill",
        metavar="SENTENCE",
        help="list the words that fit into the blank of a tokenized sentence such as "
        "'The ___ sat on the mat .', by the product of both directions' probabilities",
    )
    parser.add_argument(
        "--words",
        type=int,
        default=40,
        help="maximum number of words to add (default: %(default)s)",
    )
    parser.add_argument(
        "--number",
        type=int,
        help="number of continuations (default: 1), or of words to fill in (default: 5)",
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
    """Print one line per continuation, or per word that fits into the blank."""
    from elmo_bench import BiLm
    from elmo_bench.bilm.generate import continue_sentence, fill_blank

    bilm = BiLm.load(args.bilm)
    if args.fill is not None:
        for word, probability in fill_blank(bilm, args.fill.split(), args.number or 5):
            print(f"{probability:6.1%}  {word}")
        return 0
    for number in range(args.number or 1):
        seed = args.seed + number
        words = args.text.split()
        print(" ".join(continue_sentence(bilm, words, args.words, args.temperature, seed)))
    return 0
