"""The window study: what a small GPT loses if each word looks at a few words only, in texts longer than its training.

Run as ``PYTHONPATH=chapters python -m studies.window_study``, for about four minutes on one core;
chapters/long_sequences reads the results, which are stored beside this file. The model comes from ``utils``.
"""

import math
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from studies.bert_study import LanguageModel
from studies.parts import run_parts
from utils.corpus.grammar import triples
from utils.corpus.vocabulary import BOS, Vocabulary
from utils.long_sequences import window_mask
from utils.training import seeded
from utils.transformer import causal_mask

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")


class WindowSettings(NamedTuple):
    """The settings of the study; the defaults are those of the stored results.

    Attributes:
        short: words of a training text.
        long: words of a test text.
        keys: how many words each word looks at, where they are few.
        edges: the places at which a group of words begins, counted from 0, and the end of the last group.
        steps: of training.
        batch_size: texts in a step.
        lr: the highest learning rate, which was not varied.
        seeds: of the weights and of the training texts.
        num_train: sentences of the grammar to train on.
        num_test: sentences of the grammar to test on.
        shown: words of the text whose weights are stored.
    """

    short: int = 32
    long: int = 1024
    keys: int = 20
    edges: tuple[int, ...] = (0, 32, 64, 128, 256, 512, 1024)
    steps: int = 900
    batch_size: int = 32
    lr: float = 5e-3
    seeds: tuple[int, ...] = (0, 1, 2)
    num_train: int = 10_000
    num_test: int = 2500
    shown: int = 16


class SmallGPT(LanguageModel):
    """The network of chapters/gpt without positions, whose heads may choose their keys."""

    def forward(
        self,
        ids: Int[Tensor, "batch n"],
        mask: Bool[Tensor, "n n"],
        *,
        chosen: int | None = None,
        draw: torch.Generator | None = None,
    ) -> tuple[Float[Tensor, "batch n vocab"], list[Float[Tensor, "batch heads n n"]]]:
        """The logits, and the weights of each layer if they were needed.

        Args:
            chosen: each head looks only at this many of the allowed keys, those of its largest weights.
            draw: from which the chosen keys are drawn instead, each allowed key being as likely.
        """
        x, weights = self.table(ids) * math.sqrt(self.table.embedding_dim), []
        for layer in self.layers:
            if chosen is not None:
                _, seen = layer(x, mask, need_weights=True)
                if draw is not None:
                    seen = torch.rand(seen.shape, generator=draw) * mask
                x, _ = layer(x, largest(seen, chosen) & mask)
                continue
            x, seen = layer(x, mask, need_weights=ids.shape[1] <= 64)
            weights.append(seen)
        return self.norm(x) @ self.table.weight.T, weights


def largest(weights: Float[Tensor, "*batch keys"], num: int) -> Bool[Tensor, "*batch keys"]:
    """True for the keys of the largest weights, as many as that.

    >>> largest(torch.tensor([[0.1, 0.4, 0.2, 0.3]]), 2)
    tensor([[False,  True, False,  True]])
    """
    top = weights.topk(min(num, weights.shape[-1]), dim=-1).indices
    return torch.zeros_like(weights, dtype=torch.bool).scatter(-1, top, True)


def shifted(texts: Int[Tensor, "batch n"]) -> Int[Tensor, "batch n"]:
    """What the model reads when it is asked for each word of the texts: ``<bos>``, and each word one place later."""
    return torch.cat([torch.full((len(texts), 1), BOS), texts[:, :-1]], dim=1)


def corpus(setup: WindowSettings) -> tuple[Vocabulary, Int[Tensor, " words"], Int[Tensor, "texts long"]]:
    """The vocabulary, the training sentences as one long text, and the test texts."""
    train = [t.en for t in triples(setup.num_train, split="train", min_words=3, max_words=14)]
    test = [t.en for t in triples(setup.num_test, split="test", max_words=14)]
    words = Vocabulary.words(train)
    stream, tested = (
        torch.tensor([number for ids in words.encode(sentences) for number in ids])
        for sentences in (train, test)
    )
    return words, stream, tested[: len(tested) // setup.long * setup.long].view(-1, setup.long)


def train(setup: WindowSettings, num_words: int, stream: Int[Tensor, " words"], seed: int) -> SmallGPT:
    """A model that has learned to guess the next word of short texts."""
    with seeded(seed):
        model, mask = SmallGPT(num_words), causal_mask(setup.short)
        optimizer = torch.optim.Adam(model.parameters())
        for step in range(setup.steps):
            share = step / setup.steps
            optimizer.param_groups[0]["lr"] = setup.lr * min(20 * share, 1) * (1 - share)
            starts = torch.randint(len(stream) - setup.short, (setup.batch_size, 1))
            texts = stream[starts + torch.arange(setup.short)]
            logits, _ = model(shifted(texts), mask)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), texts.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    return model.eval()


@torch.no_grad()
def losses(
    model: SmallGPT, texts: Int[Tensor, "texts n"], mask: Tensor, **options
) -> Float[Tensor, "texts n"]:
    """How surprising each word is, -log p."""
    found = []
    for some in texts.split(4):
        log_p = model(shifted(some), mask, **options)[0].log_softmax(dim=-1)
        found.append(-log_p.gather(-1, some[..., None])[..., 0])
    return torch.cat(found)


def ways(setup: WindowSettings) -> dict[str, Bool[Tensor, "long long"]]:
    """The masks that are compared, by name."""
    n, few = setup.long, setup.keys
    window = window_mask(n, window=few - 1)
    return {
        "all": causal_mask(n),
        "window": window_mask(n, window=few),
        "first": window_mask(n, window=few - 1, sinks=1),
        "tenth": window | (causal_mask(n) & (torch.arange(n) == 9)),
    }


def measure(setup: WindowSettings, seed: int) -> dict:
    """Train a model with a seed, and test it in each way: the mean loss of each group of places."""
    words, stream, texts = corpus(setup)
    model = train(setup, len(words), stream, seed)
    found = {name: losses(model, texts, mask) for name, mask in ways(setup).items()}
    whole, draw = causal_mask(setup.long), torch.Generator().manual_seed(seed)
    found["chosen"] = losses(model, texts, whole, chosen=setup.keys)
    found["random"] = losses(model, texts, whole, chosen=setup.keys, draw=draw)
    anew = losses(model, texts.reshape(-1, setup.short), causal_mask(setup.short))
    found["anew"] = anew.reshape(texts.shape)
    with torch.no_grad():
        short = shifted(texts[:, : setup.short])
        _, weights = model(short, causal_mask(setup.short))
    late = slice(setup.short // 2, None)
    heads = [w[0, :, : setup.shown, : setup.shown] for w in weights]
    return {
        "losses": {
            name: [round(loss[:, a:b].mean().item(), 4) for a, b in pairwise(setup.edges)]
            for name, loss in found.items()
        },
        "on the first": [
            [round(x, 3) for x in w[:, :, late, 0].mean(dim=(0, 2)).tolist()] for w in weights
        ],
        "text": words.tokens(short[0, : setup.shown].tolist()),
        "weights": [[[" ".join(str(round(1000 * x)) for x in row) for row in head] for head in layer.tolist()]
                    for layer in heads],
    }  # fmt: skip


def main() -> None:
    """Train a model with each seed, and store what it loses."""
    torch.set_num_threads(1)  # as for the results in the book
    setup = WindowSettings()
    belongs_to = {"torch": torch.__version__, **setup._asdict()}
    run_parts(
        {f"seed {seed}": partial(measure, setup, seed) for seed in setup.seeds},
        RESULTS,
        belongs_to=belongs_to,
    )


if __name__ == "__main__":
    main()
