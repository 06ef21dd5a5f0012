"""The pages of translators in V8, against what torch says, and what such a page holds."""

import base64
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path

import nbformat
import torch
from bs4 import BeautifulSoup
from py_mini_racer import MiniRacer
from torch import Tensor, nn

from utils.corpus.batches import make_batch
from utils.corpus.vocabulary import EOS, Vocabulary
from utils.search import Hypothesis, beam_search, greedy
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder
from utils.translator.page.html import Content, page_of, read
from utils.translator.page.stored_model import language_facts, pack_weights, vocabulary_facts

#: How much two computations in single precision may differ, in log-probabilities and in weights.
ROUNDING = 1e-4

#: Functions of JSON, which Python can call.
CALLS = """
let [model, read, tgt] = [];
const plain = ({ ids, weights, choices, logProb, finished }) =>
  ({ ids, weights: weights.map((row) => [...row]), choices, logProb, finished });
const calls = {
  load: ({ layout, bytes }) => {
    model = forward.makeModel(forward.unpackWeights(layout, Uint8Array.from(bytes).buffer));
  },
  search: ({ src, ...options }) => {
    const search = forward.searching(model, src, options);
    let step = search.next();
    while (!step.done) step = search.next();
    return step.value.map(plain);
  },
  reads: ({ vocabulary, language }) => { read = tokenizer.makeReader(vocabulary, language); },
  read: (texts) => texts.map(read),
  writes: (vocabulary) => { tgt = vocabulary; },
  decode: (rows) => rows.map((ids) => tokenizer.decode(tgt, ids)),
};
const call = (name, argument) => JSON.stringify(calls[name](JSON.parse(argument)) ?? null);
"""


SCRIPT = read("forward.js", "tokenizer.js") + CALLS


class Engine:
    """The scripts in V8, without a browser."""

    def __init__(self) -> None:
        self.context = MiniRacer()
        self.context.eval(SCRIPT)

    def call(self, name: str, argument: object) -> object:
        return json.loads(self.context.call("call", name, json.dumps(argument)))

    def load(self, model: nn.Module, *, exact: bool = True) -> None:
        layout, packed = pack_weights(model, exact=exact)
        self.call("load", {"layout": layout, "bytes": list(packed)})

    def read(self, vocabulary: Vocabulary, lang: str, texts: Sequence[str]) -> list[dict]:
        facts = vocabulary_facts(vocabulary, reads=True)
        self.call("reads", {"vocabulary": facts, "language": language_facts(lang)})
        return self.call("read", list(texts))


def held(page: str, name: str) -> str:
    """What a page holds in one of its script elements."""
    return re.search(rf'<script type="[^"]*" id="{name}">(.*?)</script>', page, re.DOTALL)[1]


def read_page(page: str) -> tuple[Content, bytes]:
    """The facts and the weights in a page."""
    return json.loads(held(page, "facts")), base64.b64decode(held(page, "weights"))


def chapter_page() -> str:
    """The page of the translator that the chapter on Bahdanau's decoder has trained, as the book makes it."""
    notebook = nbformat.read(Path(__file__).parents[2] / "chapters" / "bahdanau_decoder.ipynb", as_version=4)
    [output] = [cell.outputs[0] for cell in notebook.cells if cell.id == "bd-live"]
    content, weights = json.loads(BeautifulSoup(output.data["text/html"], "html.parser").iframe["data-page"])
    return page_of(content, base64.b64decode(weights))


def check_searches(engine: Engine, model: EncoderDecoder, src: list[int], max_len: int) -> None:
    """Both searches of the page write what torch writes, and beam search all of its hypotheses."""
    batch = make_batch([src], [[]])
    [expected] = greedy(model, batch.src, batch.src_lens, max_len=max_len)
    check_same(engine.call("search", {"src": src, "maxLen": max_len, "beam": 1})[0], expected)
    [best] = beam_search(model, batch.src, batch.src_lens, beam=5, max_len=max_len)
    told = engine.call("search", {"src": src, "maxLen": max_len, "beam": 5})
    assert len(told) == len(best)
    for hypothesis, expected in zip(told, best, strict=True):
        check_same(hypothesis, expected)


def check_same(told: dict, expected: Hypothesis) -> None:
    """The page writes the same translation as torch, with the same probability and the same weights."""
    tokens = expected.tokens + [EOS] * expected.finished
    assert (told["ids"], told["finished"]) == (tokens, expected.finished)
    assert abs(told["logProb"] - expected.log_prob) <= ROUNDING
    torch.testing.assert_close(Tensor(told["weights"]), expected.weights, rtol=0, atol=ROUNDING)


def random_model(vocab: int = 13, *, cell: str = "gru", num_layers: int = 1, seed: int = 0) -> EncoderDecoder:
    """A translator whose widths all differ, with weights that make its choices differ, too."""
    torch.manual_seed(seed)
    encoder = Encoder(vocab, 11, 17, num_layers=num_layers)
    decoder = BahdanauDecoder(vocab, 7, 19, encoder.d_out, d_attention=5, num_layers=num_layers, cell=cell)
    model = EncoderDecoder(encoder, decoder).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 3
        model.decoder.output.bias[EOS] += 1  # so that some sentences end before the limit
    return model


#: Characters that are easy to get wrong: composed and decomposed accents, scripts, emoji, blanks and what is invisible.
POOLS = (
    "abcdeéèçàñ", "e\u0301a\u0300o\u0308n\u0303c\u0327", "我们喜欢你漢語看著名",
    "😀👩\u200d👩\u200d👧🏽🇫🇷1\ufe0f\u20e3#❤\ufe0f☕",
    "\u00a0\u202f\u3000\u2009\u200b\u00ad\ufeff\t\n\r\x85\x1c", "ابنمی\u200cخواهم", "नमस्तेक\u094d\u200dष", "สวัสดี",
    "Привет", "<>&\"'’‘▁_-–—…。、！？.,;:", "\x00\x01\x7f\u2028\ufdd0\ufffe\U0001fffe\ue000",
    "09½²Ⅷ٣", "가나\u1100\u1161",
)  # fmt: skip


def odd_strings(num: int, seed: int = 0) -> list[str]:
    """Strings of at most 24 characters, each of one to three kinds or of all."""
    numbers = random.Random(seed)
    strings = []
    for _ in range(num):
        kinds = numbers.sample(POOLS, numbers.choice([1, 1, 2, 3, len(POOLS)]))
        length = numbers.randrange(25)
        strings.append("".join(numbers.choice(numbers.choice([*kinds, " "])) for _ in range(length)))
    return strings
