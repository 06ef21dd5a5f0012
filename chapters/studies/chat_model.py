"""The study of the heads of SmolLM2-135M-Instruct: what they look at, fewer keys, and each of its 270 heads off.

Run as ``PYTHONPATH=chapters python -m studies.chat_model``. It needs the network (``attention-course data get
smollm2``) and about 26 minutes on one core. The results are stored beside this file. The texts are in
``chat_texts.txt``, one a line: pages of this course, written later than the network was trained.
"""

import json
import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
import typer
from jaxtyping import Bool, Float, Int
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import cross_entropy

from studies.parts import run_parts
from utils.chat_model import ChatModel, ChatTemplate, read_chat_model
from utils.corpus.download import NETWORKS, get_network
from utils.fast_decoding import generate
from utils.long_sequences import window_mask
from utils.transformer import causal_mask, head_name

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
TEXTS = Path(__file__).with_name("chat_texts.txt")
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
Heads = Sequence[tuple[int, int]]  #: layers and heads, counted from 0
HEADS = [(layer, head) for layer in range(30) for head in range(9)]
#: Countries with their capitals, as "France Paris"; a country is one piece.
CAPITALS = (
    "France Paris;Italy Rome;Spain Madrid;Germany Berlin;Japan Tokyo;China Beijing;Russia Moscow;Egypt Cairo;"
    "Greece Athens;Portugal Lisbon;Norway Oslo;Sweden Stockholm;Finland Helsinki;Denmark Copenhagen;Poland Warsaw;"
    "Austria Vienna;Hungary Budapest;Ireland Dublin;Turkey Ankara;Iran Tehran;Iraq Baghdad;Kenya Nairobi;Cuba Havana;"
    "Peru Lima;Chile Santiago;Argentina Buenos Aires;Brazil Brasília;Canada Ottawa;Australia Canberra;"
    "India New Delhi;Thailand Bangkok;Vietnam Hanoi;Indonesia Jakarta;Pakistan Islamabad;Nepal Kathmandu;"
    "Ukraine Kyiv;Romania Bucharest;Bulgaria Sofia;Belgium Brussels;Switzerland Bern;Mexico Mexico City;"
    "Colombia Bogotá;Venezuela Caracas;Morocco Rabat;Ethiopia Addis Ababa;Ghana Accra;Nigeria Abuja;"
    "Israel Jerusalem;Lebanon Beirut;Syria Damascus;Scotland Edinburgh;Wales Cardiff;Iceland Reykjavik;"
    "Croatia Zagreb;Serbia Belgrade;Cambodia Phnom Penh;Mongolia Ulaanbaatar;Afghanistan Kabul;Jordan Amman;"
    "Libya Tripoli;Algeria Algiers;Tunisia Tunis;Uganda Kampala;Zimbabwe Harare;Philippines Manila"
)
#: Words with their opposites, each of one piece.
OPPOSITES = (
    "hot cold;big small;high low;good bad;fast slow;old new;light dark;rich poor;young old;long short;hard soft;"
    "left right;strong weak;sad happy;wet dry;open closed;true false;wide narrow;black white;up down;war peace;"
    "north south;east west;early late;full empty;near far;clean dirty;day night;love hate;success failure"
)
#: Countries that are not.
INVENTED = (
    "Flambovia Zorbistan Quendaria Meltonia Brivania Tarkovia "
    "Osmeria Velundia Grunland Palovia Drenmark Yorvania"
)
#: What a chat is told once, and asked for later; each is one piece.
NAMES = "Ben David Emma Frank Henry Jack Kate Maria Oscar Paul Ruth Sam Tom Anna Peter Lucy"
#: Written behind a word that comes for the second time, the third time, and so on.
AGAIN = "₂₃₄₅₆₇₈₉"
#: Pieces below this number stand for marks and single bytes, and are not drawn.
FIRST_PIECE = 300


class ChatSettings(NamedTuple):
    """How much is read."""

    texts: int = 8  #: read with windows; half of them with each head off, half with chosen heads off
    pieces: int = 512  #: of a text that is read with windows
    skipped: int = 128  #: pieces at its beginning that do not count
    windows: tuple[int, ...] = (16, 64)
    kept: tuple[int, ...] = (0, 1, 2, 5, 20)  #: the piece that stays beside the window
    block: int = 50  #: random pieces that come twice
    sequences: int = 3  #: of them, with each head off
    fresh: int = 10  #: of them, with chosen heads off
    ordinary: int = 128  #: pieces of a text that is read with heads off
    chosen: int = 6
    sets: int = 20  #: random sets of four heads
    few: tuple[int, ...] = (16, 32, 64)  #: keys that are chosen, or drawn
    question: str = "What is the capital of France?"  #: of the chat whose weights are stored


def repeated(num: int, block: int, *, seed: int) -> Int[Tensor, "num twice"]:
    """Random pieces that come twice in each row."""
    draw = torch.Generator().manual_seed(seed)
    once = torch.randint(FIRST_PIECE, 49_152, (num, block), generator=draw)
    return torch.cat([once, once], dim=1)


def pairs_of(text: str) -> list[tuple[str, str]]:
    """The first word of each pair, and what follows it.

    >>> pairs_of("Peru Lima;India New Delhi")
    [('Peru', 'Lima'), ('India', 'New Delhi')]
    """
    return [tuple(pair.split(" ", 1)) for pair in text.split(";")]


def asked(
    tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]], *, about: str
) -> tuple[Int[Tensor, "pairs n"], Int[Tensor, " pairs"]]:
    """Texts such as "The capital of Peru is", all of the same number of pieces, and the first piece of each answer."""
    texts = [tokenizer.encode(f"The {about} of {one} is").ids for one, _ in pairs]
    answers = [tokenizer.encode(f" {other}").ids[0] for _, other in pairs]
    return torch.tensor(texts), torch.tensor(answers)


def window_with(n: int, window: int, kept: int) -> Bool[Tensor, "n n"]:
    """Each piece sees the last ``window`` pieces and the one at the place ``kept``."""
    mask = window_mask(n, window=window)
    mask[:, kept] = True
    return mask & causal_mask(n)


def turns(*messages: str) -> list[dict[str, str]]:
    """Messages of a user and of the network, in turn, as a template takes them.

    >>> turns("Hi", "Hello!", "Who are you?")[1]
    {'role': 'assistant', 'content': 'Hello!'}
    """
    roles = ("user", "assistant") * len(messages)
    return [{"role": role, "content": text} for role, text in zip(roles, messages, strict=False)]


class Looks(NamedTuple):
    """What the heads look at while a network answers."""

    writes: list[str]  #: the pieces of the answer
    seen: list[str]  #: the first mark, each piece of the user's messages and what is between them, the answer
    weights: Float[Tensor, "layers heads writes seen"]  #: of the place before each piece that is written

    def on_first(self) -> Float[Tensor, "layers heads"]:
        """The mean weight on the first mark."""
        return self.weights[..., 0].mean(dim=-1)

    def on_same(self) -> Float[Tensor, "layers heads"]:
        """The mean weight on pieces that are the one that is written next, where there are any."""
        own, found = len(self.seen) - len(self.writes) + 1, []
        for row, piece in enumerate(self.writes):
            same = [
                at
                for at, word in enumerate(self.seen[: own + row])
                if word.rstrip(AGAIN) == piece.rstrip(AGAIN)
            ]
            if same:
                found.append(self.weights[..., row, same].sum(dim=-1))
        return torch.stack(found).mean(dim=0) if found else torch.zeros(self.weights.shape[:2])


def told_apart(words: Sequence[str]) -> list[str]:
    """The words; one that comes again gets a number.

    >>> told_apart("a rose is a rose is a".split())
    ['a', 'rose', 'is', 'a₂', 'rose₂', 'is₂', 'a₃']
    """
    times = [list(words[:at]).count(word) for at, word in enumerate(words)]
    return [
        word + (AGAIN[min(before, len(AGAIN)) - 1] if before else "")
        for word, before in zip(words, times, strict=True)
    ]


def looks(model: ChatModel, tokenizer: Tokenizer, prompt: Sequence[int], *, most: int = 8) -> Looks:
    """Let the network answer with at most ``most`` pieces, and see what its heads look at before each of them.

    The answer is written first and then read once, which gives the same weights, since no piece looks at a later one.
    """
    begin, end = (tokenizer.token_to_id(mark) for mark in ("<|im_start|>", "<|im_end|>"))
    start, ids = len(prompt), generate(model, torch.tensor([prompt]), most)[0].tolist()
    stop = ids.index(end, start) if end in ids[start:] else len(ids)
    pieces = [tokenizer.decode([piece]).strip() or "·" for piece in ids]
    parts, done = [("first", range(1))], 1
    for at in [place for place in range(start) if ids[place] == begin and pieces[place + 1] == "user"]:
        first, last = at + 3, ids.index(end, at)  # after the mark, the role and the end of the line
        parts.append(("system" if done == 1 else "answer", range(done, first)))
        parts += [(pieces[place], range(place, place + 1)) for place in range(first, last)]
        done = last
    parts.append(("marks", range(done, start)))
    parts += [(pieces[place], range(place, place + 1)) for place in range(start, stop - 1)]
    weights = torch.stack(model.read(torch.tensor(ids[:stop])).weights)[:, :, start - 1 : stop - 1]
    return Looks(
        writes=told_apart(pieces[start:stop]),
        seen=told_apart([name for name, _ in parts]),
        weights=torch.stack([weights[..., list(places)].sum(dim=-1) for _, places in parts], dim=-1),
    )


#: From a function that gives the weights of a layer's heads with all keys, the mask of that layer.
Choice = Callable[[Callable[[], Float[Tensor, "heads n n"]]], Bool[Tensor, "n n"]]


def of_largest(scores: Float[Tensor, "n n"], num: int) -> Bool[Tensor, "n n"]:
    """Each piece sees the ``num`` pieces of the largest scores in its row, at its own place or before it."""
    scores = scores.masked_fill(~causal_mask(len(scores)), -torch.inf)
    places = scores.topk(min(num, len(scores)), dim=-1).indices
    return torch.zeros_like(scores, dtype=torch.bool).scatter(-1, places, True) & causal_mask(len(scores))


def chosen(num: int) -> Choice:
    """The keys to which the heads of a layer, added up, give the largest weights: the same keys for all its heads."""
    return lambda weights: of_largest(weights().sum(dim=0), num)


def drawn(n: int, num: int, *, first: bool, seed: int) -> Choice:
    """Keys at random, drawn anew in each layer; with ``first``, two of them are the first and the piece itself."""
    draw = torch.Generator().manual_seed(seed)

    def choose(_: object) -> Bool[Tensor, "n n"]:
        scores = torch.rand(n, n, generator=draw)
        if first:
            scores[:, 0] = 2
            scores.fill_diagonal_(2)
        return of_largest(scores, num)

    return choose


class Reader:
    """What each layer of the whole network reads of some texts, so that a changed layer is computed from there on."""

    def __init__(self, model: ChatModel, ids: Int[Tensor, "texts n"], first: int = 0):
        self.model, self.ids, self.first = model, ids, first
        self.mask = causal_mask(ids.shape[1])
        self.read = [model.output.weight[ids]]
        for layer in model.layers:
            self.read.append(layer(self.read[-1], None, self.mask)[0])

    def logits(self, off: Heads = ()) -> Float[Tensor, "texts n vocab"]:
        """The logits of all pieces after ``first`` without these heads."""
        start = min((layer for layer, _ in off), default=len(self.model.layers))
        x = self.read[start]
        for number, layer in list(enumerate(self.model.layers))[start:]:
            x = layer(x, None, self.mask, without=[head for at, head in off if at == number])[0]
        return self.model.logits(x[:, self.first : -1])

    def right(self, off: Heads = ()) -> Float[Tensor, " texts"]:
        """The share of these pieces that are the most probable ones, in each text."""
        is_right = self.logits(off).argmax(dim=-1) == self.ids[:, self.first + 1 :]
        return is_right.float().mean(dim=1)

    def loss(self, off: Heads = ()) -> Float[Tensor, " texts"]:
        """The mean loss of these pieces, in each text."""
        return mean_loss(self.logits(off), self.ids[:, self.first + 1 :])


def mean_loss(
    logits: Float[Tensor, "texts n vocab"], right: Int[Tensor, "texts n"]
) -> Float[Tensor, " texts"]:
    """The mean of -log p of the right pieces, in each text."""
    return cross_entropy(logits.transpose(1, 2), right, reduction="none").mean(dim=1)


class ChatMeter:
    """Measures the network with other masks, and without some of its heads."""

    def __init__(
        self,
        model: ChatModel,
        tokenizer: Tokenizer,
        settings: ChatSettings,
        template: ChatTemplate | None = None,
    ):
        self.model, self.tokenizer, self.settings, self.template = model, tokenizer, settings, template
        lines = TEXTS.read_text("utf-8").splitlines()[: settings.texts]
        self.texts = torch.tensor([self.cut(line)[: settings.pieces] for line in lines])

    def cut(self, text: str) -> list[int]:
        """The pieces of a text."""
        return self.tokenizer.encode(text).ids

    def random_reader(self, num: int, *, seed: int) -> Reader:
        """Random pieces twice, of which the second block counts, but for its first piece: that is a surprise."""
        block = self.settings.block
        return Reader(self.model, repeated(num, block, seed=seed), first=block)

    def ordinary(self, texts: slice) -> Reader:
        """The beginnings of some texts, of which all pieces count but the first, before which nothing stands."""
        return Reader(self.model, self.texts[texts, : self.settings.ordinary])

    def window_loss(self, mask: Bool[Tensor, "n n"]) -> list[float]:
        """The loss after the first pieces, in each text."""
        return self.loss_with(lambda _: mask)

    def loss_with(self, choose: Choice) -> list[float]:
        """The loss after the first pieces, in each text, with the keys that each layer may look at."""
        first, losses = self.settings.skipped, []
        for ids in self.texts:
            x, mask = self.model.output.weight[ids], causal_mask(len(ids))
            for layer in self.model.layers:
                look = partial(layer, x, None, mask, need_weights=True)
                x = layer(x, None, choose(lambda look=look: look()[2]))[0]
            losses += mean_loss(self.model.logits(x[None, first:-1]), ids[None, first + 1 :]).tolist()
        return rounded(losses)

    def chat(self, *messages: str) -> list[int]:
        """The pieces of a chat, up to where the network goes on."""
        return self.cut(self.template.render(turns(*messages), add_generation_prompt=True))


def rounded(numbers: Iterable[float]) -> list[float]:
    """The numbers with four decimals."""
    return [round(float(number), 4) for number in numbers]


def measure_windows(meter: ChatMeter) -> dict:
    """The losses with all pieces, with the last ones alone, and with one more piece that stays."""
    n = meter.settings.pieces
    found = {"all": meter.window_loss(causal_mask(n))}
    for window in meter.settings.windows:
        found[f"{window}"] = meter.window_loss(window_mask(n, window=window))
        for kept in meter.settings.kept:
            found[f"{window} and {kept}"] = meter.window_loss(window_with(n, window, kept))
    return found


def measure_few_keys(meter: ChatMeter) -> dict:
    """The losses if each piece sees a few keys: those of the largest weights, or drawn ones."""
    n, sizes = meter.settings.pieces, meter.settings.few
    found = {f"chosen {num}": meter.loss_with(chosen(num)) for num in sizes}
    for num in sizes:
        found[f"drawn {num} with the first"] = meter.loss_with(drawn(n, num, first=True, seed=num))
    most = max(sizes)
    found[f"drawn {most}"] = meter.loss_with(drawn(n, most, first=False, seed=most))
    return found


def measure_each(meter: ChatMeter) -> dict:
    """Each head off alone: the share of right pieces that are copied, and the loss of the first half of the texts."""
    copying = meter.random_reader(meter.settings.sequences, seed=0)
    ordinary = meter.ordinary(slice(meter.settings.texts // 2))
    found = {}
    for name, off in {"nothing": [], **{head_name(*head): [head] for head in HEADS}}.items():
        found[name] = {
            "right": rounded([copying.right(off).mean()])[0],
            "loss": rounded([ordinary.loss(off).mean()])[0],
        }
    return found


def copying_scores(model: ChatModel, ids: Int[Tensor, "texts twice"]) -> Float[Tensor, "layers heads"]:
    """The mean weight of each head, in the second block, on the piece after the earlier one."""
    block = ids.shape[1] // 2
    second = torch.arange(block, 2 * block - 1)
    weights = torch.stack([of_layer.mean(dim=0) for of_layer in model.read(ids).weights])
    return weights[:, :, second, second - block + 1].mean(dim=-1)


def measure_chosen(meter: ChatMeter, out: Path) -> dict:
    """Chosen heads off, and random sets: the share of right pieces in fresh blocks, and the loss of the other texts.

    The chosen ones cost most when they are off alone, or look most at the piece to copy, with the first blocks.
    """
    settings = meter.settings
    each = {
        name: result["right"]
        for name, result in stored(out)["each head"].items()
        if name not in ("nothing", "minutes")
    }
    named = {head_name(*head): head for head in HEADS}
    costly = [named[name] for name in sorted(each, key=each.get)[: settings.chosen]]
    scores = copying_scores(meter.model, repeated(settings.sequences, settings.block, seed=0)).flatten()
    lookers = [HEADS[place] for place in scores.topk(4).indices]
    groups = {"nothing": []} | {head_name(*head): [head] for head in [*costly, *lookers]}
    for size in (2, 4):
        groups[" ".join(head_name(*head) for head in lookers[:size])] = lookers[:size]
    copying = meter.random_reader(settings.fresh, seed=1)
    ordinary = meter.ordinary(slice(settings.texts // 2, None))
    found = {
        name: {"right": rounded(copying.right(off)), "loss": rounded(ordinary.loss(off))}
        for name, off in groups.items()
    }
    draw, others = random.Random(0), [head for head in HEADS if head not in [*costly, *lookers]]
    at_random = {}
    for _ in range(settings.sets):
        off = sorted(draw.sample(others, 4))
        name = " ".join(head_name(*head) for head in off)
        at_random[name] = {"right": rounded(copying.right(off)), "loss": rounded(ordinary.loss(off))}
    return {"costly": [head_name(*head) for head in costly], "groups": found, "random": at_random}


def measure_names(meter: ChatMeter, out: Path) -> dict:
    """What a chat answers in its second turn to who has said a name in the first.

    Off are the head that costs most alone, the four that look at the piece to copy, and the random sets of four.
    """
    rows = []
    for name in NAMES.split():
        rows.append(meter.chat(f"My name is {name}.", "Hello! How can I help you?", "What is my name?"))
        rows[-1] += meter.cut(f"Your name is {name}")
    reader = Reader(meter.model, torch.tensor(rows), first=len(rows[0]) - 2)
    of_chosen, named = stored(out)["chosen"], {head_name(*head): head for head in HEADS}

    def answered(heads: str) -> dict:
        off = [] if heads == "nothing" else [named[head] for head in heads.split()]
        return {"right": int(reader.right(off).sum()), "loss": rounded(reader.loss(off))}

    groups = list(of_chosen["groups"])
    return {
        "groups": {heads: answered(heads) for heads in (groups[0], groups[1], groups[-1])},
        "random": {heads: answered(heads) for heads in of_chosen["random"]},
    }


def measure_shown(meter: ChatMeter) -> dict:
    """What all heads look at while the network answers a question, in per cent."""
    found = looks(meter.model, meter.tokenizer, meter.chat(meter.settings.question))
    shown = (100 * found.weights).round().int().tolist()
    rows = [[" ".join(str(number) for row in head for number in row) for head in layer] for layer in shown]
    return {"writes": found.writes, "seen": found.seen, "weights": rows}


def stored(out: Path) -> dict:
    """The parts that are measured."""
    return json.loads(out.read_text("utf-8"))["parts"]


def run_study(settings: ChatSettings, out: Path, *, only: Sequence[str] | None = None) -> None:
    """Measure the parts that are not stored yet, or these alone."""
    model, tokenizer, template = read_chat_model(get_network("smollm2") / FILE)
    meter = ChatMeter(model, tokenizer, settings, template)
    measures = {
        "shown": partial(measure_shown, meter),
        "windows": partial(measure_windows, meter),
        "few keys": partial(measure_few_keys, meter),
        "each head": partial(measure_each, meter),
        "chosen": partial(measure_chosen, meter, out),
        "names": partial(measure_names, meter, out),
    }
    files = dict(NETWORKS["smollm2"].files)
    with torch.no_grad():
        run_parts(measures, out, belongs_to={"sha256": files, "settings": settings._asdict()}, only=only)


def _main(
    out: Annotated[Path, typer.Option(help="results; what it holds is not measured again")] = RESULTS,
) -> None:
    """Read with fewer keys and without heads, and store what changes."""
    torch.set_num_threads(1)
    run_study(ChatSettings(), out)
    typer.echo(f"{out}: complete")


if __name__ == "__main__":
    typer.run(_main)
