"""The luck study: the training of chapters/measuring again, each time with other random numbers.

Run as ``PYTHONPATH=chapters python -m studies.luck_study``. It needs less than a minute on one core. The results are
stored beside this file; chapters/measuring reads them.
"""

from functools import partial
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor, nn

from studies.parts import run_parts
from utils.corpus.batches import ShuffledBatches, make_batch
from utils.corpus.grammar import triples
from utils.corpus.vocabulary import Vocabulary
from utils.exercises.measuring import clipped_counts
from utils.fast_training import fast_loss
from utils.search import greedy
from utils.seq2seq import Encoder, EncoderDecoder, FixedContextDecoder
from utils.training import seeded

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: The page trains with seed 0; the epochs after which BLEU is measured.
SEEDS, EPOCHS = (1, 2), (5, 10)


def bleu_from(sums: Float[Tensor, "*draws ten"]) -> Float[Tensor, "*draws"]:
    """BLEU from the ten counts of exercise 1, added up over the sentences.

    Explained in chapters/measuring.
    """
    shares = sums[..., 0:8:2] / sums[..., 1:8:2]
    penalty = torch.exp(1 - sums[..., 9] / sums[..., 8]).clamp(max=1)
    return 100 * penalty * shares.prod(dim=-1) ** (1 / 4)


def with_interval(counts: Float[Tensor, "sentences ten"]) -> list[float]:
    """BLEU, and the edges of the middle 95 % of it in 1,000 draws of the sentences."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randint(len(counts), (1000, len(counts)), generator=generator)
    edges = torch.tensor([0.025, 0.975], dtype=counts.dtype)
    middle = bleu_from(counts[rows].sum(dim=1)).quantile(edges)
    return [round(number, 3) for number in (bleu_from(counts.sum(dim=0)).item(), *middle.tolist())]


def measure_seed(seed: int, *, num_train: int = 1_000, num_test: int = 300) -> dict[str, dict]:
    """The scores of one training on the test sentences, after each number of epochs."""
    lengths = {"min_words": 3, "max_words": 10}
    pairs = triples(num_train, split="train", **lengths)
    test = triples(2 * num_test, split="test", **lengths)[num_test:]  # the first half is for validation
    en, fr = Vocabulary.words(t.en for t in pairs), Vocabulary.words(t.fr for t in pairs)
    src_ids, tgt_ids = en.encode([t.en for t in pairs]), fr.encode([t.fr for t in pairs])
    testing = make_batch(en.encode([t.en for t in test]), fr.encode([t.fr for t in test]))
    with seeded(seed):
        model = EncoderDecoder(Encoder(len(en), 64, 64), FixedContextDecoder(len(fr), 64, 128, 128))
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
    batches = ShuffledBatches(src_ids, tgt_ids, batch_size=64, seed=seed)
    scores = {}
    for epoch in range(1, max(EPOCHS) + 1):
        for batch in batches:
            optimizer.zero_grad()
            fast_loss(model, batch).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if epoch in EPOCHS:
            found = greedy(model.eval(), testing.src, testing.src_lens, max_len=40)
            written = [fr.tokens(one.tokens) for one in found]
            rows = [clipped_counts.program(ours, t.fr) for ours, t in zip(written, test, strict=True)]
            scores[str(epoch)] = with_interval(torch.stack(rows).double())
    return {"scores": scores}


def main() -> None:
    """Train with each seed, and store the scores."""
    torch.set_num_threads(1)  # as for the results in the book
    measures = {f"seed {seed}": partial(measure_seed, seed) for seed in SEEDS}
    run_parts(measures, RESULTS, belongs_to={"torch": torch.__version__})


if __name__ == "__main__":
    main()
