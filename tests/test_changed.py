from pathlib import Path

from tests.changed import concerned

LSTM, NER = Path("tests/bilm/test_lstm.py"), Path("tests/metrics/test_score_ner.py")


def test_a_changed_test_and_the_tests_that_name_a_changed_module_are_chosen():
    assert concerned([NER], [LSTM, NER]) == [NER]
    assert concerned([Path("elmo_bench/bilm/lstm.py")], [LSTM, NER]) == [LSTM]
    assert concerned([Path("tasks/srl/data.py")], [LSTM, NER]) == []


def test_tests_called_after_a_changed_task_are_chosen():
    assert concerned([Path("tasks/ner/model.py")], [LSTM, NER]) == [NER]


def test_a_module_that_no_test_names_is_tested_with_its_package():
    assert concerned([Path("elmo_bench/metrics/srl.py")], [LSTM, NER]) == [NER]
    assert concerned([Path("elmo_bench/bilm/panels.py")], [LSTM, NER]) == [LSTM]


def test_a_changed_page_concerns_no_test():
    assert concerned([Path("docs/faq.md")], [LSTM, NER]) == []
