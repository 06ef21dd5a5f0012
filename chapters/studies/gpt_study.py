"""The study of what a trained GPT writes: texts that are drawn piece by piece, and prompts with examples.

Run as ``PYTHONPATH=chapters python -m studies.gpt_study``. It needs SmolLM2-135M-Instruct (``attention-course data get
smollm2``) and a few minutes on one core. The results are stored beside this file, and chapters/gpt reads them.
"""

import random
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer
from jaxtyping import Int
from tokenizers import Tokenizer
from torch import Tensor

from studies.chat_model import FILE
from studies.parts import run_parts
from utils.chat_model import ChatModel, read_chat_model
from utils.corpus.batches import pad_ids
from utils.corpus.download import NETWORKS, get_network
from utils.search import next_word_probabilities

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")

#: Each word with its opposite.
OPPOSITES = (
    "hot cold, big small, old young, long short, up down, left right, day night, light dark, rich poor, open closed, "
    "early late, high low, hard soft, wet dry, fast slow, good bad, full empty, strong weak, happy sad, clean dirty, "
    "front back, first last, inside outside, true false, love hate, buy sell, win lose, begin end, give take, "
    "push pull, laugh cry, friend enemy, war peace, summer winter, north south, king queen, black white, "
    "thick thin, wide narrow, alive dead"
)
#: Each irregular verb with its past.
PASTS = (
    "go went, take took, eat ate, see saw, give gave, write wrote, run ran, come came, find found, think thought, "
    "buy bought, bring brought, catch caught, teach taught, sing sang, drink drank, swim swam, begin began, "
    "break broke, speak spoke, steal stole, choose chose, drive drove, ride rode, rise rose, fall fell, hold held, "
    "know knew, grow grew, throw threw, fly flew, draw drew, sleep slept, keep kept, leave left, feel felt, meet met, "
    "sell sold, tell told, stand stood"
)


class GPTSettings(NamedTuple):
    """What is read and written; the defaults are those of the stored results."""

    prompt: str = "The old lighthouse keeper opened the door, and"
    shown: int = 4  #: pieces of each step in the figure: the one that is drawn, and the most probable others
    steps: int = 8
    draws: tuple[int, ...] = (1, 2, 3)  #: seeds of the ways in the figure
    story: str = "Once upon a time there was a little robot who lived in a library."
    pieces: int = 60  #: of each story
    settings: tuple[tuple[float, float], ...] = ((0.01, 1.0), (0.8, 0.9), (1.0, 1.0), (2.0, 1.0))
    story_seeds: tuple[int, ...] = (0, 1, 2)
    pool: int = 10  #: the first pairs of a list are examples, and the others are asked
    examples: tuple[int, ...] = (0, 1, 2, 4, 8)
    example_draws: int = 3


def pairs_of(text: str) -> list[tuple[str, str]]:
    """The different pairs of a list, as ``hot cold, big small``.

    >>> pairs_of("hot cold, big small, hot cold")
    [('hot', 'cold'), ('big', 'small')]
    """
    return list(dict.fromkeys(tuple(pair.split()) for pair in text.split(", ")))


def prompt_of(examples: Sequence[tuple[str, str]], word: str) -> str:
    """Lines of examples, and a last line to complete.

    >>> print(prompt_of([("hot", "cold")], "big"))
    hot -> cold
    big ->
    """
    return "".join(f"{left} -> {right}\n" for left, right in examples) + f"{word} ->"


def exchanged(examples: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same examples, each with the answer of the next one.

    >>> exchanged([("hot", "cold"), ("big", "small"), ("up", "down")])
    [('hot', 'small'), ('big', 'down'), ('up', 'cold')]
    """
    answers = [right for _, right in examples]
    return [(left, right) for (left, _), right in zip(examples, answers[1:] + answers[:1], strict=True)]


@torch.no_grad()
def drawn(
    model: ChatModel,
    ids: Int[Tensor, "1 n"],
    num_pieces: int,
    *,
    temperature: float,
    top_p: float = 1.0,
    seed: int = 0,
    most: int = 1,
) -> tuple[list[int], list[list[tuple[int, float]]]]:
    """The pieces that are drawn, and for each of them itself and the most probable others, with their probabilities.

    The probabilities are those of the model, before temperature and ``top_p``; the end of a text is never drawn.
    """
    draw, pieces, steps, past = torch.Generator().manual_seed(seed), [], [], None
    unread = ids
    for _ in range(num_pieces):
        logits, past = model(unread, past)
        logits = logits[0, -1]
        logits[:3] = -torch.inf  # the marks of a chat
        probs = next_word_probabilities(logits, temperature=temperature, top_p=top_p)
        piece = int(torch.multinomial(probs, 1, generator=draw))
        p = logits.softmax(dim=-1)
        others = [other for other in p.topk(most).indices.tolist() if other != piece][: most - 1]
        steps.append([(each, round(p[each].item(), 4)) for each in (piece, *others)])
        pieces.append(piece)
        unread = torch.tensor([[piece]])
    return pieces, steps


def measure_ways(model: ChatModel, tokenizer: Tokenizer, settings: GPTSettings) -> dict:
    """For each way, what stands after each step: the text so far with the piece that is drawn, and with others."""
    ids = torch.tensor([tokenizer.encode(settings.prompt).ids])
    ways = {}
    for name, temperature, seed in [
        ("most probable", 1e-6, 0),
        *((f"draw {seed}", 1.0, seed) for seed in settings.draws),
    ]:
        _, steps = drawn(model, ids, settings.steps, temperature=temperature, seed=seed, most=settings.shown)
        written: list[str] = []
        ways[name] = []
        for step in steps:
            found = [([*written, tokenizer.decode([piece])], p) for piece, p in step]
            ways[name].append(found)
            written = found[0][0]
    return {"prompt": settings.prompt, "ways": ways}


def measure_stories(model: ChatModel, tokenizer: Tokenizer, settings: GPTSettings) -> dict:
    """The texts that follow the beginning of a story, by temperature, top-p and seed."""
    ids = torch.tensor([tokenizer.encode(settings.story).ids])
    texts = {}
    for temperature, top_p in settings.settings:
        for seed in settings.story_seeds:
            pieces, _ = drawn(model, ids, settings.pieces, temperature=temperature, top_p=top_p, seed=seed)
            texts[f"{temperature:g} {top_p:g} {seed}"] = tokenizer.decode(pieces)
    return {"prompt": settings.story, "texts": texts}


@torch.no_grad()
def answered(
    model: ChatModel,
    tokenizer: Tokenizer,
    examples: Sequence[tuple[str, str]],
    pairs: Sequence[tuple[str, str]],
) -> list[bool]:
    """For each pair, whether the most probable pieces after the examples and its word are exactly its answer."""
    past = None
    if examples:
        _, past = model(torch.tensor([tokenizer.encode(prompt_of(examples, "").removesuffix(" ->")).ids]))
        past = [tuple(part.expand(len(pairs), -1, -1, -1) for part in layer) for layer in past]
    asked = [tokenizer.encode(prompt_of([], left)).ids for left, _ in pairs]
    wanted = [tokenizer.encode(f" {right}").ids for _, right in pairs]
    rows = [[*ask, *want] for ask, want in zip(asked, wanted, strict=True)]
    best = (
        model(pad_ids(rows), past)[0].argmax(dim=-1).tolist()
    )  # what stands after a row changes nothing in it
    return [
        row[len(ask) - 1 : len(ask) + len(want) - 1] == want
        for row, ask, want in zip(best, asked, wanted, strict=True)
    ]


def measure_examples(
    model: ChatModel, tokenizer: Tokenizer, settings: GPTSettings, pairs: Sequence[tuple[str, str]]
) -> dict:
    """How many words are answered rightly in each draw of examples, which are right or have exchanged answers."""
    shown, asked = pairs[: settings.pool], pairs[settings.pool :]
    right: dict[str, dict[str, list[int]]] = {"right": {}, "exchanged": {}}
    for num in settings.examples:
        for seed in range(settings.example_draws if num else 1):
            examples = random.Random(seed).sample(shown, num)
            kinds = {"right": examples} | ({"exchanged": exchanged(examples)} if num > 1 else {})
            for kind, each in kinds.items():
                right[kind].setdefault(str(num), []).append(sum(answered(model, tokenizer, each, asked)))
    return {"words": len(asked), "right": right}


def run_study(settings: GPTSettings, out: Path) -> None:
    """Measure what is not stored yet, and store it."""

    @cache
    def network() -> tuple[ChatModel, Tokenizer]:
        """Read when the first part is measured, and not to see that all are there."""
        model, tokenizer, _ = read_chat_model(get_network("smollm2") / FILE)
        return model, tokenizer

    def part(measure: Callable[..., dict], *arguments: object) -> Callable[[], dict]:
        return lambda: measure(*network(), settings, *arguments)

    parts = {
        "ways": part(measure_ways),
        "stories": part(measure_stories),
        "opposites": part(measure_examples, pairs_of(OPPOSITES)),
        "pasts": part(measure_examples, pairs_of(PASTS)),
    }
    belongs_to = {
        "file": {FILE: NETWORKS["smollm2"].files[FILE]},
        "versions": {"torch": version("torch")},
        "settings": settings._asdict(),
    }
    run_parts(parts, out, belongs_to=belongs_to)


def _main(
    out: Annotated[Path, typer.Option(help="results; what it holds is not measured again")] = RESULTS,
) -> None:
    """Write texts with the network, and ask it with examples; store what it answers."""
    torch.set_num_threads(1)  # as for the results in the book
    run_study(GPTSettings(), out)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
