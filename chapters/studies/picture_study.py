"""The picture study: networks that write captions of small pictures, and where they look, with several seeds.

Run as ``PYTHONPATH=chapters python -m studies.picture_study``. It needs about ten minutes on one core. The results are
stored beside this file; chapters/beyond_words reads them, and takes its pictures from here.
"""

import json
import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from studies.parts import run_parts
from utils.corpus.batches import Batch, pad_ids
from utils.corpus.vocabulary import BOS, EOS, Vocabulary
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, EncoderDecoder
from utils.training import History, fit, seeded
from utils.transformer import EncoderLayer, TransformerDecoder, sinusoids

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: The networks that write captions: the one of the chapter; one whose patches do not ask each other; one that is not
#: told where a patch is; and one with the recurrent decoder of chapters/bahdanau_decoder.
KINDS = ("transformer", "patches alone", "no places", "recurrent")
#: The part with the networks that name the colour of the first thing alone, and the part of the opening figure.
CLASSES, MAPS = "first colour", "where it looks"
#: The number of the picture to test whose map is stored.
SHOWN = 3

#: A picture is cut into 4 rows of 4 patches, each of 8 by 8 pixels.
GRID, SIZE = 4, 8
#: Red, green and blue, from 0 to 255.
COLOURS = {"red": (204, 26, 26), "green": (26, 153, 51), "yellow": (230, 191, 26), "grey": (128, 128, 128)}
_Y, _X = torch.meshgrid(torch.arange(SIZE) - 3.5, torch.arange(SIZE) - 3.5, indexing="ij")
#: The pixels of a patch that belong to a thing.
SHAPES = {
    "circle": _X**2 + _Y**2 < 10,
    "square": (_X.abs() < 3) & (_Y.abs() < 3),
    "triangle": (_Y.abs() < 3) & (_X.abs() <= (_Y + 3.5) / 2),
    "cross": ((_X.abs() < 1) | (_Y.abs() < 1)) & (_X.abs() < 3) & (_Y.abs() < 3),
}


class Scene(NamedTuple):
    """A picture, its caption, and for each word of the caption the patch that it describes, or None."""

    image: Int[Tensor, "3 height width"]
    caption: list[str]
    where: list[int | None]

    @property
    def places(self) -> list[int]:
        """The patches that hold a thing, in reading order."""
        return sorted({place for place in self.where if place is not None})


class PictureSettings(NamedTuple):
    """The settings of the study.

    Attributes:
        num_train: pictures for training.
        num_test: pictures for validation, and as many to test.
        batch_size: pictures in a batch.
        passes: over the pictures, in a training.
        width: of all vectors.
        num_heads: of each attention.
        lrs: highest learning rates; each network has the one with the most right captions of validation.
        seeds: of the weights; each network is trained with each.
        class_passes: passes in the trainings that name a colour.
        class_lrs: their learning rates.
        map_steps: the steps of training after which it is stored where the first network looks.
    """

    num_train: int = 4000
    num_test: int = 300
    batch_size: int = 36
    passes: int = 4
    width: int = 64
    num_heads: int = 4
    lrs: tuple[float, ...] = (2e-3, 4e-3)
    seeds: tuple[int, ...] = (0, 1, 2)
    class_passes: tuple[int, ...] = (2, 4)
    class_lrs: tuple[float, ...] = (4e-3, 8e-3)
    map_steps: tuple[int, ...] = (0, 50, 100, 200, 448)


def patch_of(image: Int[Tensor, "3 height width"], place: int) -> Int[Tensor, "3 size size"]:
    """The pixels of one patch, counted row by row; a view of the picture."""
    row, column = divmod(place, GRID)
    return image[:, SIZE * row : SIZE * (row + 1), SIZE * column : SIZE * (column + 1)]


def scene(draw: random.Random) -> Scene:
    """A picture of two or three things, each in a patch of its own, on a white ground."""
    places = sorted(draw.sample(range(GRID * GRID), draw.choice([2, 3])))
    image, caption, where = torch.full((3, GRID * SIZE, GRID * SIZE), 255), [], []
    for number, place in enumerate(places):
        colour, shape = draw.choice(list(COLOURS)), draw.choice(list(SHAPES))
        patch_of(image, place)[:, SHAPES[shape]] = torch.tensor(COLOURS[colour])[:, None]
        before = [] if number == 0 else ["and"] if number == len(places) - 1 else [","]
        caption += [*before, "a", colour, shape]
        where += [*[None] * (len(before) + 1), place, place]
    return Scene(image, [*caption, "."], [*where, None])


def scenes(num: int, *, seed: int) -> list[Scene]:
    """Pictures that are drawn by chance; the same seed gives the same pictures."""
    draw = random.Random(seed)
    return [scene(draw) for _ in range(num)]


def cut(images: Int[Tensor, "batch 3 height width"]) -> Int[Tensor, "batch patches numbers"]:
    """The patches of each picture, row by row, each as one row of numbers: red, then green, then blue."""
    return nn.functional.unfold(images.float(), SIZE, stride=SIZE).mT.long()


class Corpus(NamedTuple):
    """The pictures of the study, and the words of their captions."""

    train: list[Scene]
    valid: list[Scene]
    test: list[Scene]
    words: Vocabulary

    def batch(self, pictures: Sequence[Scene]) -> Batch:
        """A batch whose source sentences are the patches of pictures."""
        ids = self.words.encode([s.caption for s in pictures])
        lens = torch.full((len(pictures),), GRID * GRID)
        tgt = pad_ids([[BOS, *row, EOS] for row in ids])
        return Batch(cut(torch.stack([s.image for s in pictures])), lens, tgt)

    def batches(self, size: int) -> list[Batch]:
        """The pictures for training, in their order."""
        return [self.batch(self.train[i : i + size]) for i in range(0, len(self.train), size)]


def corpus(setup: PictureSettings) -> Corpus:
    """The pictures of these settings."""
    sizes = (setup.num_train, setup.num_test, setup.num_test)
    train, test, valid = (scenes(num, seed=seed) for seed, num in enumerate(sizes))
    return Corpus(train, valid, test, Vocabulary.words(s.caption for s in train))


class PictureEncoder(nn.Module):
    """The encoder of a Transformer that reads patches; returns a vector for each, and their mean as the state.

    Args:
        places: whether the sines and cosines of its place are added to each patch.
        alone: whether each patch asks itself alone.
    """

    def __init__(self, setup: PictureSettings, *, places: bool = True, alone: bool = False):
        super().__init__()
        self.patch = nn.Linear(3 * SIZE * SIZE, setup.width)
        self.layer = EncoderLayer(setup.width, setup.num_heads, 4 * setup.width)
        self.norm = nn.LayerNorm(setup.width)
        self.places = sinusoids(GRID * GRID, setup.width) if places else torch.zeros(())
        self.mask = torch.eye(GRID * GRID, dtype=torch.bool) if alone else None

    def forward(
        self, src: Int[Tensor, "batch patches numbers"], src_lens: object
    ) -> tuple[Float[Tensor, "batch patches d"], Float[Tensor, "1 batch 1 d"]]:
        x = self.patch(1 - src / 255) + self.places  # white is 0
        h = self.norm(self.layer(x, self.mask)[0])
        return h, h.mean(dim=1)[None, :, None]


def network(kind: str, num_words: int, setup: PictureSettings, *, seed: int) -> EncoderDecoder:
    """A network of one of the ``KINDS``, before training."""
    d = setup.width
    with seeded(seed):
        encoder = PictureEncoder(setup, places=kind != "no places", alone=kind == "patches alone")
        if kind == "recurrent":
            return EncoderDecoder(encoder, BahdanauDecoder(num_words, d, d, d, d_enc_state=d))
        decoder = TransformerDecoder(num_words, d, num_heads=setup.num_heads, num_layers=1)
        return EncoderDecoder(encoder, decoder)


def train(
    kind: str,
    pictures: Corpus,
    setup: PictureSettings,
    *,
    lr: float,
    seed: int,
    on_step: Callable[[EncoderDecoder, History], object] | None = None,
) -> EncoderDecoder:
    """A trained network; ``on_step`` gets it and the history after each step."""
    model = network(kind, len(pictures.words), setup, seed=seed)
    after = None if on_step is None else partial(on_step, model)
    batches = pictures.batches(setup.batch_size)
    fit(model, batches, epochs=setup.passes, lr=lr, label_smoothing=0.0, on_step=after)
    return model


def captions(model: EncoderDecoder, batch: Batch, words: Vocabulary) -> list[list[str]]:
    """What the network writes below the pictures of a batch."""
    found = greedy(model, batch.src, batch.src_lens, max_len=15)
    return [words.tokens(hypothesis.tokens) for hypothesis in found]


@torch.no_grad()
def step_by_step(
    model: EncoderDecoder, batch: Batch, mask: Bool[Tensor, "batch t patches"] | None = None
) -> tuple[Float[Tensor, "batch t vocab"], Float[Tensor, "batch t patches"]]:
    """The logits and the weights while the network reads the right captions, with patches masked in single steps."""
    memory, state = model.start(batch.src, batch.src_lens)
    rows = []
    for i in range(batch.tgt_in.shape[1]):
        word = batch.tgt_in[:, i : i + 1]
        logits, after, weights = model.decoder(word, memory, state)
        if mask is not None:  # what is masked is missing from this step alone, not from the next state
            logits, _, weights = model.decoder(word, memory._replace(mask=mask[:, i : i + 1]), state)
        state = after
        rows.append((logits, weights))
    logits, weights = (torch.cat(each, dim=1) for each in zip(*rows, strict=True))
    return logits, weights


def describing(pictures: Sequence[Scene]) -> list[tuple[int, int, int]]:
    """Each colour and shape of the captions: picture, word, and the patch that it describes."""
    return [(row, i, p) for row, s in enumerate(pictures) for i, p in enumerate(s.where) if p is not None]


#: Which patches are masked in the step that writes a colour or a shape, by the names in the results.
HIDDEN: dict[str, Callable[[Scene, int, random.Random], list[int]]] = {
    "nothing": lambda s, place, draw: [],
    "its own": lambda s, place, draw: [place],
    "of another thing": lambda s, place, draw: [draw.choice([p for p in s.places if p != place])],
    "an empty one": lambda s, place, draw: [draw.choice([p for p in range(16) if p not in s.places])],
}


def right_without(model: EncoderDecoder, batch: Batch, pictures: Sequence[Scene], hidden: str) -> float:
    """The share of colours and shapes that are right, each with the patches of ``HIDDEN`` masked in its step."""
    draw, words = random.Random(0), describing(pictures)
    mask = torch.ones(*batch.tgt_in.shape, GRID * GRID, dtype=torch.bool)
    for row, i, place in words:
        mask[row, i, HIDDEN[hidden](pictures[row], place, draw)] = False
    rows, steps, _ = torch.tensor(words).unbind(dim=1)
    right = step_by_step(model, batch, mask)[0].argmax(dim=-1) == batch.tgt_out
    return right[rows, steps].float().mean().item()


def looks(model: EncoderDecoder, batch: Batch, pictures: Sequence[Scene]) -> tuple[float, float]:
    """Of colours and shapes: the mean weight of the right patch, and how often it is the largest."""
    weights = step_by_step(model, batch)[1]
    rows, steps, places = torch.tensor(describing(pictures)).unbind(dim=1)
    largest = weights[rows, steps].argmax(dim=-1) == places
    return weights[rows, steps, places].mean().item(), largest.float().mean().item()


def shares_right(written: Sequence[list[str]], pictures: Sequence[Scene]) -> dict[str, float]:
    """The share of captions with the right words in the right order, and in any order, by the number of things."""
    shares = {}
    for num in (2, 3):
        pairs = [(text, s.caption) for text, s in zip(written, pictures, strict=True) if len(s.places) == num]
        shares[f"{num} things"] = sum(a == b for a, b in pairs) / len(pairs)
        shares[f"{num} things, any order"] = sum(sorted(a) == sorted(b) for a, b in pairs) / len(pairs)
    return shares


def num_right(model: EncoderDecoder, pictures: Sequence[Scene], all_pictures: Corpus) -> int:
    """The number of captions that are right, word for word."""
    written = captions(model, all_pictures.batch(pictures), all_pictures.words)
    return sum(text == s.caption for text, s in zip(written, pictures, strict=True))


def measure(kind: str, setup: PictureSettings) -> dict:
    """Choose a learning rate on the pictures of validation, then train with every seed and test."""
    pictures = corpus(setup)
    batch, trials, first = pictures.batch(pictures.test), [], {}
    for lr in setup.lrs:
        first[lr] = train(kind, pictures, setup, lr=lr, seed=setup.seeds[0])
        trials.append({"lr": lr, "right": num_right(first[lr], pictures.valid, pictures)})
    lr = max(trials, key=lambda trial: trial["right"])["lr"]
    runs = []
    for seed in setup.seeds:
        model = first[lr] if seed == setup.seeds[0] else train(kind, pictures, setup, lr=lr, seed=seed)
        written = captions(model, batch, pictures.words)
        weight, largest = looks(model, batch, pictures.test)
        shares = {"weight": weight, "largest": largest} | shares_right(written, pictures.test)
        shares |= {f"masked: {name}": right_without(model, batch, pictures.test, name) for name in HIDDEN}
        right = sum(text == s.caption for text, s in zip(written, pictures.test, strict=True))
        runs.append(
            {"seed": seed, "right": right} | {name: round(share, 3) for name, share in shares.items()}
        )
    return {"lr": lr, "validation": trials, "runs": runs}


class Classifier(nn.Module):
    """A vision transformer of one layer: the mean of its vectors gives the logits of the classes."""

    def __init__(self, classes: int, setup: PictureSettings, *, alone: bool):
        super().__init__()
        self.encoder = PictureEncoder(setup, alone=alone)
        self.head = nn.Linear(setup.width, classes)

    def forward(self, src: Int[Tensor, "batch patches numbers"]) -> Float[Tensor, "batch classes"]:
        return self.head(self.encoder(src, None)[1][0, :, 0])


def first_colour(model: Classifier, batch: Batch, *, label_smoothing: float = 0.0) -> Float[Tensor, ""]:
    """The loss of naming the colour that the caption names first, its second word."""
    return nn.functional.cross_entropy(model(batch.src), batch.tgt[:, 2], label_smoothing=label_smoothing)


def measure_classes(setup: PictureSettings) -> dict:
    """Train classifiers whose patches ask all patches, or themselves alone, at each learning rate, and test."""
    pictures = corpus(setup)
    batch, batches, runs = pictures.batch(pictures.test), pictures.batches(setup.batch_size), []
    for alone in (False, True):
        for passes in setup.class_passes:
            for lr in setup.class_lrs:
                with seeded(setup.seeds[0]):
                    model = Classifier(len(pictures.words), setup, alone=alone)
                fit(model, batches, epochs=passes, lr=lr, loss=first_colour, label_smoothing=0.0)
                with torch.no_grad():
                    right = (model(batch.src).argmax(dim=-1) == batch.tgt[:, 2]).sum().item()
                runs.append({"alone": alone, "passes": passes, "lr": lr, "right": right})
    return {"runs": runs}


def measure_maps(setup: PictureSettings) -> dict:
    """Where the first network looks in one of the pictures to test: before its training, in it, and at its end."""
    lr = json.loads(RESULTS.read_text("utf-8"))["parts"][KINDS[0]]["lr"]  # that part is measured first
    pictures = corpus(setup)
    shown, kept = pictures.test[SHOWN], []
    batch = pictures.batch([shown])

    def keep(model: EncoderDecoder) -> None:
        weights = step_by_step(model.eval(), batch)[1][0, : len(shown.caption)]
        kept.append([[round(weight, 3) for weight in row] for row in weights.tolist()])

    def after(model: EncoderDecoder, history: History) -> None:
        if len(history.losses) in setup.map_steps:
            keep(model)
            model.train()

    keep(network(KINDS[0], len(pictures.words), setup, seed=setup.seeds[0]))
    train(KINDS[0], pictures, setup, lr=lr, seed=setup.seeds[0], on_step=after)
    return {"caption": shown.caption, "weights": kept}


def main() -> None:
    """Measure the networks and store what they write and where they look."""
    torch.set_num_threads(1)  # as for the results in the book
    setup = PictureSettings()
    measures = {kind: partial(measure, kind, setup) for kind in KINDS}
    measures |= {CLASSES: partial(measure_classes, setup), MAPS: partial(measure_maps, setup)}
    run_parts(measures, RESULTS, belongs_to={"torch": torch.__version__, **setup._asdict()})


if __name__ == "__main__":
    main()
