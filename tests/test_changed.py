from pathlib import Path

from tests.changed import concerned

LSTM, NER = Path("tests/bilm/test_lstm.py"), Path("tests/metrics/test_score_ner.py")


def test_a_changed_test_and_the_tests_that_name_a_changed_module_are_chosen():
    assert concerned([NER], [LSTM, NER]) == [NER]
    assert concerned([Path("elmo_bench/bilm/lstm.py")], [LSTM, NER]) == [LSTM]
    assert concerned([Path("tasks/ner/data.py")], [LSTM, NER]) == []


def test_a_changed_page_concerns_no_test():
    assert concerned([Path("docs/faq.md")], [LSTM, NER]) == []
