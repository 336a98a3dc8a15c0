"""The report page in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.report.browser import Browser, browser_path, new_browser
from tests.report.synthetic_records import EVIL

pytestmark = pytest.mark.skipif(
    browser_path() is None, reason="needs the programs chromium and chromedriver"
)
MAIN = "#table-main + .scroll"


@pytest.fixture(scope="module")
def page(page_text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with new_browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(window: Browser, page: Path) -> Browser:
    window.resize(1280, 900)
    window.open(page)
    return window


def column(browser: Browser, number: int) -> list[float]:
    cells = browser.texts(f"{MAIN} tbody td:nth-child({number})")
    return [float(text.split()[0]) for text in cells if text and text[0] != "["]


def baseline_column(browser: Browser) -> int:
    return browser.texts(f"{MAIN} th").index("Baseline") + 1


def test_a_click_on_a_heading_sorts_by_number_and_a_second_click_reverses(browser):
    number = baseline_column(browser)
    heading = f"{MAIN} th:nth-child({number}) button"
    browser.click(heading)
    ascending = column(browser, number)
    browser.click(heading)
    assert ascending == sorted(ascending)
    assert column(browser, number) == ascending[::-1]


def test_the_sorted_column_is_announced(browser):
    browser.click(f"{MAIN} th:nth-child(1) button")
    assert browser.run(
        "return [...document.querySelectorAll('th[aria-sort]')].map(e => e.ariaSort)"
    ) == ["ascending"]


def test_sorting_works_from_the_keyboard(browser):
    number = baseline_column(browser)
    browser.press(f"{MAIN} th:nth-child({number}) button", "enter")
    assert column(browser, number) == sorted(column(browser, number))


def test_choosing_a_task_leaves_only_its_rows_and_runs(browser):
    browser.press("#task", "ner")
    assert set(browser.texts("tbody tr[data-task] td:first-child")) == {"ner"}
    assert set(browser.texts(".run > summary .name")) == {"ner"}
    assert " of " in browser.texts("#shown")[0]


def test_an_example_opens_and_shows_gold_and_both_predictions(browser):
    browser.press("#task", "ner")
    run = browser.run(
        "const run = document.querySelector('.run[data-task=ner]:has(.example)'); return run.id"
    )
    browser.click(f"#{run} > summary")
    browser.press(f"#{run} .example > summary", "enter")
    example = f"#{run} .example[open]"
    assert browser.texts(f"{example} dt") == ["gold", "baseline", "+ELMo"]
    assert browser.texts(f"{example} mark")


def test_a_missing_cell_links_to_the_command_that_fills_it(browser):
    browser.click("#table-placement + .scroll td a")
    target = browser.run("return location.hash")
    assert browser.texts(target)[0].startswith("python run.py")


def test_a_token_that_looks_like_a_script_is_shown_and_does_nothing(browser):
    assert browser.run("return document.title") == "elmo_bench: comparison of runs"
    text = browser.run("return document.body.textContent")
    assert EVIL in text


def test_the_console_has_no_messages(browser):
    browser.messages()
    browser.run("location.reload()")
    browser.click(f"{MAIN} th:nth-child(1) button")
    browser.press("#task", "squad")
    assert browser.messages() == []


def test_on_a_phone_the_page_does_not_scroll_sideways(browser):
    browser.resize(390, 844)
    browser.run("for (const part of document.querySelectorAll('details')) part.open = true")
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth")


def test_on_a_phone_tables_are_stacked_instead_of_scrolled(browser):
    browser.resize(500, 844)  # the narrowest window; the page inside is narrower below
    browser.run("document.body.style.width = '336px'")
    wide = "[...document.querySelectorAll('.stack')].filter(t => t.scrollWidth > 336).length"
    assert browser.run(f"return {wide}") == 0
    named = "getComputedStyle(document.querySelector('.stack td'), '::before').content"
    assert browser.run(f"return {named}") == '"Task"'


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast_in_both_color_schemes(scheme, browser):
    browser.prefer(scheme)
    script = "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
    background, text = map(_lightness, browser.run(script))
    assert abs(background - text) > 0.7
    assert (background < text) == (scheme == "dark")


def _lightness(color: str) -> float:
    parts = [int(part) for part in color.removeprefix("rgb(").rstrip(")").split(",")]
    return sum(parts) / (3 * 255)
