import itertools
from dataclasses import replace

import pytest

from elmo_bench.records.run import read_records
from elmo_bench.report.figures import layer_weights
from elmo_bench.report.figures.all_figures import OF_RUNS
from elmo_bench.report.figures.style import COLORS, NAMES, save, styled
from elmo_bench.report.groups import Runs
from elmo_bench.report.training import speed
from elmo_bench.report.weights import curve_over_seeds, learned_weights
from tests.report.synthetic_records import MINILM, open_record, record


@pytest.fixture(scope="module")
def runs(synthetic):
    records = [made for made in read_records(synthetic) if made.task in ("ner", "srl")]
    return Runs(records)


@pytest.mark.parametrize("name", OF_RUNS)
def test_a_figure_of_the_same_runs_has_the_same_bytes(name, runs, tmp_path):
    with styled():
        for file in ("one.svg", "two.svg"):
            save(OF_RUNS[name](runs), tmp_path / file)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_the_file_suffix_chooses_the_format(suffix, runs, tmp_path):
    with styled():
        save(OF_RUNS["gains"](runs), tmp_path / f"gains.{suffix}")
    starts = {"png": b"\x89PNG", "pdf": b"%PDF"}
    assert (tmp_path / f"gains.{suffix}").read_bytes().startswith(starts[suffix])


def test_an_unknown_format_is_rejected(runs, tmp_path):
    with styled(), pytest.raises(ValueError, match=r"\.png, \.svg, \.pdf"):
        save(OF_RUNS["gains"](runs), tmp_path / "gains.bmp")


@pytest.mark.parametrize("name", OF_RUNS)
def test_without_runs_the_error_says_what_to_run(name):
    with pytest.raises(ValueError, match=r"python run\.py"):
        OF_RUNS[name](Runs([]))


def test_learning_curves_have_one_panel_per_task_and_corpus_with_both_axes(runs):
    figure = OF_RUNS["learning-curves"](runs)
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert len(titles) == len(set(titles))
    above = [axes.child_axes[0].get_xlabel() for axes in figure.axes if axes.child_axes]
    assert above == ["epochs"] * len(titles)


def test_the_legend_of_a_single_panel_fits_into_the_figure(synthetic):
    of_one_task = [made for made in read_records(synthetic) if made.task == "ner"]
    with styled():
        figure = OF_RUNS["learning-curves"](Runs(of_one_task))
        assert figure.legends[0].get_window_extent().width <= figure.bbox.width


@pytest.mark.parametrize("layers", [3, 13])
def test_cells_that_show_the_same_number_are_hatched_alike(layers):
    made = record("ner")
    weights = [round(1 / layers, 2) + shift for shift in (0.003, -0.003)]
    weights += [(1 - sum(weights)) / (layers - 2)] * (layers - 2)
    learned = {"input": {"weights": weights, "gamma": 1.0, "layers": list(range(layers))}}
    figure = layer_weights.draw(Runs([replace(made, layer_weights=learned)]))
    cells = next(axes for axes in figure.axes if axes.patches)
    shown = [text.get_text() for text in cells.texts[:2]]
    assert shown[0] == shown[1] and len({patch.get_hatch() for patch in cells.patches[:2]}) == 1


def test_learning_curves_of_a_corpus_have_all_encoders_in_one_panel():
    arms = [{}, {"bilm__weights": "random"}, MINILM]
    made = [open_record("ewt", elmo=None), *(open_record("ewt", **arm) for arm in arms)]
    figure = OF_RUNS["learning-curves"](Runs(made))
    [axes] = [axes for axes in figure.axes if axes.get_title()]
    names = {line.get_label() for line in axes.get_lines()}
    assert {"baseline", NAMES["untrained"], "+ELMo (english)", "+ELMo (minilm)"} <= names
    assert {"english", "minilm"} == {
        line.partition(":")[0] for line in axes.get_xlabel().splitlines()[1:]
    }


def test_the_updates_to_the_baselines_best_are_marked_in_the_learning_curves():
    made = [open_record("ewt", elmo=None), open_record("ewt")]
    runs = Runs(made)
    [group] = runs.with_elmo
    found = speed(runs.baseline(group), group)
    [axes] = [axes for axes in OF_RUNS["learning-curves"](runs).axes if axes.get_title()]
    marks = {line.get_xdata()[0] for line in axes.get_lines() if line.get_marker() in ("o", "s")}
    assert marks == {found.baseline, found.elmo}


def test_layer_weights_of_two_encoders_are_in_lines_of_their_own():
    made = [open_record("ewt"), open_record("sst"), open_record("ewt", **MINILM)]
    figure = layer_weights.draw(Runs(made))
    assert [part.get_suptitle() for part in figure.subfigs] == ["english", "minilm"]
    stacks = [[len(axes.patches) for axes in part.axes if axes.patches] for part in figure.subfigs]
    assert stacks == [[3, 3, 3], [7]]  # srl at the input, sst5 at input and output


def test_long_names_are_broken_above_a_stack():
    assert layer_weights._wrapped("squad\nnew_wiki_reddit_xquad") == (
        "squad\nnew_wiki_\nreddit_xquad"
    )


def test_layer_weights_leave_out_runs_with_a_single_layer():
    [group] = Runs([record("ner", elmo__name="last", elmo__layers="last")]).groups
    assert learned_weights(group) == {}


def test_a_curve_ends_with_the_shortest_seed():
    short, long = record("ner", 1), record("ner", 2)
    del short.epochs[5:]
    [group] = Runs([short, long]).groups
    assert len(curve_over_seeds(group, "dev/f1").x) == 5


def test_speed_is_the_number_of_updates_to_the_baselines_best_dev_score():
    baseline, elmo = record("ner", elmo=None), record("ner")
    baseline.epochs[:] = [{"step": 10 * i, "epoch": i, "dev/f1": 70 + i} for i in range(1, 6)]
    elmo.epochs[:] = [{"step": 10 * i, "epoch": i, "dev/f1": 72 + i} for i in range(1, 6)]
    groups = Runs([baseline, elmo])
    [group] = groups.with_elmo
    found = speed(groups.baseline(group), group)
    assert (found.baseline, found.elmo, found.reached, found.fewer) == (50.0, 30.0, 1, 40.0)


def test_arms_differ_in_lightness_for_grayscale_print():
    def lightness(color):
        red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    values = sorted(lightness(COLORS[arm]) for arm in ("elmo", "baseline", "untrained"))
    assert min(b - a for a, b in itertools.pairwise(values)) > 20


def test_the_control_of_one_encoder_is_not_drawn_beside_another():
    other = {"bilm__name": "MiniLM", "bilm__fingerprint": "beef"}
    arms = [{"elmo": None}, {}, {"bilm__weights": "random"}, other]
    with styled():
        left, _ = OF_RUNS["gains"](Runs([record("ner", **arm) for arm in arms])).axes
    rows = [label.get_text() for label in left.get_yticklabels()]
    [control] = [c for c in left.containers if "untrained" in c.get_label()]
    assert rows[round(control.lines[0].get_ydata()[0])] == "ner, mini"


def test_sample_efficiency_joins_fractions_of_any_length_of_training_and_shows_the_longest():
    def longer(made, score, **length):
        task = made.config["task"]
        config = {**made.config, "task": {**task, "training": {**task["training"], **length}}}
        return replace(
            made, run=f"{made.run}{score}", config=config, scores={"test": {"f1": score}}
        )

    made = []
    for arm in ({}, {"elmo": None}):
        few = record("srl", data__train_fraction=0.01, **arm)
        made += [record("srl", **arm), few, longer(few, 40.0, patience=9)]
        made += [longer(few, 60.0, patience=20, max_epochs=90), longer(few, 50.0, patience=20)]
    (axes,) = OF_RUNS["sample-efficiency"](Runs(made)).axes
    assert [line.get_xdata().tolist() for line in axes.get_lines()] == [[1, 100]] * 2
    assert [line.get_ydata()[0] for line in axes.get_lines()] == [60.0] * 2
