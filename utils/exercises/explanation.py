"""Checks of the exercises of chapters/explanation."""

from collections.abc import Iterator
from functools import cache, partial

import torch
from torch import Tensor, tensor

from utils.corpus.batches import Batch, make_batch
from utils.exercises.checking import as_tensor, expect, expect_distribution, show
from utils.exercises.report import exercise
from utils.exercises.tables import Case, against
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder
from utils.training import seeded


@cache
def _model() -> EncoderDecoder:
    with seeded(5):
        model = EncoderDecoder(Encoder(11, 5, 5), BahdanauDecoder(13, 5, 7, 10, d_enc_state=5)).eval()
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.7)
    return model


def _sentences(src: list[list[int]], tgt: list[list[int]], hidden: list[list[int]]) -> Case:
    says = f"for {len(src)} sentence{'s' * (len(src) > 1)}, the words {hidden} hidden"
    wanted = "Return the probabilities of all steps: (sentences, steps, words of the vocabulary)."
    point = f"{says}, the probabilities are right"
    return Case(says, lambda: (_model(), make_batch(src, tgt), tensor(hidden)), point, wanted)


_SOFTMAX = partial(torch.softmax, dim=-1)
_END = "End with `.softmax(dim=-1)`."
_LATER = "What is hidden in one step must be seen again in the next: begin each step with the whole mask."


@against(
    1,
    "In each step: a copy of the mask with one False in each row, a step with this mask for the probabilities, and a "
    "step with the whole mask for the next state.",
    "`mask[torch.arange(len(mask)), 0, hidden[:, i]] = False` hides one word in each sentence.",
    cases=[
        _sentences([[4, 5, 6, 7, 8]], [[7, 8, 9]], [[2, 0, 1, 3]]),
        _sentences([[4, 5, 6, 7], [9, 10]], [[5, 6], [7, 8, 9, 10]], [[0, 3, 1, 1, 1], [1, 1, 0, 1, 0]]),
    ],
    mistakes={
        f"these are the logits | {_END}": {"change": torch.clone},
        "nothing is hidden | Set False.": (
            lambda model, batch, _: model(batch.src, batch.src_lens, batch.tgt_in)[0].softmax(dim=-1)
        ),
        "only the hidden word is seen | `masked_fill` and `&` want the mask the other way round: True may be seen.": {
            "only": True
        },
        "the state did not see the word | Take it from a second step, with the whole mask.": {
            "whole_state": False
        },
        f"a hidden word stays hidden in all later steps | {_LATER}": {"for_good": True},
        f"a hidden word stays hidden for output and state | {_LATER}": {
            "for_good": True,
            "whole_state": False,
        },
    },
    parts=["the probabilities"],
)
@torch.no_grad()
def hidden_in_step(
    model: EncoderDecoder,
    batch: Batch,
    hidden: Tensor,
    *,
    whole_state=True,
    for_good=False,
    only=False,
    change=_SOFTMAX,
) -> Tensor:
    memory, state = model.start(batch.src, batch.src_lens)
    mask, after = memory.mask.clone(), []
    for i, word in enumerate(batch.tgt_in.split(1, dim=1)):
        mask = mask if for_good else memory.mask.clone()
        mask[torch.arange(len(mask)), 0, hidden[:, i]] = False
        shown = ~mask & memory.mask if only else mask
        logits, hidden_state, _ = model.decoder(word, memory._replace(mask=shown), state)
        state = model.decoder(word, memory, state)[1] if whole_state else hidden_state
        after.append(logits)
    return change(torch.cat(after, dim=1))


VECTORS = tensor([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0], [2.0, 1.0]]).double()
HONEST = tensor([0.1, 0.1, 0.1, 0.1, 0.6]).double()


@exercise(
    2,
    "Give the fifth word nothing. Half of the weight must then lie on the second and the fourth word together.",
    "The third and the fourth word together need 0.35.",
)
def same_context(row: object) -> Iterator[str]:
    weights = as_tensor(row, "Each word has a weight, also if it is 0.", shape=(5,), name="the row").double()
    expect_distribution(weights.tolist(), "the weights", tolerance=0.006)
    yield "these are weights"
    context = weights @ VECTORS
    is_near = ((context - HONEST @ VECTORS).abs() <= 0.0501).all()
    first = (
        "Its first number is 4 times the weights of the second and the fourth word, plus 2 times the fifth."
    )
    expect(is_near, f"the context is {show(context)}; expected [2, 1.4], to 0.05.", first)
    yield "the context is that of the honest weights"
    overlap = torch.minimum(weights, HONEST).sum().item()
    too_much = f"the overlap with the honest weights is {show(overlap)}; expected at most 0.5."
    expect(overlap <= 0.5001, too_much, "The fifth word has 0.6 of the honest weights. Give it less.")
    yield "the weights are others"
