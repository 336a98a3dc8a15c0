"""Claims about the benchmark, verified by counting."""

import json
from collections import Counter, defaultdict
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from elmo_bench.mini import statistics
from tests.mini.reading import conll_documents, labeled_pairs, pos_tags


def test_a_third_of_the_names_in_dev_and_test_never_occur_in_train(mini: Path) -> None:
    assert statistics.unseen_share(mini, "dev") > 1 / 3
    assert statistics.unseen_share(mini, "test") > 1 / 3


def test_the_corpus_mentions_every_name_of_the_test_file(mini: Path) -> None:
    assert statistics.unseen_in_corpus(mini) == []


def test_many_name_words_have_several_types(mini: Path) -> None:
    assert statistics.ambiguous_share(mini / "ner/train.txt") > 0.25


def test_the_most_frequent_type_of_a_word_is_often_wrong(mini: Path) -> None:
    assert statistics.lookup_tagger_accuracy(mini, "test") < 0.65
    assert statistics.lookup_tagger_accuracy(mini, "train") < 0.9


def test_the_most_frequent_label_is_rarely_correct(mini: Path) -> None:
    assert statistics.majority_share(mini, "sst5") < 0.35
    assert statistics.majority_share(mini, "snli") < 0.4


def test_the_most_frequent_sense_is_often_wrong(mini: Path) -> None:
    assert statistics.frequent_sense_accuracy(mini) < 0.7


def test_words_with_several_senses_are_common(mini: Path) -> None:
    assert statistics.polysemous_share(mini) > 0.015


def test_an_ambiguous_word_has_its_senses_in_both_files(mini: Path) -> None:
    senses: dict[str, set[str]] = defaultdict(set)
    for row in statistics.json_lines(mini / "wsd/train.jsonl"):
        senses[str(row["lemma"])].add(str(row["sense"]))
    test = statistics.json_lines(mini / "wsd/test.jsonl")
    known = [row["sense"] in senses[str(row["lemma"])] for row in test]
    assert {"bank", "play", "program", "run"} <= senses.keys()
    assert sum(known) / len(known) > 0.95


def test_the_hypothesis_alone_does_not_reveal_the_label(mini: Path) -> None:
    train, test = labeled_pairs(mini, "train"), labeled_pairs(mini, "test")
    model = make_pipeline(CountVectorizer(ngram_range=(1, 2)), LogisticRegression(max_iter=300))
    model.fit([pair["sentence2"] for pair in train], [pair["gold_label"] for pair in train])
    accuracy = model.score(
        [pair["sentence2"] for pair in test], [pair["gold_label"] for pair in test]
    )
    assert accuracy < 0.42
    assert statistics.hypothesis_only_accuracy(mini) < 0.42


def test_the_words_of_both_sentences_do_not_reveal_the_label_either(mini: Path) -> None:
    train, test = labeled_pairs(mini, "train"), labeled_pairs(mini, "test")
    model = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=300))
    texts = [
        [f"{pair['sentence1']} {pair['sentence2']}" for pair in part] for part in (train, test)
    ]
    model.fit(texts[0], [pair["gold_label"] for pair in train])
    assert model.score(texts[1], [pair["gold_label"] for pair in test]) < 0.6


def test_the_words_of_a_review_do_not_reveal_its_level(mini: Path) -> None:
    def read(split: str) -> tuple[list[str], list[str]]:
        trees = (mini / f"sst5/{split}.txt").read_text().splitlines()
        return trees, [tree[1] for tree in trees]

    (train, labels), (test, gold) = read("train"), read("test")
    words = CountVectorizer(token_pattern=r"[^\s()0-4]+", binary=True)
    model = make_pipeline(words, LogisticRegression(max_iter=300)).fit(train, labels)
    assert 0.25 < model.score(test, gold) < 0.7


def test_no_sentiment_level_is_rare(mini: Path) -> None:
    labels = statistics.label_counts(mini, "train")["sst5"]
    assert len(labels) == 5 and min(labels.values()) > 80


def test_roles_have_alternations_adjuncts_and_split_arguments(mini: Path) -> None:
    labels: Counter[str] = Counter()
    for rows in conll_documents(mini / "srl/train.gold_conll"):
        for fields in (line.split() for line in rows if line):
            labels.update(
                cell.strip("()*").split("(")[-1] for cell in fields[11:-1] if cell.startswith("(")
            )
    wanted = {"V", "ARG0", "ARG1", "ARG2", "ARG3", "C-V", "C-ARG1", "R-ARG0", "R-ARG1"}
    adjuncts = {f"ARGM-{name}" for name in ("TMP", "LOC", "MNR", "NEG", "MOD", "EXT", "DIR", "DIS")}
    assert wanted | adjuncts <= labels.keys()
    assert labels["ARG0"] > 300 and labels["R-ARG0"] + labels["R-ARG1"] > 20


def test_documents_have_5_to_25_sentences_and_several_chains(mini: Path) -> None:
    documents = list(conll_documents(mini / "coref/train.v4_gold_conll"))
    sentences = [sum(1 for line in rows if not line) for rows in documents]
    chains = [
        len(
            {part.strip("()") for line in rows if line for part in line.split()[-1].split("|")}
            - {"-"}
        )
        for rows in documents
    ]
    assert min(sentences) >= 5 and max(sentences) <= 25 and max(sentences) > 15
    assert sum(chains) / len(chains) > 3


def test_documents_have_genres_and_speakers(mini: Path) -> None:
    lines = (mini / "coref/train.v4_gold_conll").read_text().splitlines()
    genres = {line[len("#begin document (") :][:2] for line in lines if line.startswith("#begin")}
    speakers = {line.split()[9] for line in lines if line and not line.startswith("#")}
    assert len(genres) >= 3 and len(speakers) > 5 and "-" in speakers


def test_pronouns_names_and_nominals_are_all_mentions(mini: Path) -> None:
    tags: Counter[str] = Counter()
    for rows in conll_documents(mini / "coref/train.v4_gold_conll"):
        for fields in (line.split() for line in rows if line):
            if ")" in fields[-1]:
                tags[fields[4]] += 1
    assert min(tags["PRP"], tags["PRP$"], tags["NNP"], tags["NN"]) > 20


def test_questions_take_many_forms_and_have_several_answers(mini: Path) -> None:
    questions = statistics.squad_questions(mini, "dev")
    openings = Counter(question["question"].split()[0] for _, question in questions)
    assert {"Who", "When", "Where", "Which", "What", "How"} <= openings.keys()
    assert all(len(question["answers"]) >= 3 for _, question in questions)
    several = [len({answer["text"] for answer in q["answers"]}) > 1 for _, q in questions]
    assert sum(several) > 30


def test_the_first_name_of_a_paragraph_is_seldom_the_answer(mini: Path) -> None:
    assert statistics.first_name_accuracy(mini) < 0.4


def test_a_most_frequent_tag_baseline_leaves_room_for_a_probe(mini: Path) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for word, tag in pos_tags(mini / "srl/train.gold_conll"):
        counts[word][tag] += 1
    pairs = list(pos_tags(mini / "srl/test.gold_conll"))
    right = [word in counts and counts[word].most_common(1)[0][0] == tag for word, tag in pairs]
    assert 0.6 < sum(right) / len(right) < 0.97


def test_a_few_pairs_have_no_gold_label(mini: Path) -> None:
    assert 0 < statistics.label_counts(mini, "train")["snli"]["-"] < 40


def test_words_are_held_out_from_training_as_well(mini: Path) -> None:
    def words(split: str) -> set[str]:
        rows = [json.loads(line) for line in (mini / f"snli/{split}.jsonl").open()]
        return {word for row in rows for word in row["sentence1"].lower().strip(".").split()}

    held = {"fiddle", "bike", "scooter", "deserted", "packed", "gloomy", "crimson", "sob", "pony"}
    assert len(words("test") - words("train")) > 100
    assert held & (words("test") - words("train"))
