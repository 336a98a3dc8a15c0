"""Statistics of the benchmark: sizes, ambiguity, what is unseen in training."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

SPLITS = ("train", "dev", "test")


def ner_sentences(path: Path) -> Iterator[list[tuple[str, str]]]:
    """(word, tag) of every sentence of a CoNLL-2003 file."""
    rows: list[tuple[str, str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("-DOCSTART-"):
            rows.append((line.split()[0], line.split()[3]))
        elif rows:
            yield rows
            rows = []


def entity_names(path: Path) -> Counter[tuple[str, str]]:
    """Count each (name, type) in a CoNLL-2003 file."""
    found: Counter[tuple[str, str]] = Counter()
    for sentence in ner_sentences(path):
        name: list[str] = []
        kind = ""
        for word, tag in [*sentence, ("", "O")]:
            if name and (tag[0] != "I" or tag[2:] != kind):
                found[" ".join(name), kind] += 1
                name = []
            if tag != "O":
                name, kind = [*name, word], tag[2:]
    return found


def unseen_share(folder: Path, split: str) -> float:
    """Share of the distinct names of a split that never occur in train, as any type."""
    seen = {name for name, _ in entity_names(folder / "ner/train.txt")}
    names = {name for name, _ in entity_names(folder / f"ner/{split}.txt")}
    return len(names - seen) / len(names)


def ambiguous_share(path: Path) -> float:
    """Share of the name words in a CoNLL-2003 file that have two or more types in it."""
    types: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in ner_sentences(path):
        for word, tag in sentence:
            if tag != "O":
                types[word][tag[2:]] += 1
    total = sum(sum(counts.values()) for counts in types.values())
    return sum(sum(counts.values()) for counts in types.values() if len(counts) > 1) / total


def lookup_tagger_accuracy(folder: Path, split: str) -> float:
    """Accuracy on name words of each word's most frequent tag in train, O if unseen."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in ner_sentences(folder / "ner/train.txt"):
        for word, tag in sentence:
            counts[word][tag[2:]] += 1
    tagger = {word: found.most_common(1)[0][0] for word, found in counts.items()}
    pairs = [
        (tagger.get(word, ""), tag[2:])
        for sentence in ner_sentences(folder / f"ner/{split}.txt")
        for word, tag in sentence
        if tag != "O"
    ]
    return sum(guess == gold for guess, gold in pairs) / len(pairs)


def json_lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def label_counts(folder: Path, split: str) -> dict[str, Counter[str]]:
    """The labels of the two classification tasks."""
    trees = (folder / f"sst5/{split}.txt").read_text(encoding="utf-8").splitlines()
    pairs = json_lines(folder / f"snli/{split}.jsonl")
    return {
        "sst5": Counter(tree[1] for tree in trees),
        "snli": Counter(str(pair["gold_label"]) for pair in pairs),
    }


def majority_share(folder: Path, task: str) -> float:
    """Test accuracy of the label that is most frequent in train."""
    label = label_counts(folder, "train")[task].most_common(1)[0][0]
    test = label_counts(folder, "test")[task]
    return test[label] / sum(count for name, count in test.items() if name != "-")


def frequent_sense_accuracy(folder: Path) -> float:
    """Test accuracy of every word's most frequent sense in train."""
    senses: dict[str, Counter[str]] = defaultdict(Counter)
    for row in json_lines(folder / "wsd/train.jsonl"):
        senses[str(row["lemma"])][str(row["sense"])] += 1
    test = json_lines(folder / "wsd/test.jsonl")
    right = [
        row["lemma"] in senses and senses[str(row["lemma"])].most_common(1)[0][0] == row["sense"]
        for row in test
    ]
    return sum(right) / len(right)


def polysemous_share(folder: Path) -> float:
    """Share of the words of the held-out text that are forms of words with several senses."""
    rows: list[Any] = json_lines(folder / "wsd/train.jsonl")
    forms = {row["tokens"][row["index"]].lower() for row in rows}
    words = (folder / "corpus/heldout.txt").read_text(encoding="utf-8").lower().split()
    return sum(word in forms for word in words) / len(words)


def hypothesis_only_accuracy(folder: Path) -> float:
    """Test accuracy of naive Bayes on the words of the hypothesis alone."""
    words: dict[str, Counter[str]] = defaultdict(Counter)
    labels: Counter[str] = Counter()
    for pair in json_lines(folder / "snli/train.jsonl"):
        if pair["gold_label"] != "-":
            labels[str(pair["gold_label"])] += 1
            words[str(pair["gold_label"])].update(set(str(pair["sentence2"]).lower().split()))

    def guess(text: str) -> str:
        tokens = set(text.lower().split())
        scores = {
            label: log(count)
            + sum(log((words[label][word] + 1) / (count + 2)) for word in sorted(tokens))
            for label, count in labels.items()
        }
        return max(scores, key=lambda label: (scores[label], label))

    pairs = [pair for pair in json_lines(folder / "snli/test.jsonl") if pair["gold_label"] != "-"]
    return sum(guess(str(pair["sentence2"])) == pair["gold_label"] for pair in pairs) / len(pairs)


def corpus_counts(path: Path) -> tuple[int, int, int]:
    """Sentences, tokens and distinct words of a text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    words = Counter(word for line in lines for word in line.split())
    return len(lines), sum(words.values()), len(words)


def unseen_in_corpus(folder: Path) -> list[str]:
    """Names of the test file, word by word, that the corpus never mentions."""
    text = (folder / "corpus/train.txt").read_text(encoding="utf-8")
    known = set(text.split())
    names = {word for name, _ in entity_names(folder / "ner/test.txt") for word in name.split()}
    return sorted(names - known)


def squad_questions(folder: Path, split: str) -> list[tuple[str, dict[str, Any]]]:
    """(context, question) of every question of a SQuAD file."""
    data = json.loads((folder / f"squad/{split}.json").read_text(encoding="utf-8"))["data"]
    return [
        (paragraph["context"], question)
        for article in data
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]


def first_name_accuracy(folder: Path) -> float:
    """Test accuracy of always answering with the first name or number of the paragraph."""
    right = 0
    questions = squad_questions(folder, "test")
    for context, question in questions:
        guess = re.match(r"\W*(?:The |On |In )?((?:[A-Z0-9][\w,'-]* ?)+)", context)
        answers = [answer["text"] for answer in question["answers"]]
        right += guess is not None and guess.group(1).strip() in answers
    return right / len(questions)
