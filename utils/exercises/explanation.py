"""Checks of the exercises of chapters/explanation."""

from collections.abc import Iterator

import torch
from torch import Tensor

from utils.corpus.batches import Batch, make_batch
from utils.exercises.checking import (
    ReadersFunction,
    as_tensor,
    exercise,
    expect,
    expect_close,
    expect_distribution,
    show,
)
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder
from utils.training import seeded


@exercise(
    1,
    "In each step: a copy of the mask with one False in each row, a step with this mask for the probabilities, and a "
    "step with the whole mask for the next state.",
    "`mask[torch.arange(len(mask)), 0, hidden[:, i]] = False` hides one word in each sentence.",
)
@torch.no_grad()
def hidden_in_step(answer: ReadersFunction) -> Iterator[str]:
    with seeded(5):
        model = EncoderDecoder(Encoder(11, 5, 5), BahdanauDecoder(13, 5, 7, 10, d_enc_state=5)).eval()
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.7)
    for src, tgt, words in (
        ([[4, 5, 6]], [[7, 8, 9]], [[2, 0, 1, 2]]),
        ([[4, 5, 6, 7, 8], [9, 10, 4]], [[5, 6], [7, 8, 9, 10]], [[0, 4, 1, 1, 1], [2, 2, 0, 1, 0]]),
    ):
        batch, hidden = make_batch(src, tgt), torch.tensor(words)
        case = f"for {len(src)} sentence{'s' * (len(src) > 1)}, the words {words} hidden"
        right = _steps(model, batch, hidden, keep_state=True).softmax(dim=-1)
        later = (
            "What is hidden in one step must be seen again in the next: begin each step with the whole mask."
        )
        state = "The next state must be made with all words: take it from a second step, with the whole mask."
        mistakes = (
            (right.log(), "these are logarithms of the probabilities", "End with `.softmax(dim=-1)`."),
            (
                _steps(model, batch, hidden, keep_state=True),
                "these are the logits",
                "End with `.softmax(dim=-1)`.",
            ),
            (
                model(batch.src, batch.src_lens, batch.tgt_in)[0].softmax(dim=-1),
                "nothing is hidden",
                "Set False.",
            ),
            (
                _steps(model, batch, hidden, keep_state=False).softmax(dim=-1),
                "the state did not see the word",
                state,
            ),
            (
                _steps(model, batch, hidden, keep_state=True, for_good=True).softmax(dim=-1),
                "a hidden word stays hidden in all later steps",
                later,
            ),
            (
                _steps(model, batch, hidden, keep_state=False, for_good=True).softmax(dim=-1),
                "a hidden word stays hidden for output and state",
                later,
            ),
        )
        wanted = "Return the probabilities of all steps: (sentences, steps, words of the vocabulary)."
        expect_close(answer(model, batch, hidden), right, case, wanted, mistakes=mistakes)
        yield f"{case}, the probabilities are right"


def _steps(
    model: EncoderDecoder, batch: Batch, hidden: Tensor, *, keep_state: bool, for_good: bool = False
) -> Tensor:
    """The logits of all steps; the right ones keep the state and hide nothing for good."""
    memory, state = model.start(batch.src, batch.src_lens)
    whole, mask, after = memory, memory.mask.clone(), []
    for i, word in enumerate(batch.tgt_in.split(1, dim=1)):
        mask = mask.clone() if for_good else whole.mask.clone()
        mask[torch.arange(len(mask)), 0, hidden[:, i]] = False
        logits, hidden_state, _ = model.decoder(word, whole._replace(mask=mask), state)
        state = model.decoder(word, whole, state)[1] if keep_state else hidden_state
        after.append(logits)
    return torch.cat(after, dim=1)


@exercise(
    2,
    "Make a fresh point on the path in each round, and ask torch.autograd.grad for the gradient of f there.",
    "Add up the gradients, divide by `steps`, multiply by `x`, and sum over the last axis.",
)
def along_the_path(answer: ReadersFunction) -> Iterator[str]:
    def linear(x: Tensor) -> Tensor:
        return (x * torch.tensor([[1.0, 2.0], [3.0, 0.0], [0.0, -1.0]])).sum()

    x = torch.tensor([[1.0, 1.0], [2.0, 5.0], [4.0, 3.0]])
    case = "for f(x) = x[0,0] + 2 x[0,1] + 3 x[1,0] - x[2,1] and x = [[1, 1], [2, 5], [4, 3]]"
    mistakes = (
        ((3, 3, -1), "these are the gradients, not yet multiplied by x", "Multiply by `x`."),
        ((12, 24, -12), "this is the sum over the steps", "Divide by `steps`."),
    )
    one = "There is one number for each word: add up over the last axis, and over no other."
    expect_close(answer(linear, x, 4), [3.0, 6.0, -3.0], case, one, mistakes=mistakes)
    yield "for a linear function it is gradient times input"

    def square(x: Tensor) -> Tensor:
        return (x.sum(dim=-1) ** 2).sum()

    x = torch.tensor([[1.0, 1.0], [3.0, 0.0]])
    case = "for f(x), the sum of the squares of the sums of the rows, and x = [[1, 1], [3, 0]] in 5 steps"
    middle = "The first of m points is 0.5 / m of x, the middle of the first part."
    mistakes = (
        ((8, 18), "the gradients are taken at x itself", "The points lie on the way from 0 to x."),
        ((4.8, 10.8), "the gradients are taken at the end of each part of the path", middle),
        ((3.2, 7.2), "the gradients are taken at the beginning of each part of the path", middle),
    )
    expect_close(answer(square, x, 5), [4.0, 9.0], case, tolerance=1e-3, mistakes=mistakes)
    yield "it uses the middle of each part of the path"

    def mixed(x: Tensor) -> Tensor:
        return torch.tanh(x[0] @ x[1]) + x[2].prod()

    torch.manual_seed(0)
    x = torch.randn(3, 2)
    total = as_tensor(answer(mixed, x, 300), one, shape=(3,)).sum()
    case, change = "for a function that mixes the words", (mixed(x) - mixed(torch.zeros_like(x))).item()
    expect(
        abs(total - change) < 1e-3,
        f"{case}, the numbers of all words add up to {show(total)}; expected f(x) - f(0), which is {show(change)}.",
        "The gradient is taken at the point on the path, and `x` is multiplied at the end.",
    )
    yield "the numbers of all words add up to f(x) - f(0)"


VECTORS = torch.tensor([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0], [2.0, 1.0]]).double()
HONEST = torch.tensor([0.1, 0.1, 0.1, 0.1, 0.6]).double()


@exercise(
    3,
    "Give the fifth word nothing. Half of the weight must then lie on the second and the fourth word together.",
    "The third and the fourth word together need 0.35.",
)
def same_context(row: object) -> Iterator[str]:
    weights = as_tensor(row, "Each word has a weight, also if it is 0.", shape=(5,), name="the row").double()
    expect_distribution(weights.tolist(), "the weights", tolerance=0.006)
    yield "these are weights"
    context = weights @ VECTORS
    expect(
        ((context - HONEST @ VECTORS).abs() <= 0.0501).all(),
        f"the context is {show(context)}; expected [2, 1.4], to 0.05.",
        "The first number of the context is 4 times the weights of the second and the fourth word, plus 2 times the "
        "fifth.",
    )
    yield "the context is that of the honest weights"
    overlap = torch.minimum(weights, HONEST).sum().item()
    expect(
        overlap <= 0.5001,
        f"the overlap with the honest weights is {show(overlap)}; expected at most 0.5.",
        "The fifth word has 0.6 of the honest weights. Give it less.",
    )
    yield "the weights are others"
