"""Answers to the exercises of chapters/real_network."""

import torch
from answers import Answers

from utils.exercises import real_network as check

answers = Answers()


def heads(h, layer, real, num_heads, *, matrix=lambda w: w.T, bias=1, width=None, fill="-inf", axis=-1):
    def part(name):
        x = h @ matrix(layer[f"attention.self.{name}.weight"]) + bias * layer[f"attention.self.{name}.bias"]
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    q, k, v = map(part, ("query", "key", "value"))
    scores = q @ k.mT / (width or q.shape[-1]) ** 0.5
    weights = scores.masked_fill(~real[:, None, None], float(fill)).softmax(dim=axis)
    return (weights @ v).transpose(1, 2).flatten(2), weights


def by_torch(h, layer, real, num_heads):
    """The fused function, whose weights come from the identity as values."""
    q, k, v = (
        torch.nn.functional.linear(
            h, layer[f"attention.self.{name}.weight"], layer[f"attention.self.{name}.bias"]
        )
        .unflatten(-1, (num_heads, -1))
        .transpose(1, 2)
        for name in ("query", "key", "value")
    )
    mask = real[:, None, None].expand(-1, num_heads, h.shape[1], -1)
    attend = torch.nn.functional.scaled_dot_product_attention
    eye = torch.eye(h.shape[1]).expand(len(h), num_heads, -1, -1)
    return attend(q, k, v, mask).transpose(1, 2).flatten(2), attend(q, k, eye, mask)


def wrong(**options):
    return lambda *inputs: heads(*inputs, **options)


def no_mask(h, layer, real, num_heads):
    return heads(h, layer, torch.ones_like(real), num_heads)


def cut_out_of_pieces(h, layer, real, num_heads):
    q, k, v = (
        (h @ layer[f"attention.self.{name}.weight"].T + layer[f"attention.self.{name}.bias"]).view(
            len(h), num_heads, h.shape[1], -1
        )
        for name in ("query", "key", "value")
    )
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~real[:, None, None], float("-inf"))
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2), scores.softmax(-1)


def joined_wrong(*inputs):
    context, weights = heads(*inputs)
    return context.unflatten(-1, (inputs[3], -1)).transpose(1, 2).reshape(context.shape), weights


answers.add(
    check.heads_of_layer,
    [heads, by_torch],
    [
        (wrong(matrix=lambda w: w), "the matrices are not transposed"),
        (wrong(bias=0), "the biases are missing"),
        (lambda h, *rest: heads(h, *rest, width=h.shape[-1]), "width of all heads"),
        (wrong(width=1), "are not scaled"),
        (wrong(axis=-2), "runs over the queries"),
        (no_mask, "padding gets weight"),
        (cut_out_of_pieces, "the heads are cut out of the pieces"),
        (joined_wrong, "joined in the wrong order"),
        (lambda *inputs: heads(*inputs)[0], "returns one thing; expected context, weights"),
    ],
)


def hide(matrix, head, num_heads):
    width = len(matrix) // num_heads
    other = matrix.clone()
    other[:, head * width : (head + 1) * width] = 0
    return other


def keep_one(matrix, head, num_heads):
    return matrix - hide(matrix, head, num_heads)


def by_a_mask(matrix, head, num_heads):
    keep = torch.ones(num_heads)
    keep[head] = 0
    return matrix * keep.repeat_interleave(len(matrix) // num_heads)


def in_place(matrix, head, num_heads):
    matrix[:, head] = 0
    return matrix


def every_nth(matrix, head, num_heads):
    other = matrix.clone()
    other[:, head::num_heads] = 0
    return other


answers.add(
    check.hide_head,
    [hide, by_a_mask],
    [
        (lambda matrix, *rest: hide(matrix.T, *rest).T, "rows are 0"),
        (keep_one, "all other heads are hidden"),
        (every_nth, "is of another head"),
        (in_place, "changes what it is given"),
    ],
)


def search(question, lines, embed, num):
    cosines = embed(lines) @ embed([question])[0]
    return [lines[i] for i in cosines.topk(num).indices.tolist()]


def by_sorting(question, lines, embed, num):
    vector = embed([question])[0]
    return sorted(lines, key=lambda line: -(embed([line])[0] @ vector).item())[:num]


def farthest(question, lines, embed, num):
    return sorted(lines, key=lambda line: (embed([line])[0] @ embed([question])[0]).item())[:num]


answers.add(
    check.search,
    [search, by_sorting],
    [
        (farthest, "these are the farthest lines"),
        (lambda *inputs: search(*inputs)[::-1], "the order is wrong"),
        (lambda question, lines, embed, num: search(question, lines, embed, 1), "the result has 1 lines"),
        (
            lambda question, lines, embed, num: (
                (embed(lines) @ embed([question])[0]).topk(num).indices.tolist()
            ),
            "the result has places",
        ),
        (lambda question, lines, embed, num: lines[:num], "expected"),
        (lambda question, lines, embed, num: embed(question), "give a list of whole lines"),
    ],
)
test_right, test_wrong = answers.tests()
