from elmo_bench.records.labels import Pair, changes, confusion, label_scores, paired


def test_scores_of_labels_by_hand():
    gold = {"0-1": "PER", "3": "LOC", "5": "LOC"}
    predicted = {"0-1": "PER", "3": "ORG", "7": "LOC"}
    found = confusion(paired(gold, predicted).values())
    assert found == {"PER": {"PER": 1}, "LOC": {"ORG": 1, "": 1}, "": {"LOC": 1}}
    scores = label_scores(found)
    assert scores["PER"]["f1"] == 100 and scores["ORG"]["predicted"] == 1
    assert (scores["LOC"]["gold"], scores["LOC"]["predicted"], scores["LOC"]["f1"]) == (2, 1, 0)
    assert "" not in scores


def test_mended_and_made_confusions_are_those_of_the_same_place():
    before = [{"0": Pair("PER", "ORG"), "2": Pair("LOC", "LOC"), "4": Pair("", "LOC")}]
    after = [{"0": Pair("PER", "PER"), "2": Pair("LOC", ""), "6": Pair("", "ORG")}]
    mended, made = changes(before, after)
    assert [tuple(one) for one in mended] == [("", "LOC", 1), ("PER", "ORG", 1)]
    assert [tuple(one) for one in made] == [("", "ORG", 1), ("LOC", "", 1)]


def test_a_confusion_that_stays_wrong_is_neither_mended_nor_made():
    assert changes([{"0": Pair("A", "B")}], [{"0": Pair("A", "C")}]) == ([], [])
