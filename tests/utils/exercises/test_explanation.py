"""Answers to the exercises of chapters/explanation."""

import torch
from answers import Answers

from utils.exercises import explanation as check

answers = Answers()


def hide(model, batch, hidden):
    memory, state = model.start(batch.src, batch.src_lens)
    after = []
    for i, word in enumerate(batch.tgt_in.unbind(dim=1)):
        mask = memory.mask.clone()
        for row, place in enumerate(hidden[:, i]):
            mask[row, 0, place] = False
        after.append(model.decoder(word[:, None], memory._replace(mask=mask), state)[0])
        state = model.decoder(word[:, None], memory, state)[1]
    return torch.cat(after, dim=1).softmax(dim=-1)


answers.add(check.hidden_in_step, [hide], [(lambda *given: hide(*given)[:, 0], "the shape (1, 13)")])


def along(f, x, steps):
    shares = (torch.arange(steps) + 0.5) / steps
    points = (shares[:, None, None] * x).requires_grad_()
    gradients = torch.autograd.grad(sum(f(point) for point in points), points)[0]
    return (gradients.mean(dim=0) * x).sum(dim=1)


answers.add(check.along_the_path, [along], [(lambda *given: along(*given).sum(), "the shape ()")])
answers.add(
    check.same_context,
    [[0.325, 0.325, 0.175, 0.175, 0.0], torch.tensor([0.15, 0.5, 0.35, 0.0, 0.0])],
    [
        ([0.1, 0.1, 0.1, 0.1, 0.6], "the overlap with the honest"),
        ([0.25, 0.25, 0.25, 0.25, 0], "the context is [2, 2]"),
        ([0.5, 0.5, 0.2, 0.2, 0], "with the sum 1.4"),
        ([0.5, 0.5, 0.25, -0.25, 0], "expected numbers from 0 to 1"),
        ([0.5, 0.5], "the shape (2,)"),
    ],
)
test_right, test_wrong = answers.tests()
