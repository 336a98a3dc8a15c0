import json
import math
from itertools import pairwise

import pytest
import torch

from elmo_bench import BiLm
from elmo_bench.bilm.characters import BOS, EOS
from elmo_bench.bilm.generate import continue_sentence, fill_blank
from elmo_bench.bilm.perplexity import load_softmax, perplexity
from elmo_bench.cli import main
from elmo_bench.config.bilm_settings import Architecture
from elmo_bench.config.pretraining_settings import ScheduleSettings
from elmo_bench.pretraining.callbacks import read_losses
from elmo_bench.pretraining.module import schedule_factor
from elmo_bench.pretraining.stage import PretrainingError, pretrain
from tests.pretraining.tiny_pretraining import compose_pretraining, losses, tiny

ENCODERS = {
    "char_rnn": {"kind": "char_rnn", "char_dim": 4, "hidden_dim": 6, "max_chars": 12},
    "word": {"kind": "word", "word_dim": 6, "vectors": None, "trainable": True},
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    pretrain(compose_pretraining(*tiny(folder, "pretraining.epochs=15")))
    return folder


def record_of(folder, name="mini"):
    return json.loads((folder / "bilm" / name / "training.json").read_text())


def test_training_predicts_held_out_text_better_than_chance(trained):
    perplexity = record_of(trained)["perplexity"]["held"]
    assert perplexity["mean"] < 12  # of 23 words
    assert perplexity["mean"] == pytest.approx(
        math.sqrt(perplexity["forward"] * perplexity["backward"])
    )


def test_the_loaded_model_has_the_recorded_perplexity(trained):
    heldout = [line.split() for line in (trained / "held.txt").read_text().splitlines()]
    loaded = BiLm.load(trained / "bilm" / "mini").perplexity(heldout)
    assert loaded == pytest.approx(record_of(trained)["perplexity"]["held"], rel=1e-4)


def test_perplexity_does_not_depend_on_order_or_batching(trained):
    bilm = BiLm.load(trained / "bilm" / "mini")
    sentences = [["word1", "word2"], ["word3"], ["word4", "word5", "word6", "unseen"]]
    assert bilm.perplexity(sentences) == pytest.approx(bilm.perplexity(sentences[::-1]), rel=1e-5)
    alone = [bilm.perplexity([sentence])["forward"] for sentence in sentences]
    tokens = [len(sentence) + 1 for sentence in sentences]
    mean = sum(n * math.log(p) for n, p in zip(tokens, alone, strict=True)) / sum(tokens)
    assert bilm.perplexity(sentences)["forward"] == pytest.approx(math.exp(mean), rel=1e-5)


@torch.no_grad()
def test_stateful_perplexity_is_that_of_rows_read_one_token_at_a_time(trained):
    """Reread bilm-tf's test plainly: two rows, one token each per step, states never reset."""
    bilm = BiLm.load(trained / "bilm" / "mini")
    softmax, vocabulary = load_softmax(bilm)
    sentences = [["word1", "word2"], ["word3"], ["word4", "word5", "unseen"], ["word6"]]
    # The first row has read both its sentences after five steps, and finds no other.
    rows, num_steps = [[0, 3], [1, 2]], 5
    for direction, stack in (("forward", bilm.forward_lstm), ("backward", bilm.backward_lstm)):
        losses = []
        for row in rows:
            pairs = []
            for number in row:
                framed = [BOS, *sentences[number], EOS][:: 1 if direction == "forward" else -1]
                pairs += pairwise(framed)
            state = None
            for word, target in pairs[:num_steps]:
                layers, state = stack(bilm.encode_words([word])[None], state)
                losses += softmax.nll(layers[-1, 0], torch.tensor(vocabulary.ids([target])))
        expected = math.exp(sum(losses) / len(losses))
        measured = perplexity(bilm, sentences, state="carry", streams=2)
        assert measured[direction] == pytest.approx(expected, rel=1e-5)


def test_stateful_perplexity_needs_a_sentence_for_every_row(trained):
    bilm = BiLm.load(trained / "bilm" / "mini")
    with pytest.raises(ValueError, match="fewer than 256 sentences"):
        bilm.perplexity([["word1"]] * 255, state="carry")
    with pytest.raises(ValueError, match="must be 'reset' or 'carry'"):
        bilm.perplexity([["word1"]], state="warm")


def test_the_command_measures_both_ways(trained, capsys):
    files = [str(trained / "bilm" / "mini"), str(trained / "held.txt")]
    assert main(["perplexity", *files, "--stateful", "3", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out).values()
    assert row["mean"] == pytest.approx(record_of(trained)["perplexity"]["held"]["mean"], rel=1e-4)
    assert row["stateful"]["predicted"] % 3 == 0
    assert 0 < row["stateful"]["predicted"] <= row["predicted"]
    assert main(["perplexity", *files, "--stateful", "3"]) == 0
    assert "carried" in capsys.readouterr().out


def test_perplexity_without_sentences_is_refused(trained):
    with pytest.raises(ValueError, match="at least one sentence"):
        BiLm.load(trained / "bilm" / "mini").perplexity([])


@pytest.mark.parametrize("folder", [None, "an empty folder"])
def test_perplexity_without_softmax_is_refused(trained, tmp_path, folder):
    bilm = BiLm.load(trained / "bilm" / "mini")
    bilm.folder = folder and tmp_path
    with pytest.raises(ValueError, match="no softmax"):
        bilm.perplexity([["word1"]])


def test_a_sentence_is_continued_with_known_words(trained):
    bilm = BiLm.load(trained / "bilm" / "mini")
    text = continue_sentence(bilm, ["word1", "word2"], 8, 1.0, seed=1)
    assert text[:2] == ["word1", "word2"]
    assert all(word.startswith("word") for word in text)
    assert text == continue_sentence(bilm, ["word1", "word2"], 8, 1.0, seed=1)


def test_a_blank_is_filled_by_the_product_of_both_directions(trained):
    bilm = BiLm.load(trained / "bilm" / "mini")
    softmax, vocabulary = load_softmax(bilm)
    forward, _ = bilm.forward_lstm(bilm.encode_words(["<S>", "word1"])[None], None)
    backward, _ = bilm.backward_lstm(bilm.encode_words(["</S>", "word4", "word3"])[None], None)
    product = (softmax.log_probs(forward[-1, :, -1]) + softmax.log_probs(backward[-1, :, -1]))[0]
    expected = product[3:].softmax(dim=0)  # without <S>, </S> and <UNK>
    found = dict(fill_blank(bilm, ["word1", "___", "word3", "word4"], len(vocabulary)))
    assert list(found.values()) == sorted(found.values(), reverse=True)
    for word, probability in zip(vocabulary.words[3:], expected.tolist(), strict=True):
        assert found[word] == pytest.approx(probability, rel=1e-4)


@pytest.mark.parametrize("text", ["word1 word2", "___ word2 ___"])
def test_a_sentence_without_exactly_one_blank_is_refused(trained, text):
    with pytest.raises(ValueError, match="exactly one"):
        fill_blank(BiLm.load(trained / "bilm" / "mini"), text.split(), 3)


def test_the_commands_print_perplexity_and_text(trained, capsys):
    bilm = str(trained / "bilm" / "mini")
    assert main(["perplexity", bilm, str(trained / "text.txt"), "--json"]) == 0
    [scores] = json.loads(capsys.readouterr().out).values()
    assert scores["mean"] > 1
    assert scores["unknown"] == 0
    assert main(["generate", bilm, "word3", "--temperature", "0"]) == 0
    assert capsys.readouterr().out.startswith("word3")
    assert main(["generate", bilm, "--fill", "word3 ___ ."]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


def test_a_finished_training_is_not_repeated_unless_forced(trained):
    weights = trained / "bilm" / "mini" / "weights.safetensors"
    before = weights.stat().st_mtime_ns
    pretrain(compose_pretraining(*tiny(trained, "pretraining.epochs=15")))
    assert weights.stat().st_mtime_ns == before
    with pytest.raises(PretrainingError, match=r"pretraining\.epochs was 15 and is 1"):
        pretrain(compose_pretraining(*tiny(trained, "pretraining.epochs=1")))


def test_force_repeats_a_training_with_the_same_result(tmp_path):
    settings = compose_pretraining(*tiny(tmp_path, "force=true"))
    weights = pretrain(settings) / "weights.safetensors"
    first = weights.read_bytes(), losses(tmp_path)
    pretrain(settings)
    assert (weights.read_bytes(), losses(tmp_path)) == first


def test_epochs_are_passes_over_the_corpus(tmp_path):
    pretrain(compose_pretraining(*tiny(tmp_path, "pretraining.epochs=3")))
    lines = (tmp_path / "text.txt").read_text().splitlines()
    tokens = 3 * sum(len(line.split()) + 1 for line in lines)
    assert record_of(tmp_path)["steps"] == tokens // 64
    assert tokens - 64 < record_of(tmp_path)["tokens"] <= tokens


def test_the_record_has_the_curve_of_the_training_loss(trained):
    rows = [line.split(",") for line in losses(trained)]
    assert record_of(trained)["losses"] == [[int(r[0]), round(float(r[1]), 4)] for r in rows]


@pytest.mark.parametrize(("rows", "most"), [(7, 3), (3, 3), (2, 3), (0, 3)])
def test_a_long_curve_is_shortened_to_means(rows, most, tmp_path):
    lines = [f"{10 * n},{n}.0,0.1" for n in range(1, rows + 1)]
    (tmp_path / "losses.csv").write_text("\n".join(["step,loss,lr", *lines]) + "\n")
    found = read_losses(tmp_path / "losses.csv", most)
    expected = {7: [(30, 2.0), (50, 4.5), (70, 6.5)]}
    assert found == expected.get(rows, [(10 * n, float(n)) for n in range(1, rows + 1)])


def test_fine_tuning_starts_from_a_model_and_records_before_and_after(trained, tmp_path):
    start = trained / "bilm" / "mini"
    pretrain(compose_pretraining(*tiny(tmp_path, f"init_from={start}", "pretraining.epochs=2")))
    history = record_of(tmp_path, "mini-text")["history"]
    assert history[0]["step"] == 0
    before, after = (point["perplexity"]["held"]["mean"] for point in (history[0], history[-1]))
    assert after < before < 12
    vocabularies = [folder / "vocabulary.txt" for folder in (start, tmp_path / "bilm/mini-text")]
    assert vocabularies[0].read_text() == vocabularies[1].read_text()


def test_official_weights_are_fine_tuned_with_a_new_softmax(trained, tmp_path):
    start = tmp_path / "start"
    start.mkdir()
    bilm = BiLm.load(trained / "bilm" / "mini")
    bilm.dump_official(start / "options.json", start / "weights.hdf5")
    folder = pretrain(compose_pretraining(*tiny(tmp_path, f"init_from={start}", "name=tuned")))
    assert folder.name == "tuned"
    assert BiLm.load(folder).perplexity([["word1", "word2"]])["mean"] < 30


@pytest.fixture(scope="module")
def diverged(tmp_path_factory):
    """The folder and the error message of a training that diverged after its first steps."""
    folder = tmp_path_factory.mktemp("diverged")
    clips = ("pretraining.gradient_clip_val", "bilm.lstm.cell_clip", "bilm.lstm.projection_clip")
    settings = [f"{clip}=null" for clip in clips]
    settings += ["pretraining.schedule.warmup_steps=0", "trainer.checkpoint_steps=1"]
    settings += ["pretraining.optimizer.kind=adagrad", "pretraining.optimizer.lr=1e30"]
    with pytest.raises(PretrainingError) as caught:
        pretrain(compose_pretraining(*tiny(folder, *settings)))
    return folder, str(caught.value)


def test_a_loss_that_is_not_a_number_stops_and_keeps_the_last_good_checkpoint(diverged):
    folder, message = diverged
    assert "last good checkpoint is kept" in message
    kept = torch.load(folder / "outputs/pretraining/mini/resume.ckpt", weights_only=True)
    assert all(tensor.isfinite().all() for tensor in kept["state_dict"].values())
    assert not (folder / "bilm" / "mini").exists()


def test_an_unfinished_training_with_other_settings_is_not_resumed(diverged):
    with pytest.raises(ValueError, match="unfinished training on other text"):
        pretrain(compose_pretraining(*tiny(diverged[0])))


def test_a_changed_text_is_refused_and_named_whether_the_training_ended_or_not(tmp_path):
    settings = compose_pretraining(*tiny(tmp_path))
    folder = pretrain(settings)
    weights = (folder / "weights.safetensors").read_bytes()
    text = (tmp_path / "text.txt").read_text()
    (tmp_path / "text.txt").write_text(text.replace("word1 ", "word2 "))
    with pytest.raises(PretrainingError, match=r"on other text .*\(text\.train was"):
        pretrain(settings)
    assert (folder / "weights.safetensors").read_bytes() == weights
    (tmp_path / "text.txt").rename(tmp_path / "moved.txt")
    (tmp_path / "moved.txt").write_text(text)
    moved = settings.but(corpus=settings.corpus.but(path=str(tmp_path / "moved.txt"), name="x"))
    assert pretrain(moved) == folder  # the same text elsewhere is the same training


def test_half_precision_is_refused_on_a_cpu(tmp_path):
    with pytest.raises(ValueError, match="needs a GPU"):
        pretrain(compose_pretraining(*tiny(tmp_path, "pretraining.precision=bf16-mixed")))


def test_a_corpus_smaller_than_a_batch_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"pretraining\.batch_size"):
        pretrain(compose_pretraining(*tiny(tmp_path, "pretraining.batch_size=5000")))


@pytest.mark.parametrize("kind", ["adaptive", "sampled"])
def test_other_losses_learn_too(kind, tmp_path):
    loss = f"pretraining.loss={{kind:{kind},cutoffs:[8,14],div_value:1,num_negatives:12}}"
    pretrain(compose_pretraining(*tiny(tmp_path, loss, "pretraining.epochs=12")))
    assert record_of(tmp_path)["perplexity"]["held"]["mean"] < 17


@pytest.mark.parametrize("encoder", ENCODERS)
def test_other_token_encoders_train_too(encoder, tmp_path):
    settings = compose_pretraining(*tiny(tmp_path))
    values = {**settings.bilm.architecture().plain(), "encoder": ENCODERS[encoder]}
    built = Architecture.model_validate(values).encoder
    folder = pretrain(settings.but(bilm=settings.bilm.but(encoder=built)))
    assert BiLm.load(folder).perplexity([["word1", "word2"]])["mean"] < 30


def test_a_cosine_schedule_warms_up_and_ends_at_zero():
    schedule = ScheduleSettings(kind="cosine", warmup_steps=10)
    assert schedule_factor(schedule, 0.0, 0) == pytest.approx(0.1)
    assert schedule_factor(schedule, 0.5, 500) == pytest.approx(0.5)
    assert schedule_factor(schedule, 1.0, 1000) == pytest.approx(0.0)


def test_a_time_budget_ends_the_training_early_and_completely(tmp_path):
    overrides = ("pretraining.epochs=100000", "pretraining.budget_minutes=0.05")
    pretrain(compose_pretraining(*tiny(tmp_path, *overrides)))
    assert record_of(tmp_path)["seconds"] < 15
    assert float(losses(tmp_path)[-1].split(",")[2]) < 1e-4
