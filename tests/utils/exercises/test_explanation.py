"""Answers to the exercises of chapters/explanation."""

import torch
from answers import Answers

from utils.exercises import explanation as check

answers = Answers()


def hide(model, batch, hidden, *, copy=True, all_for_state=True):
    memory, state = model.start(batch.src, batch.src_lens)
    after, mask = [], memory.mask.clone()
    whole = memory._replace(mask=memory.mask.clone())
    for i, word in enumerate(batch.tgt_in.unbind(dim=1)):
        mask = whole.mask.clone() if copy else mask
        for row, place in enumerate(hidden[:, i]):
            mask[row, 0, place] = False
        logits, hidden_state, _ = model.decoder(word[:, None], memory._replace(mask=mask), state)
        state = model.decoder(word[:, None], whole, state)[1] if all_for_state else hidden_state
        after.append(logits)
    return torch.cat(after, dim=1)


def not_hidden(model, batch, hidden):
    return model(batch.src, batch.src_lens, batch.tgt_in)[0].softmax(dim=-1)


answers.add(
    check.hidden_in_step,
    [lambda *given: hide(*given).softmax(dim=-1)],
    [
        (hide, "these are the logits"),
        (lambda *given: hide(*given).log_softmax(dim=-1), "these are logarithms"),
        (not_hidden, "nothing is hidden"),
        (lambda *given: hide(*given, all_for_state=False).softmax(dim=-1), "the state did not see the word"),
        (lambda *given: hide(*given, copy=False).softmax(dim=-1), "stays hidden in all later steps"),
        (
            lambda *given: hide(*given, copy=False, all_for_state=False).softmax(dim=-1),
            "stays hidden for output and state",
        ),
        (lambda *given: hide(*given).softmax(dim=-1)[:, 0], "has the shape (1, 13)"),
    ],
)


def along(f, x, shares):
    total = torch.zeros_like(x)
    for share in shares:
        point = (x * share).detach().requires_grad_()
        total += torch.autograd.grad(f(point), point)[0]
    return total / len(shares)


def middles(steps):
    return [(t + 0.5) / steps for t in range(steps)]


def with_the_mean(f, x, steps):
    return (along(f, x, middles(steps)) * x).sum(dim=-1)


answers.add(
    check.along_the_path,
    [with_the_mean],
    [
        (lambda f, x, steps: (along(f, x, [1.0]) * x).sum(dim=-1), "taken at x itself"),
        (lambda f, x, m: (along(f, x, [(t + 1) / m for t in range(m)]) * x).sum(dim=-1), "at the end of"),
        (lambda f, x, m: (along(f, x, [t / m for t in range(m)]) * x).sum(dim=-1), "at the beginning of"),
        (lambda f, x, steps: steps * with_the_mean(f, x, steps), "the sum over the steps"),
        (lambda f, x, steps: along(f, x, middles(steps)).sum(dim=-1), "not yet multiplied"),
        (lambda f, x, steps: along(f, x, middles(steps)) * x, "has the shape (3, 2)"),
        (lambda f, x, steps: with_the_mean(f, x, 1), "add up to"),
    ],
)
answers.add(
    check.same_context,
    [[0.325, 0.325, 0.175, 0.175, 0.0], torch.tensor([0.15, 0.5, 0.35, 0.0, 0.0])],
    [
        ([0.1, 0.1, 0.1, 0.1, 0.6], "the overlap with the honest"),
        ([0.25, 0.25, 0.25, 0.25, 0], "the context is [2, 2]"),
        ([0.5, 0.5, 0.2, 0.2, 0], "with the sum 1.4"),
        ([0.5, 0.5, 0.25, -0.25, 0], "expected numbers from 0 to 1"),
        ([0.5, 0.5], "has the shape (2,)"),
    ],
)
test_right, test_wrong = answers.tests()
