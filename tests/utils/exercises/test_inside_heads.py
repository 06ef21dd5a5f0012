"""Answers to the exercises of chapters/inside_heads."""

import torch
from answers import Answers

from utils.exercises import inside_heads as check

answers = Answers()


def layer(x, heads, off=(), keep=None, distance=True, mask=True, scale=True):
    back = torch.arange(len(x))[:, None] - torch.arange(len(x))
    result = x
    for head in [head for head in range(3) if head not in off] if keep is None else keep:
        q, k, v = (x @ w[head] for w in (heads.w_q, heads.w_k, heads.w_v))
        scores = q @ k.T / (q.shape[-1] ** 0.5 if scale else 1)
        scores = scores + heads.distance[head][back.clamp(min=0)] * distance
        if mask:
            scores = scores.masked_fill(back < 0, -torch.inf)
        result = result + scores.softmax(dim=-1) @ v @ heads.w_o[head]
    return result


answers.add(
    check.layer,
    [
        layer,
        lambda x, heads, off=(): x + sum((heads(x)[0][h] for h in range(3) if h not in off), torch.zeros(6)),
    ],
    [
        (lambda x, heads, off=(): layer(x, heads, off) - x, "the states that the layer reads are missing"),
        (lambda x, heads, off=(): layer(x, heads, off, mask=False), "places look at later places"),
        (
            lambda x, heads, off=(): layer(x, heads, off, distance=False),
            "the numbers of the distances are missing",
        ),
        (lambda x, heads, off=(): layer(x, heads, off, scale=False), "the scale is missing"),
        (lambda x, heads, off=(): layer(x, heads), "no head is hidden"),
        (lambda x, heads, off=(): layer(x, heads, keep=off or None), "the heads in off are kept"),
        (lambda x, heads, off=(): layer(x, heads, off)[0], "has the shape (6,)"),
    ],
)
answers.add(
    check.circuit_by_hand,
    [(1.5, 0, 0, 3), (torch.tensor(1.5), 0.0, [0], "3")],
    [
        ((3, 0, 0, 6), "the scale is missing"),
        ((0.75, 0, 0, 1.5), "divided by 4"),
        ((0, 0.5, 1, 0), "words at the keys themselves"),
        ((3, 0, 0, 1.5), "are exchanged"),
        ((1.5, 1, 0, 3), "a_b is 1; expected another"),
    ],
)


def perfect(tokens, place=1, last=True, new=0):
    weights = torch.zeros(len(tokens), len(tokens))
    for i in range(len(tokens)):
        earlier = [j for j in range(i) if tokens[j] == tokens[i]]
        if earlier:
            weights[i, earlier[-1 if last else 0] + place] = 1
        elif new is not None:
            weights[i, i if new == "itself" else new] = 1
    return weights


def looks_ahead(tokens):
    same = tokens[:, None] == tokens
    return same.roll(1, dims=1).float()


answers.add(
    check.perfect_head,
    [perfect, lambda tokens: perfect(tokens.tolist()), lambda tokens: perfect(tokens).bool()],
    [
        (lambda tokens: perfect(tokens, place=0), "earlier place itself"),
        (lambda tokens: perfect(tokens, last=False), "the first earlier place counts"),
        (lambda tokens: perfect(tokens, new=None), "a row has no weight"),
        (lambda tokens: perfect(tokens, new="itself"), "a new word looks at itself"),
        (looks_ahead, "looks at a later place"),
        (lambda tokens: perfect(tokens)[0], "has the shape (6,)"),
    ],
)
test_right, test_wrong = answers.tests()
