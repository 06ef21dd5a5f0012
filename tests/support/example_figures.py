"""A figure of each kind, as large as those of the chapters; the numbers are drawn at random."""

import functools
import io
import wave

import torch
from decoding_example import record

from utils.figures import (
    Alignment,
    Arrows,
    Bars,
    Cache,
    Curve,
    DecodingSteps,
    Figure,
    Heads,
    Layers,
    Lines,
    Listening,
    Pieces,
    Plane,
    Ranking,
    Translations,
    Tree,
    Weights,
)
from utils.kernels import boxcar, nadaraya_watson

ENGLISH = ["Mary", "found", "the", "small", "white", "flower", "yesterday", "."]
FRENCH = ["Marie", "a", "trouvé", "la", "petite", "fleur", "blanche", "hier", "."]
KERNELS = {
    "Gaussian": None,
    "boxcar": boxcar,
}
PLACES = [
    (0.9, -0.3),
    (-0.6, -0.5),
    (-0.2, 0.1),
    (0.2, 1.2),
    (0.4, 1.6),
    (1.5, 0.5),
    (-0.8, 0.3),
    (-0.9, -0.9),
]


def _weights(seed: int, *shape: int, scale: float = 2.0) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.softmax(scale * torch.randn(*shape, generator=draw), dim=-1)


def heat_map(name: str = "heat") -> Weights:
    """One map, whose table and picks most tests use."""

    def compute(d, valid_length):
        weights = _weights(d, 5, 8, scale=d**0.5) * (torch.arange(8) < valid_length)
        return {"weights": weights, "top": weights.max(dim=-1).values, "best": weights.argmax(dim=-1)}

    return Weights(
        compute,
        {"d": [1, 4, 16], "valid_length": range(9)},
        queries=[f"query {i}" for i in range(1, 6)],
        keys=ENGLISH,
        edge="valid_length",
        name=name,
        alt="A heat map of five queries by eight words, and the weights of one query as bars.",
        say="At d = {d} {query} takes {top[query]:2} ({top[query]:0%}) from {best[query]|keys}.",
        start={"d": 4, "valid_length": 6, "query": "query 2"},
        invite="Click a row, then make d larger.",
    )


def two_maps(name: str = "maps") -> Weights:
    return Weights(
        lambda d: {
            "plain": _weights(d, 5, 8, scale=d),
            "scaled": _weights(d, 5, 8),
            "largest": _weights(d, 5, 8, scale=d).max(),
        },
        {"d": [1, 2, 8]},
        queries=[f"query {i}" for i in range(1, 6)],
        keys=ENGLISH,
        panels={"plain": "scores", "scaled": "scores / √d"},
        gauges=("largest weight", {"largest": ""}),
        name=name,
        alt="Two heat maps, the second of scores that are divided by the root of d.",
        say="{query} at d = {d}.",
        play="d",
    )


def lost(name: str = "lost") -> Weights:
    """With the words that are written: one is lost on the way, one was wrong from the start."""
    return Weights(
        lambda moved: {
            "weights": _weights(moved, 9, 8),
            "written": torch.tensor([1, 1, 2, 3, 4, 5 if moved < 2 else 2, 6, 7, 8]),
            "kept": (8 - (moved == 2)) / 9,
        },
        {"moved": [0, 1, 2]},
        queries=FRENCH,
        keys=ENGLISH,
        labels={"written": FRENCH, "moved": ["0%", "50%", "100%"]},
        gauges=("words that stay right", {"kept": ""}),
        name=name,
        alt="A heat map, and a word beside each row.",
        say="With {moved} moved it writes “{written[query]|written}” for “{query}”.",
        play="moved",
    )


def heads(name: str = "heads") -> Heads:
    return Heads(
        lambda head, layer, mask: {
            "weights": _weights(10 * head + layer, 9, 8).tril() if mask == "on" else _weights(head, 9, 8),
            "gold": torch.eye(9, 8, dtype=torch.bool),
            "share": head / 10 + layer / 100,
        },
        {"head": [1, 2, 3], "layer": [1, 2], "mask": ["on", "off"]},
        queries=FRENCH,
        keys=ENGLISH,
        causal=("mask", "on"),
        play=("head", "layer"),
        labels={"share": ["share"], "gold": ["its own place"]},
        name=name,
        alt="A heat map of the chosen head, and six small ones.",
        say="Head {head} of layer {layer}: {query}.",
        start={"head": 2, "query": "fleur", "mask": "off"},
    )


def cells(name: str = "cells") -> Heads:
    """A cell for each of many heads."""
    return Heads(
        lambda score, head, layer: {
            "weights": _weights(10 * head + layer, 5, 4),
            "share": (head + 1) / 4 if score == "flat" else (layer + head) / 15,
        },
        {"score": ["flat", "rising"], "head": range(3), "layer": range(13)},
        queries=FRENCH[:5],
        keys=ENGLISH[:4],
        maps=("layer", "head"),
        cells=True,
        free=True,
        labels={"share": ["as in the map"]},
        name=name,
        alt="A heat map of the chosen head, and a table of 13 layers by 3 heads.",
        say="Head {head} of layer {layer}: {query}.",
        start={"score": "rising", "layer": 7, "query": "trouvé"},
    )


def translations(name: str = "translations") -> Translations:
    """A sentence that grows: the second translation is right, the others are not."""
    return Translations(
        {"words": [3, 5, 8]},
        sentences=[
            (["Mary", "found", "."], ["Paul", "a", "trouvé", "."], ["Marie", "a", "trouvé", "."]),
            (["the", "small", "cat", "sleeps", "."], *[["le", "petit", "chat", "dort", "."]] * 2),
            (ENGLISH, ["Marie", "a", "trouvé", "la", "fleur", "fleur", "."], FRENCH),
        ],
        box="one vector of 128 numbers",
        languages=("English", "French"),
        name=name,
        alt="An English sentence above a box, and below it the French words that come out.",
        say=["All {total} words are right.", "{right} of {total} words are right."],
        play="words",
        invite="Make the sentence longer.",
    )


def bars(name: str = "bars") -> Bars:
    return Bars(
        lambda valid_length, fill: {
            "p": _weights(valid_length, 8) * (torch.arange(8) < valid_length + 1),
            "q": torch.ones(8) / 8,
            "verdict": torch.tensor([0, int(valid_length > 3)]),
            "tiny": 0.000065 / 10 ** (3 * valid_length),
        },
        {"valid_length": range(9), "fill": ["−10⁶ in place", "−10⁹", "−∞", "masked_softmax"]},
        panels={"p": "in float32", "q": "in float16"},
        bars=ENGLISH,
        labels={"verdicts": ["right", "all equal"]},
        edge="valid_length",
        name=name,
        alt="Two distributions over the words of a sentence.",
        say="n = {valid_length}, filled with {fill}: {tiny:2g}.",
        start={"valid_length": 5},
        invite="Drag the dashed line.",
    )


def curve(name: str = "curve", **changes) -> Curve:
    grid = torch.linspace(0, 24, 61)
    truth = torch.sin(grid / 2) + 3
    draw = torch.Generator().manual_seed(5)
    x = torch.rand(23, generator=draw).mul(24).sort().values
    y = torch.sin(x / 2) + 3 + 0.2 * torch.randn(23, generator=draw)

    def compute(kernel, bandwidth, query):
        at = torch.cat([grid, torch.tensor([query])])
        context, weights = nadaraya_watson(at, x, y, kernel=KERNELS[kernel], bandwidth=bandwidth)
        known = weights.sum(dim=1) > 0
        return {
            "estimate": context[:-1],
            "estimate_known": known[:-1],
            "weights": weights[-1],
            "height": context[-1],
            "height_known": known[-1],
            "error": (context[:-1] - truth)[known[:-1]].square().mean().sqrt(),
            "case": torch.tensor(0 if known[-1] else 1),
        }

    return Curve(
        compute,
        {"kernel": list(KERNELS), "bandwidth": [0.25, 1.0, 3.0], "query": [float(i) for i in range(25)]},
        **{
            "points": (x, y),
            "grid": grid,
            "truth": truth,
            "axes_labels": ("hour", "level (m)"),
            "name": name,
            "alt": "Readings, the true curve, an estimate, and the weights of a query.",
            "say": ["the estimate for hour {query} is {height:2} m", "no reading is near hour {query}"],
            "start": {"query": 7.0, "bandwidth": 1.0},
            "invite": "Drag the query, or an edge of the window.",
        }
        | changes,
    )


def alignment(name: str = "align") -> Alignment:
    return Alignment(
        lambda step, gold_links: {"weights": _weights(step, 9, 8, scale=step)},
        {"step": [0, 1, 2, 5], "gold_links": ["hidden", "shown"]},
        source=ENGLISH,
        target=FRENCH,
        gold=[(0, 0), (5, 5)],
        name=name,
        alt="Two sentences and bands between their words.",
        say="{word} at step {step}.",
        start={"step": 2, "word": "fleur"},
        play="step",
        invite="Choose a French word, then press play.",
    )


def decoding(name: str = "decoding") -> DecodingSteps:
    return DecodingSteps(record(), name=name, invite="Press play to follow the decoder.")


def plane(name: str = "plane") -> Plane:
    draw = torch.Generator().manual_seed(0)
    return Plane(
        {
            "distance": {"form": "distance", "w_q": torch.eye(2), "w_k": torch.eye(2), "scale": 0.7},
            "dot": {"form": "dot", "w_q": torch.eye(2), "w_k": torch.eye(2), "scale": 1.5},
            "cosine": {"form": "cosine", "w_q": torch.eye(2), "w_k": torch.eye(2), "scale": 4, "one": False},
            "additive": {
                "form": "additive",
                "w_q": torch.randn(5, 3, generator=draw),
                "w_k": torch.randn(5, 3, generator=draw),
                "w_v": 2 * torch.randn(5, generator=draw),
                "one": True,
            },
        },
        points=PLACES,
        keys=ENGLISH,
        query=(1.4, -0.8),
        box=(-1.6, 2.0, -1.1, 1.8),
        axes_labels=("thing", "quality"),
        name=name,
        alt="Eight words as points of a plane, and a query.",
        say="{score}: most weight goes to {best|points}, {top:0%}. The nearest key is {nearest|points}.",
        invite="Drag the query or a word.",
    )


def lines(name: str = "lines") -> Lines:
    """A slope, or a hill that is the sum of two curves."""
    grid, dots = torch.linspace(-1, 1.5, 26), torch.tensor([-0.8, -0.2, 0.4, 0.9, 1.5])

    def compute(score, q):
        def summed(x):
            return q * x if score == "slope" else torch.tanh(1 + x - q) + torch.tanh(1 - x + q)

        two = float(score == "hill")
        return {
            "up": two * torch.tanh(1 + grid - q), "down": two * torch.tanh(1 - grid + q), "up_known": two,
            "down_known": two, "sum": summed(grid), "heights": summed(dots), "best": summed(dots).argmax(),
        }  # fmt: skip

    return Lines(
        compute,
        {"score": ["slope", "hill"], "q": [i / 2 for i in range(-2, 4)]},
        curves={"up": "rising", "down": "falling", "sum": "score"},
        grid=grid,
        dots=dict(zip(["yesterday", "the", "white", "Mary", "flower"], dots.tolist(), strict=True)),
        grip="q",
        axes_labels=("thing", "score"),
        name=name,
        alt="A straight line, or a hill, and five words on it.",
        say="With the {score} at {q} “{best|dots}” is highest.",
        start={"score": "hill", "q": 0.5},
        invite="Drag the grip.",
    )


def arrows(name: str = "arrows") -> Arrows:
    """A fast pair of arrows and a slow one."""

    def at(place, longs):
        angles = place * torch.tensor([1.0, 0.1])
        return torch.tensor(longs)[:, None] * torch.stack([angles.cos(), angles.sin()], dim=1)

    def compute(asks, asked):
        query, key = at(asks, [2.0, 1.0]), at(asked, [1.0, 1.5])
        products = (query * key).sum(dim=1)
        return {"query": query, "key": key, "products": products, "score": products.sum()}

    return Arrows(
        compute,
        {"asks": range(5), "asked": range(5)},
        planes=["fast", "slow"],
        name=name,
        alt="Two circles with two arrows each.",
        say="At {asks} and {asked} the score is {score:2}.",
        start={"asks": 3, "asked": 1},
        invite="Turn both arrows.",
    )


def pieces(name: str = "pieces") -> Pieces:
    """Three short texts, one of them Chinese, that grow together from their ends."""
    words = ["newest", "we", "最新的"]
    pairs = ["n + e", "e + w", "新 + 的"]

    def compute(merges):
        begins, fresh = torch.zeros(2, 3, 6)
        for row, word in enumerate(words):
            begins[row, : max(1, len(word) - merges)] = 1
            fresh[row, len(word) - merges - 1 : len(word)] = float(0 < merges < len(word))
        counts = torch.tensor([7, 4, 0]) if merges else torch.tensor([11, 5, 2])
        return {"begins": begins, "fresh": fresh, "best": torch.arange(3).roll(merges), "counts": counts}

    return Pieces(
        compute,
        {"merges": range(4)},
        texts=words,
        heading="joined next",
        labels={"pairs": pairs},
        name=name,
        alt="Three texts in boxes, and bars of the pairs that may be joined.",
        say="After {merges} merges.",
        play="merges",
        start={"merges": 1},
        invite="Press play.",
    )


def cache(name: str = "cache") -> Cache:
    """Six heads over a text of five words, with six key heads, three or one."""
    return Cache(
        lambda words, sharing: {
            "serves": torch.arange(6) * int(sharing[0]) // 6,
            "kept": words * int(sharing[0]),
        },
        {"words": range(1, 6), "sharing": ["6 key heads", "3 key heads", "1 key head"]},
        words=["newest", "we", "最新的", "a", "."],
        heads=6,
        name=name,
        alt="Six heads, and blocks of keys and values.",
        say="With {sharing} {kept} blocks are kept of {words} words.",
        play="words",
        start={"words": 3, "sharing": "3 key heads"},
        invite="Press play.",
    )


def ranking(name: str = "ranking") -> Ranking:
    """What two searches find: the words of a text, and others of one meaning."""
    found = ["A dog barks.", "A hound bays.", "A cat sleeps."]

    def compute(search, text):
        order = torch.tensor([0, 1, 2] if search == "words" else [1, 0, 2]).roll(text)
        return {"ranked": order, "scores": torch.tensor([0.9, 0.6 - text / 10, 0.0]), "best": order[0]}

    return Ranking(
        compute,
        {"search": ["words", "meaning"], "text": [0, 1]},
        texts=found,
        heading="nearest",
        name=name,
        alt="Three short texts with a bar each.",
        say="By {search}, “{best|texts}” is nearest to text {text}.",
        invite="Choose the other search.",
    )


def tree(name: str = "tree") -> Tree:
    """Greedy search ends with *le chat*, and a beam of two with *la fleur*, which begins less probably."""
    greedy = [[("le", 0.5)], [("le chat", 0.2)], [("le chat <eos>", 0.16)]]
    beam = [
        [("le", 0.5), ("la", 0.4)],
        [("la fleur", 0.36), ("le chat", 0.2)],
        [("la fleur <eos>", 0.22), ("le chat <eos>", 0.16)],
    ]
    searches = {1: greedy, 2: beam}
    return Tree(
        {
            width: [[(words.split(), share) for words, share in kept] for kept in steps]
            for width, steps in searches.items()
        },
        right="la fleur",
        name=name,
        alt="Two short ways that part at once, and the second becomes the better one.",
        start={"beam_width": 2, "step": 2},
        invite="Press play.",
    )


def layers(name: str = "layers") -> Layers:
    """An encoder of one layer and a decoder of two, whose weights are drawn at random."""
    rows = [("English", ENGLISH), ("L0", 0), ("French", FRENCH), ("L0 self", 2), ("L0 cross", 1)]

    def compute(head):
        weights = torch.zeros(26, 9)
        weights[:8, :8] = _weights(head, 8, 8)
        weights[8:17] = _weights(head + 10, 9, 9).tril()
        weights[17:, :8] = _weights(head + 20, 9, 8)
        written = torch.arange(9)
        written[head] = 8
        return {
            "weights": weights,
            "best": weights.argmax(dim=1),
            "top": weights.amax(dim=1),
            "written": written,
        }

    return Layers(
        compute,
        {"head": [0, 1, 2]},
        rows=rows,
        above=("next", [*FRENCH[1:], "<eos>"]),
        labels={"written": [*FRENCH[1:], "<eos>"]},
        follow=True,
        name=name,
        alt="A network of three rows of dots over two sentences.",
        say="{dot}: its largest weight, {top[dot]:0%}, lies at place {best[dot]}.",
        start={"dot": "petite, L0 cross"},
        invite="Choose a dot.",
    )


#: Labels that markup, JSON and fonts could spoil.
AWKWARD = ['"quoted"', "a'b", "</script><b>", "<!--", "😀", "שלום", "火车", "&amp;", "a\\b"]


def awkward(name: str = "awkward") -> Weights:
    return Weights(
        lambda d: {"weights": torch.full((len(AWKWARD), 2), 1 / d)},
        {"d": [2, 4]},
        queries=AWKWARD,
        keys=["x", "</svg>"],
        name=name,
        alt='An "alt" with <b>markup</b> and </figure>.',
        say="{query}",
    )


def tone(seconds: float, *, rate: int = 8000, channels: int = 1, width: int = 2) -> bytes:
    """A WAV file in which each sample is its own number, so that a piece says where it was cut."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((channels, width, rate, 0, "NONE", ""))
        samples = torch.arange(round(seconds * rate) * channels).to(torch.int16)
        writer.writeframes(samples.numpy().tobytes() if width == 2 else samples.numpy().tobytes()[::2])
    return file.getvalue()


def listening(name: str = "listening") -> Listening:
    """Ten words look at 1.3 seconds of sound, in 26 places; the places of two of them cross."""
    words = [*ENGLISH[:7], "in", "the", "garden."]
    middles = torch.tensor([1, 4, 6, 8, 13, 10, 16, 19, 20, 24.0])

    def compute(head):
        away = torch.arange(26) - middles[:, None]
        return {"weights": 0.9 * torch.softmax(-(away**2) / (1 + 3 * head), dim=-1)}

    return Listening(
        compute,
        {"head": [0, 1]},
        sound=tone(1.29),
        place=0.05,
        spectrogram=torch.randn(17, 52, generator=torch.Generator().manual_seed(3)),
        words=words,
        gold=[(max(0.0, at / 20 - 0.04), at / 20 + 0.07) for at in middles.tolist()],
        name=name,
        alt="A spectrogram, and beams from ten words to pieces of it.",
        say="“{word}” looks at {at[word]:2} s, with {near[word]:0%} of its weight near it.",
        start={"word": "flower", "head": 1},
        invite="Touch a word.",
    )


def looked_at(name: str = "picture") -> Weights:
    """Words that look at four by four squares of a picture, of which one thing can be hidden."""
    words = ["a", "red", "circle", ",", "a", "grey", "cross", "and", "a", "green", "square", "."]
    gold = torch.zeros(12, 16, dtype=torch.bool)
    gold[[1, 2, 5, 6, 9, 10], [1, 1, 6, 6, 11, 11]] = True
    image = torch.ones(32, 32, 3)
    for row, column, colour in ((0, 1, (0.8, 0.2, 0.2)), (1, 2, (0.6, 0.6, 0.6)), (2, 3, (0.2, 0.6, 0.2))):
        image[8 * row + 1 : 8 * row + 7, 8 * column + 1 : 8 * column + 7] = torch.tensor(colour)
    without = image.clone()
    without[:8] = 1
    return Weights(
        lambda hide: {
            "weights": _weights(len(hide), 12, 16),
            "gold": gold,
            "image": image if hide == "nothing" else without,
        },
        {"hide": ["nothing", "the circle"]},
        queries=words,
        keys=range(16),
        squares=(4, 4),
        labels={"gold": ["its own square"]},
        name=name,
        alt="A picture of four by four squares with three things, and a heat map of its caption by the squares.",
        say="“{query}” without {hide}.",
        start={"query": 2},
    )


@functools.cache
def examples() -> dict[str, Figure]:
    """By name; every kind, and Weights and Alignment in all forms that they have."""
    made = [
        heat_map(),
        two_maps(),
        lost(),
        heads(),
        cells(),
        bars(),
        cache(),
        curve(),
        alignment(),
        decoding(),
        plane(),
        lines(),
        arrows(),
        translations(),
        pieces(),
        ranking(),
        tree(),
        layers(),
        listening(),
        looked_at(),
    ]
    return {figure.name: figure for figure in made}
