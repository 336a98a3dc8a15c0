import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from elmo_bench.records.labels import label_scores
from elmo_bench.records.run import read_records
from elmo_bench.report.page.build import build_page
from elmo_bench.report.page.examples import Span, differences, marked
from tests.report.synthetic_records import EVIL, record

VOID = {"meta", "link", "br", "img", "input", "path", "use"}


class Checker(HTMLParser):
    """Collects ids, references, scripts and unclosed elements."""

    def __init__(self):
        super().__init__()
        self.stack, self.ids, self.links, self.addresses, self.scripts = [], [], [], [], 0
        self.faults = []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids += [values["id"]] if "id" in values else []
        self.scripts += tag == "script"
        target = values.get("href") or values.get("src") or values.get("xlink:href") or ""
        (self.links if target.startswith("#") else self.addresses).append(target)
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.stack or self.stack.pop() != tag:
            self.faults.append((tag, self.getpos()))


@pytest.fixture(scope="module")
def checked(page_text):
    checker = Checker()
    checker.feed(page_text)
    return checker


def test_every_element_is_closed(checked):
    assert checked.faults == [] and checked.stack == []


def test_no_id_is_used_twice(checked):
    assert len(checked.ids) == len(set(checked.ids))


def test_every_link_inside_the_page_leads_somewhere(checked):
    assert {link[1:] for link in checked.links} <= set(checked.ids)


def test_the_page_loads_nothing_external(checked, page_text):
    assert set(checked.addresses) <= {"", "data:,"}
    assert "url(http" not in page_text and "@import" not in page_text


def test_the_only_script_is_allowed_by_its_hash(checked, page_text):
    assert checked.scripts == 1
    assert re.search(r"script-src 'sha256-[\w+/=]{44}'", page_text)


def test_text_from_data_is_escaped(page_text):
    assert EVIL not in page_text
    assert EVIL.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;") in page_text


def test_figures_use_the_colors_of_the_page(page_text):
    assert "var(--elmo)" in page_text and "#0072b2;" not in page_text.split("<main")[1]


def test_labels_of_a_run_are_escaped_and_own_and_reference_runs_told_apart(tmp_path):
    confusion = {"<PER>": {"<PER>": 3, "LOC": 1}, "LOC": {"": 2}}
    labeled = {"confusion": confusion, "labels": label_scores(confusion)}
    mine = replace(record("ner"), **labeled, file=tmp_path / "runs" / "a.json")
    theirs = replace(record("srl"), file=tmp_path / "reference" / "runs" / "b.json")
    page = build_page([mine, theirs], [])
    assert "Test scores by label" in page and "&lt;PER&gt;" in page and "<PER>" not in page
    assert 'class="run yours"' in page and 'class="run reference"' in page
    assert '<option value="yours">' in page and 'data-source="reference"' in page


def test_a_page_without_runs_says_what_to_run(tmp_path):
    assert "python run.py task=ner" in build_page([], [])


def test_the_scores_of_shown_examples_differ(synthetic):
    records = [
        r for r in read_records(synthetic) if (r.task, r.seed) == ("ner", 1) and r.predictions
    ]
    baseline = next(r for r in records if r.elmo == "none")
    run = next(r for r in records if r.config.get("bilm", {}).get("weights", "") is None)
    found = differences(baseline, run)
    assert found.better + found.worse > 0
    assert all(e.scores["baseline"] != e.scores["+ELMo"] for e in found.examples)


COLORS = {"A": 0, "B": 1}


def test_nested_spans_are_nested_marks():
    text = marked(["a", "b", "c"], [Span(0, 2, "A"), Span(1, 1, "B")], COLORS)
    assert text == Markup(
        '<mark class="c0">a <mark class="c1">b<sub>B</sub></mark> c<sub>A</sub></mark>'
    )


@given(st.lists(st.tuples(st.integers(-1, 9), st.integers(-1, 9))))
def test_marks_are_valid_html_around_the_same_text_for_any_spans(pairs):
    text = marked(list("abcdefgh"), [Span(*pair, "A") for pair in pairs], COLORS)
    checker = Checker()
    checker.feed(text)
    assert checker.faults == [] and checker.stack == []
    assert re.sub(r"<sub>.</sub>|<[^>]*>", "", text) == "a b c d e f g h"


def test_tokens_and_labels_are_escaped():
    text = marked(["<b>", "&"], [Span(0, 0, "<i>")], COLORS)
    assert text == '<mark class="c0">&lt;b&gt;<sub>&lt;i&gt;</sub></mark> &amp;'
