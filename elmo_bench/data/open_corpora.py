"""Open corpora, made from clones of their repositories in exactly the form of the manifest.

A clone has the name of its repository; docs/open-data.md lists them with their commits.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from elmo_bench.data.example import Split
from elmo_bench.data.files import DataError
from elmo_bench.data.manifest import OpenCorpus

Made = Iterator[tuple[str, str]]  # path below the folder of open corpora, content

SPLITS: tuple[Split, ...] = ("train", "dev", "test")
HELD_OUT_PREMISES = 340  # the last ones of SNLI's dev set are dev here, the others train
TRAIN_ARTICLES = 42  # the first ones of SQuADShifts' new Wikipedia articles
_MENTION = re.compile(r"\(\d+\)|\(\d+|\d+\)")


def make(corpus: OpenCorpus, sources: Path) -> Made:
    """Make the files of a corpus from clones in a folder."""
    try:
        yield from MAKERS[corpus.name](corpus, sources)
    except DataError:
        raise
    except (LookupError, TypeError, ValueError, BadZipFile) as error:
        problem = f"not what {corpus.name} is made of ({error!r}); are the clones at its commits?"
        raise DataError(sources, None, problem) from error


def _wnut17(corpus: OpenCorpus, sources: Path) -> Made:
    clone = sources / "emerging_entities_17"
    names = ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
    for split, name in zip(SPLITS, names, strict=True):
        rows = (row if row.strip() else "" for row in _text(clone / name).split("\n"))
        yield f"ner/wnut17.{split}.conll", "\n".join(rows)


def _sst(corpus: OpenCorpus, sources: Path) -> Made:
    yield "sst/train.txt.gz", _text(sources / "trees" / "train.txt")
    yield "sst/dev.txt", _text(sources / "trees" / "dev.txt")
    yield "sst/test.txt", _text(sources / "trees" / "test.txt")


def _snli(corpus: OpenCorpus, sources: Path) -> Made:
    def pairs(split: str) -> list[dict[str, str]]:
        folder = sources / "e-SNLI" / "dataset" / "eSNLI"
        columns = [_lines(folder / f"{name}.{split}") for name in ("labels", "s1", "s2")]
        keys = ("gold_label", "sentence1", "sentence2")
        return [
            {key: value.strip() for key, value in zip(keys, row, strict=True)}
            for row in zip(*columns, strict=True)
        ]

    dev = pairs("dev")
    premises = list(dict.fromkeys(pair["sentence1"] for pair in dev))
    held_out = {*premises[-HELD_OUT_PREMISES:]}
    train = [pair for pair in dev if pair["sentence1"] not in held_out]
    yield "nli/snli_dev_as_train.jsonl.gz", _jsonl(train)
    dev = [pair for pair in dev if pair["sentence1"] in held_out]
    yield "nli/snli_dev_heldout.jsonl.gz", _jsonl(dev)
    yield "nli/snli_1.0_test.jsonl.gz", _jsonl(pairs("test"))


def _cad_nli(corpus: OpenCorpus, sources: Path) -> Made:
    path = sources / "counterfactually-augmented-data" / "NLI" / "all_combined" / "train.tsv"
    rows = csv.DictReader(_lines(path), delimiter="\t", quoting=csv.QUOTE_NONE)
    keys = ("gold_label", "sentence1", "sentence2")
    yield "nli/cad_nli_train.jsonl.gz", _jsonl({key: row[key] for key in keys} for row in rows)


def _squadshifts(corpus: OpenCorpus, sources: Path) -> Made:
    folder = sources / "squadshifts-website" / "datasets"
    text = _text(folder / "new_wiki_v1.0.json")
    titles = [article["title"] for article in json.loads(text)["data"]]
    splits = {"train": titles[:TRAIN_ARTICLES], "dev": titles[TRAIN_ARTICLES:]}
    yield "qa/squadshifts_new_wiki_v1.0.json.gz", text
    yield "qa/squadshifts_new_wiki.splits.json", json.dumps(splits, indent=0)
    yield "qa/squadshifts_reddit_v1.0.json.gz", _text(folder / "reddit_v1.0.json")


def _xquad(corpus: OpenCorpus, sources: Path) -> Made:
    yield "qa/xquad.en.json", _text(sources / "xquad" / "xquad.en.json")


def _ewt_propbank(corpus: OpenCorpus, sources: Path) -> Made:
    """Put the words of the English Web Treebank into PropBank's skeletons, which lack them."""
    release = sources / "propbank-release"
    treebank = sources / "UD_English-EWT" / "not-to-release" / "sources"
    for split in SPLITS:
        named = _text(release / "docs" / "evaluation" / f"ewt.{split}.txt")
        names = sorted({*re.findall(r"^(\S+)\.xml", named, re.MULTILINE)})
        skeletons = {name: release / f"data/google/ewt/{name}.xml.gold_skel" for name in names}
        ids = [left_out.split(":") for left_out in corpus.left_out[split]]
        documents: list[str] = []
        for name, skeleton in skeletons.items():
            if skeleton.is_file():  # some documents of the treebank are not annotated
                genre, _, document = name.split("/")
                key = f"{genre}/{len(documents):04}"
                left_out = {int(i) for k, i in ids if k == key}
                words = _conllu(treebank / genre / f"{document}.xml.conllu")
                documents.append(_with_words(f"ewt/{key}", skeleton, words, left_out))
        yield f"srl/ewt-propbank.{split}.gold_conll.gz", "".join(documents)


def _with_words(name: str, skeleton: Path, treebank: list["_Sentence"], left_out: set[int]) -> str:
    sentences: list[list[str]] = []
    shift = 0  # the treebank splits a sentence that PropBank does not
    for index, block in enumerate(_text(skeleton).strip("\n").split("\n\n")):
        if index in left_out:
            continue
        rows = [line.split() for line in block.split("\n")]
        while len(treebank[index + shift].rows) != len(rows):
            shift += 1
        words = [row[1].replace(" ", "_") for row in treebank[index + shift].rows]
        sentences.append(
            [
                " ".join([word, *row[4:7], row[7].split(".")[-1], "- - *", *row[8:], "-"])
                for word, row in zip(words, rows, strict=True)
            ]
        )
    return _conll2012(name, sentences)


def _ontogum(corpus: OpenCorpus, sources: Path) -> Made:
    """Join OntoGUM's coreference with the sentences, tags and speakers of GUM; without Reddit."""
    clone = sources / "gum"
    parts = dict(re.findall(r"^## (\w+)\n(.*?)(?=^##|\Z)", _text(clone / "splits.md"), re.M | re.S))
    for split in SPLITS:
        documents = []
        for name in re.findall(r"GUM_(?!reddit)\w+", parts[split]):
            coreference = [
                "|".join(_MENTION.findall(line.split("\t")[-1])) or "-"
                for line in _lines(clone / "coref" / "ontogum" / "conll" / f"{name}.conll")
                if line[:1].isdigit()
            ]
            sentences, before = [], 0
            for sentence in _conllu(clone / "dep" / f"{name}.conllu"):
                speaker = sentence.comments.get("speaker", "-").replace(" ", "_")
                cells = coreference[before : before + len(sentence.rows)]
                sentences.append(
                    [
                        f"{row[1]} {row[4]} * - - - {speaker} * {cell}"
                        for row, cell in zip(sentence.rows, cells, strict=True)
                    ]
                )
                before += len(cells)
            genre = name.split("_")[1]
            documents.append(_conll2012(f"{genre}/{name}", sentences))
        yield f"coref/ontogum.{split}.v4_gold_conll.gz", "".join(documents)


def _coarsewsd20(corpus: OpenCorpus, sources: Path) -> Made:
    folder = sources / "bert-disambiguation" / "data" / "CoarseWSD-20"
    words = sorted(path.name for path in folder.iterdir() if path.is_dir())
    for split in ("train", "test"):
        rows = []
        for word in words:
            senses = json.loads(_text(folder / word / "classes_map.txt"))
            texts = _lines(folder / word / f"{split}.data.txt")
            gold = _lines(folder / word / f"{split}.gold.txt")
            for text, number in zip(texts, gold, strict=True):
                index, _, tokens = text.partition("\t")
                row = {"lemma": word, "sense": senses[number], "index": int(index)}
                rows.append({**row, "tokens": tokens.split(" ")})
        yield f"wsd/coarsewsd20.{split}.jsonl.gz", _jsonl(rows, ascii_only=False)


def _conll2000(corpus: OpenCorpus, sources: Path) -> Made:
    with ZipFile(sources / "nltk_data" / "packages" / "corpora" / "conll2000.zip") as packed:
        for split in ("train", "test"):
            text = packed.read(f"conll2000/{split}.txt").decode()
            yield f"pos/conll2000.{split}.txt", text


def _wikitext2(corpus: OpenCorpus, sources: Path) -> Made:
    folder = sources / "examples" / "word_language_model" / "data" / "wikitext-2"
    yield "lm/wikitext2.valid.txt.gz", _text(folder / "valid.txt")


MAKERS: dict[str, Callable[[OpenCorpus, Path], Made]] = {
    "wnut17": _wnut17,
    "sst": _sst,
    "snli": _snli,
    "cad_nli": _cad_nli,
    "squadshifts": _squadshifts,
    "xquad": _xquad,
    "ewt-propbank": _ewt_propbank,
    "ontogum": _ontogum,
    "coarsewsd20": _coarsewsd20,
    "conll2000": _conll2000,
    "wikitext2": _wikitext2,
}


class _Sentence(NamedTuple):
    comments: dict[str, str]
    rows: list[list[str]]


def _conllu(path: Path) -> list[_Sentence]:
    """Read CoNLL-U without multiword tokens and empty nodes."""
    sentences = []
    for block in _text(path).strip("\n").split("\n\n"):
        lines = block.split("\n")
        comments = dict(line[2:].split(" = ", 1) for line in lines if re.match("# .* = ", line))
        rows = [line.split("\t") for line in lines if line.partition("\t")[0].isdigit()]
        sentences.append(_Sentence(comments, rows))
    return sentences


def _conll2012(name: str, sentences: Iterable[list[str]]) -> str:
    """A document in CoNLL-2012 columns; the first three are added to those of the rows."""
    text = [f"#begin document ({name}); part 000\n"]
    for rows in sentences:
        text += [f"{name} 0 {index} {row}\n" for index, row in enumerate(rows)]
        text.append("\n")
    return "".join([*text, "#end document\n"])


def _jsonl(rows: Iterable[dict[str, Any]], ascii_only: bool = True) -> str:
    return "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except OSError as error:
        problem = f"cannot be read ({error.strerror}); clone its repository, or use --only"
        raise DataError(path, None, problem) from error


def _lines(path: Path) -> list[str]:
    return _text(path).replace("\r", "").removesuffix("\n").split("\n")
