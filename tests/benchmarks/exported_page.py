"""Speed and fidelity of the exported page: how long a sentence takes in Chromium, and what the stored weights change.

Run as ``python tests/benchmarks/exported_page.py RUN``, with a recurrent run that has test sentences; without one, the
default run is trained for three minutes, English to French. Times are those of the page's worker, for test sentences of
ten words. With the weights in float32 it is compared with torch, sentence by sentence; those that the page stores are
unpacked into torch and compared on all test sentences.
"""

import base64
import statistics
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import torch
import typer

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from chromium import launch
from playwright.sync_api import Page, sync_playwright

from utils.metrics import bleu
from utils.translator.models import Settings
from utils.translator.options import Search
from utils.translator.page.exported import export
from utils.translator.page.stored_model import pack_weights, unpack_weights
from utils.translator.runs import Run, load_run, train_run
from utils.translator.training.data import PairData
from utils.translator.training.loop import Schedule
from utils.translator.using.translating import Translation, translate_sentences

WORDS = 10
#: The most milliseconds that we want: with greedy search and with a beam of 5.
WANTED = {1: 80, 5: 300}

#: A second worker of an opened page, which answers one request at a time, with these weights or those of the page.
SECOND_WORKER = """([layout, weights]) => {
    const text = (id) => document.getElementById(id).textContent;
    const worker = new Worker(URL.createObjectURL(new Blob([text("worker")], { type: "text/javascript" })));
    const facts = JSON.parse(text("facts"));
    if (weights) worker.postMessage({ facts: { ...facts, layout }, weights });
    else worker.postMessage({ facts, weights: text("weights").trim() });
    let number = 0;
    window.translated = (sentence, beam) => new Promise((answered) => {
        worker.onmessage = ({ data }) => answered(data);
        worker.postMessage({ number: ++number, text: sentence, beam, prefix: [] });
    });
}"""


def trained() -> Run:
    """The default run, after three minutes."""
    data = PairData("tatoeba/fra.txt", ("en", "fr"), num_test=1000, num_valid=500)
    with TemporaryDirectory() as temporary:
        return train_run(data, Settings("en", "fr"), Schedule(minutes=3), out=Path(temporary) / "run")[0]


def answers(page: Page, sentences: list[str], beam: int) -> list[dict]:
    ask = "([sentence, beam]) => translated(sentence, beam)"
    return [page.evaluate(ask, [sentence, beam]) for sentence in sentences]


def print_times(page: Page, run: Run, num: int) -> None:
    sentences = [example.source for example in run.test if len(example.source.split()) == WORDS][:num]
    for beam, wanted in WANTED.items():
        answers(page, sentences[:3], beam)  # so that V8 has compiled the functions
        times = [answer["milliseconds"] for answer in answers(page, sentences, beam)]
        print(
            f"beam {beam}, {len(times)} sentences of {WORDS} words: median {statistics.median(times):.0f} ms, "
            f"largest {max(times):.0f} ms, wanted {wanted} ms"
        )


def print_parity(page: Page, run: Run, num: int) -> None:
    """The page with float32 weights against torch."""
    sentences = [example.source for example in run.test][:: max(1, len(run.test) // num)][:num]
    for beam in WANTED:
        expected = translate_sentences(run, sentences, Search(beam=beam))
        told = answers(page, sentences, beam)
        same = [pair for pair in zip(told, expected, strict=True) if tokens_of(pair[0]) == pair[1].tgt_tokens]
        furthest = max((torch.tensor(a["weights"]) - b.weights).abs().max().item() for a, b in same)
        print(
            f"beam {beam}, float32: {len(same)} of {len(sentences)} translations as torch's, "
            f"weights at most {furthest:.1e} apart"
        )


def tokens_of(answer: dict) -> list[str]:
    return [word["token"] for word in answer["target"]]


def print_effect(run: Run) -> None:
    """What rounding the weights to one byte changes in the translations of all test sentences, by greedy search."""
    sources = [example.source for example in run.test]
    before = translate_sentences(run, sources)
    model = type(run.model)(run.model.encoder, run.model.decoder)
    exact = {name: tensor.clone() for name, tensor in run.model.state_dict().items()}
    model.load_state_dict(unpack_weights(*pack_weights(run.model)))
    after = translate_sentences(replace(run, model=model), sources)
    run.model.load_state_dict(exact)
    same = [pair for pair in zip(before, after, strict=True) if pair[0].tgt_tokens == pair[1].tgt_tokens]
    apart = torch.cat([(a.weights - b.weights).abs().flatten() for a, b in same])
    scores = [score_of(run, translations) for translations in (before, after)]
    print(
        f"rounded: {len(sources) - len(same)} of {len(sources)} translations differ, BLEU {scores[0]:.2f} and "
        f"{scores[1]:.2f}, weights of the others {apart.mean():.4f} apart on average"
    )


def score_of(run: Run, translations: list[Translation]) -> float:
    references = [example.references for example in run.test]
    return bleu([translation.text for translation in translations], references, lang=run.settings.tgt).value


def main(
    folder: Annotated[Path | None, typer.Argument(metavar="[RUN]")] = None,
    num: Annotated[int, typer.Option(min=1)] = 50,
    parity: Annotated[int, typer.Option(min=1)] = 200,
) -> None:
    """Export a run, and measure its page."""
    run = load_run(folder) if folder else trained()
    layout, exact = pack_weights(run.model, exact=True)
    with TemporaryDirectory() as temporary, sync_playwright() as playwright:
        browser = launch(playwright)
        path = Path(temporary) / "page.html"
        print(f"{export(run, path) / 1e6:.1f} MB")
        page = browser.new_page()
        page.goto(path.as_uri())
        page.evaluate(SECOND_WORKER, [None, None])
        print_times(page, run, num)
        page.evaluate(SECOND_WORKER, [layout, base64.b64encode(exact).decode()])
        print_parity(page, run, parity)
        browser.close()
    print_effect(run)


if __name__ == "__main__":
    typer.run(main)
