"""The links study: how well the translator of the book links words, in three kinds of text.

Run as ``PYTHONPATH=chapters python -m studies.links_study``. It needs the data folder with ``tatoeba/fra.txt`` and the
sentences of parliament (book/data_and_licences), and five minutes on one core. The translator is the one that
``book/translators.py`` has trained, from English to French. The results hold numbers and no sentence.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer
from torch import Tensor

from studies.aligning import GoldLinks, attention_links, detokenise, parse_links, split_words
from studies.parts import run_parts
from studies.real_sentences import (
    RESAMPLES,
    capitalised,
    in_lower_case,
    links_by_table,
    lower_pairs,
    model_1,
    stored_score,
)
from utils.corpus.grammar import triples
from utils.corpus.pairs import find_file, read_pairs, tokenise
from utils.corpus.splits import Split, group_split
from utils.corpus.vocabulary import Vocabulary
from utils.metrics import Links, bleu, diagonal_links
from utils.translator.models import Settings, build_model
from utils.translator.page.html import stored_content
from utils.translator.page.stored_model import unpack_weights
from utils.translator.runs import Run
from utils.translator.using.input_lines import read_lines
from utils.translator.using.translating import translate_sentences

FRENCH = "tatoeba/fra.txt"
HANSARDS, HANSARDS_LINKS = "hansards/enfr.src-tgt", "hansards/enfr.gold"
#: The links that an aligner of 2021 has published for the sentences of parliament (Dou and Neubig 2021).
HANSARDS_ALIGNER = "hansards/enfr.awesome-align.out"
#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: The sentences of the grammar.
NUM_GRAMMAR = 1000

Table = Mapping[tuple[str, str], float]


class LinkReader(NamedTuple):
    """What links the sentences.

    Attributes:
        run: the stored translator.
        facts: what its page says of it.
        forward: the table of a model 1 that has read the pairs of training.
        backward: the same with the two languages exchanged.
    """

    run: Run
    facts: dict[str, str]
    forward: Table
    backward: Table


def stored_run(split: Split) -> tuple[Run, dict[str, str]]:
    """The translator from English to French that comes with the course, and the facts of its page.

    It has no merges of its target, so the vocabularies are learned again.

    Raises:
        ValueError: they are not those of the translator.
    """
    content, packed = stored_content("en-fr")
    sizes = [len(content[side]["tokens"]) for side in ("src", "tgt")]
    src, tgt = (
        Vocabulary.bpe(side, size) for side, size in zip(zip(*split.train, strict=True), sizes, strict=True)
    )
    for name, vocabulary in (("src", src), ("tgt", tgt)):
        if vocabulary.tokens(range(len(vocabulary))) != content[name]["tokens"]:
            raise ValueError(f"the translator has learned its {name} vocabulary from other sentences")
    weights = unpack_weights(content["layout"], packed)
    width = weights["encoder.embedding.weight"].shape[1]
    settings = Settings("en", "fr", max(sizes), d_embed=width, d_hidden=width)
    model = build_model(settings, *sizes).eval()
    model.load_state_dict(weights)
    return Run(settings, model, src, tgt, split.test), content["facts"]


@cache
def french_split() -> Split:
    """The pairs of Tatoeba as the command line splits them."""
    return group_split(read_pairs(FRENCH, ("en", "fr")).between("en", "fr"), num_test=1000, num_valid=500)


@cache
def reader() -> LinkReader:
    """The translator, and model 1 in both directions."""
    run, facts = stored_run(french_split())
    lower = lower_pairs(french_split())
    backward = model_1([(french, english) for english, french in lower])
    return LinkReader(run, facts, model_1(lower), backward)


def grammar() -> tuple[list, list[GoldLinks]]:
    """Sentences of the grammar as pairs of words, and their links."""
    drawn = triples(NUM_GRAMMAR, split="test", min_words=3, max_words=30)
    pairs = [(capitalised(t.en), capitalised(t.fr)) for t in drawn]
    return pairs, [GoldLinks(t.en_fr, t.en_fr) for t in drawn]


def tatoeba() -> tuple[list, list[GoldLinks]]:
    """The test sentences of Tatoeba, linked by model 1: sure in both directions, possible in one of them."""
    read = reader()
    pairs = [
        (tokenise(example.source, "en"), tokenise(example.references[0], "fr"))
        for example in french_split().test
    ]
    gold = []
    for english, french in in_lower_case(pairs):
        forward = links_by_table(read.forward, english, french)
        backward = frozenset((i, j) for j, i in links_by_table(read.backward, french, english))
        gold.append(GoldLinks(forward & backward, forward | backward))
    return pairs, gold


def hansards() -> tuple[list, list[GoldLinks]]:
    """Sentences of parliament, and the links that people drew."""
    pairs = [tuple(map(split_words, line.split("|||"))) for line in _lines(HANSARDS)]
    return pairs, [parse_links(line) for line in _lines(HANSARDS_LINKS)]


def _lines(name: str) -> list[str]:
    with find_file(name).open("rb") as file:
        return list(read_lines(file, name))


#: The texts, in the order in which they are measured.
#:
#: :meta hide-value:
TEXTS = {"grammar": grammar, "tatoeba": tatoeba, "hansards": hansards}
#: The part with the error rates of the published links.
ALIGNER = "published links"


def aer_of(links: Mapping[str, Sequence[Links]], gold: Sequence[GoldLinks]) -> dict[str, dict]:
    """The error rate of each list of links, with the interval of the bootstrap over sentences.

    All lists but the first also have their difference from the first, with the interval of the paired bootstrap: a draw
    takes the same sentences for both.

    >>> gold = [GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0)}))] * 2
    >>> aer_of({"diagonal": [{(0, 0)}, {(0, 0)}], "other": [{(0, 0), (1, 1)}] * 2}, gold)["other"]["difference"]
    {'aer': 0.333, 'interval': [0.333, 0.333]}
    """
    rows = torch.randint(len(gold), (RESAMPLES, len(gold)), generator=torch.Generator().manual_seed(0))
    rates, drawn = {}, {}
    for name, predicted in links.items():
        agreed = [len(a & g.sure) + len(a & g.possible) for a, g in zip(predicted, gold, strict=True)]
        total = [len(a) + len(g.sure) for a, g in zip(predicted, gold, strict=True)]
        counts = torch.tensor([agreed, total], dtype=torch.float64)
        sums = counts[:, rows].sum(dim=2)
        rates[name], drawn[name] = 1 - sum(agreed) / sum(total), 1 - sums[0] / sums[1]
    first = next(iter(links))
    results = {}
    for name in links:
        results[name] = _with_interval(rates[name], drawn[name])
        if name != first:
            difference = rates[name] - rates[first], drawn[name] - drawn[first]
            results[name]["difference"] = _with_interval(*difference)
    return results


def _with_interval(aer: float, drawn: Tensor) -> dict:
    ends = drawn.quantile(torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
    return {"aer": round(aer, 3), "interval": [round(end, 3) for end in ends]}


def measure(name: str) -> dict:
    """BLEU and error rates on a text."""
    read, (pairs, gold) = reader(), TEXTS[name]()
    links = {
        "diagonal": [diagonal_links(len(src), len(tgt)) for src, tgt in pairs],
        "attention": attention_links(read.run, pairs),
        "model 1": [links_by_table(read.forward, *pair) for pair in in_lower_case(pairs)],
    }
    if name == "tatoeba":
        del links["model 1"]  # it has made the links
    texts = [t.text for t in translate_sentences(read.run, [detokenise(en, "en")[0] for en, _ in pairs])]
    return {
        "num": len(pairs),
        "bleu": stored_score(texts, [[detokenise(french, "fr")[0]] for _, french in pairs], "fr"),
        "aer": aer_of(links, gold),
    }


def measure_aligner() -> dict:
    """Error rates of the published links on the sentences of parliament."""
    pairs, gold = hansards()
    published = [
        frozenset(tuple(map(int, link.split("-"))) for link in line.split())
        for line in _lines(HANSARDS_ALIGNER)
    ]
    diagonal = [diagonal_links(len(src), len(tgt)) for src, tgt in pairs]
    return {"aer": aer_of({"diagonal": diagonal, "aligner of 2021": published}, gold)}


def measure_training() -> dict:
    """The pairs that the translator and model 1 have read, and what the page says of the translator."""
    facts = {name: reader().facts[name] for name in ("training", "BLEU", "date")}
    return {"pairs": len(french_split().train)} | facts


def run_study(out: Path) -> None:
    """Measure the parts that are not stored yet."""
    head = {
        "sha256": {p: hashlib.sha256(find_file(p).read_bytes()).hexdigest() for p in (FRENCH, HANSARDS)},
        "signature": bleu(["."], [["."]], lang="fr").signature,
    }
    run_parts(
        {"training": measure_training}
        | {name: partial(measure, name) for name in TEXTS}
        | {ALIGNER: measure_aligner},
        out,
        belongs_to=head,
    )


def _main(
    out: Annotated[Path, typer.Option(help="results; parts that it holds are not measured again")] = RESULTS,
) -> None:
    """Link three kinds of text with the stored translator, and store the error rates."""
    torch.set_num_threads(1)
    run_study(out)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
