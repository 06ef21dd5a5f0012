"""What chapters/gpt measures its network with: sentences whose verb stands far from its subject, and counts of words.

The network is on the page. No file is read, and no result is stored.
"""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from utils.corpus.batches import Batch
from utils.corpus.grammar.lexicon import NOUNS
from utils.corpus.vocabulary import BOS, EOS, PAD

THINGS = ("book", "letter", "flower", "apple", "hat", "key", "coat", "egg", "bag", "cake", "gift", "car")
PEOPLE = ("woman", "girl", "man", "teacher", "boy", "friend", "doctor", "student", "child", "neighbour")
NEW_THINGS = (
    *("table", "chair", "computer", "door", "window", "bicycle", "umbrella", "film", "newspaper"),
    "song",
)
PAIRS = [(thing, person) for thing in THINGS for person in PEOPLE]
#: One pair of nouns in five is kept for the test.
TEST_PAIRS = [pair for number, pair in enumerate(PAIRS) if (number // 10 + number) % 5 == 0]
TRAIN_PAIRS = [pair for pair in PAIRS if pair not in TEST_PAIRS]
#: Their subjects are in no sentence that was made of the other pairs.
NEW_PAIRS = [(thing, person) for thing in NEW_THINGS for person in PEOPLE]


class FarApart(NamedTuple):
    """A sentence as *the keys that the woman found are big .*"""

    words: list[str]
    verb: int  #: the place of the verb
    subject: int  #: the place of the noun with which it agrees
    plural: int  #: whether the subject is plural, 0 or 1
    other: int  #: whether the other noun is


def far_apart(pairs: Sequence[tuple[str, str]], num: int, seed: int) -> list[FarApart]:
    """Sentences in which a clause stands between the subject and its verb; nouns are drawn from ``pairs``."""
    draw, sentences = random.Random(seed), []
    for _ in range(num):
        (thing, person), plural, other = draw.choice(pairs), draw.randrange(2), draw.randrange(2)
        first = ["the", *draw.choice([[], [], ["small"], ["big"], ["new"]]), NOUNS[thing].en[plural]]
        clause = ["that", "the", NOUNS[person].en[other], draw.choice(["found", "saw", "bought", "sold"])]
        clause += draw.choice([[], ["yesterday"], ["this", "morning"]])
        verb = draw.choice([("is", "are"), ("was", "were")])[plural]
        end = [verb, draw.choice(["small", "new", "beautiful", "expensive"]), "."]
        sentences.append(FarApart(first + clause + end, len(first + clause), len(first) - 1, plural, other))
    return sentences


class Counts:
    """How often a word occurs, follows another one, or follows two others.

    Args:
        ids: the sentences that are counted.
        vocab_size: number of tokens.
    """

    def __init__(self, ids: Sequence[Sequence[int]], vocab_size: int):
        rows = [[BOS, BOS, *row, EOS] for row in ids]
        often = torch.tensor([word for row in rows for word in row[2:]]).bincount(minlength=vocab_size) + 0.03
        self.unigram: Float[Tensor, " vocab"] = often / often.sum()
        pairs = [first * vocab_size + second for row in rows for first, second in pairwise(row[1:])]
        twos = torch.tensor(pairs).bincount(minlength=vocab_size**2).view(vocab_size, vocab_size) + 0.01
        #: The log-probability that the word of a column follows that of a row.
        self.bigram: Float[Tensor, "vocab vocab"] = (twos / twos.sum(dim=1, keepdim=True)).log()
        self.after_two: dict[tuple[int, int], Counter[int]] = {}
        for row in rows:
            for first, second, third in zip(row, row[1:], row[2:], strict=False):
                self.after_two.setdefault((first, second), Counter())[third] += 1

    def trigram(self, batch: Batch) -> Float[Tensor, "batch n"]:
        """The share with which each word of ``tgt_out`` followed the two before it; 0 where they never came."""
        probs = torch.zeros(batch.tgt_out.shape)
        for r, (ins, outs) in enumerate(zip(batch.tgt_in.tolist(), batch.tgt_out.tolist(), strict=True)):
            for c, pair in enumerate(zip([BOS, *ins], ins, strict=False)):
                found = self.after_two.get(pair)
                probs[r, c] = found[outs[c]] / found.total() if found else 0
        return probs

    def mixed(self, batch: Batch, *, chosen_on: Batch) -> Float[Tensor, "batch n"]:
        """Log-probabilities of ``tgt_out`` by one, two and three words; the shares suit ``chosen_on`` best."""

        def parts(batch: Batch) -> Float[Tensor, "three batch n"]:
            two = self.bigram[batch.tgt_in, batch.tgt_out].exp()
            return torch.stack([self.unigram[batch.tgt_out], two, self.trigram(batch)])

        known, real = parts(chosen_on), chosen_on.tgt_out != PAD
        shares = [
            torch.tensor([one, two, 1 - one - two])[:, None, None]
            for one in (0.0003, 0.001, 0.003, 0.01, 0.03)
            for two in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
        ]
        best = max(shares, key=lambda share: (share * known).sum(dim=0)[real].log().mean())
        return (best * parts(batch)).sum(dim=0).log()
