"""Answers to the exercises of chapters/fast_decoding."""

import math

import torch
from answers import Answers

from utils.exercises import fast_decoding as check
from utils.fast_decoding import rotate

answers = Answers()


def look(query, keys, values):
    return torch.softmax(keys @ query / len(query) ** 0.5, dim=0) @ values


def step(new, keys, values, w_q, w_k, w_v):
    keys, values = torch.cat([keys, (new @ w_k)[None]]), torch.cat([values, (new @ w_v)[None]])
    return look(new @ w_q, keys, values), keys, values


def in_front(new, keys, values, w_q, w_k, w_v):
    context, _, _ = step(new, keys, values, w_q, w_k, w_v)
    return context, torch.cat([(new @ w_k)[None], keys]), torch.cat([(new @ w_v)[None], values])


answers.add(
    check.step,
    [step, lambda new, k, v, w_q, w_k, w_v: list(step(new, k, v, w_q, w_k, w_v))],
    [
        (lambda *given: step(*given)[0], "returns one thing; expected context, keys, values"),
        (in_front, "the new row stands first"),
        (lambda new, k, v, *w: (step(new, k, v, *w)[0], k, v), "the new keys has the shape (4, 5)"),
        (
            lambda new, k, v, *w: (look(new @ w[0], k, v), *step(new, k, v, *w)[1:]),
            "the word does not look at itself",
        ),
        (
            lambda new, k, v, *w: (look(new @ w[0], *step(new, k, v, *w)[:0:-1]), *step(new, k, v, *w)[1:]),
            "keys and values are exchanged",
        ),
        (
            lambda new, k, v, *w: (look(new @ w[1], *step(new, k, v, *w)[1:]), *step(new, k, v, *w)[1:]),
            "the key is used as the query",
        ),
        (
            lambda new, k, v, *w: (
                torch.softmax(step(new, k, v, *w)[1] @ (new @ w[0]), dim=0) @ step(new, k, v, *w)[2],
                *step(new, k, v, *w)[1:],
            ),
            "the scale is missing",
        ),
    ],
)


turn = check._turned

answers.add(
    check.turn,
    [turn, lambda x, place: rotate(x[None], start=place)[0]],
    [
        (lambda x, place: turn(x, place, way=-1), "turn the other way"),
        (lambda x, place: turn(x, place, halves=True), "other numbers are paired"),
        (lambda x, place: turn(x, place, first=2), "the rates begin with the second one"),
        (lambda x, place: x, "nothing is turned"),
        (lambda x, place: turn(x, min(place, 1)), "turned as at place 1"),
        (lambda x, place: turn(x, place)[:-1], "has the shape (1,)"),
    ],
)


def scores(query, latents, up, scale=math.sqrt):
    return latents @ (up.T @ query) / scale(len(query))


answers.add(
    check.latent_scores,
    [scores, lambda q, c, u: (q @ u) @ c.T / len(q) ** 0.5],
    [
        (lambda q, c, u: (c @ u.T) @ q / math.sqrt(len(q)), "your function builds all keys"),
        (lambda q, c, u: u @ c.T / math.sqrt(len(q)), "has the shape (3, 5)"),
        (lambda *parts: scores(*parts, scale=lambda d: 1), "the scale is missing"),
        (lambda *parts: scores(*parts, scale=lambda d: d), "divided by d"),
        (lambda q, c, u: c @ (u.T @ q) / math.sqrt(c.shape[1]), "that of the latent vectors"),
        (lambda *parts: scores(*parts).softmax(0), "these are the weights"),
        (lambda *parts: -scores(*parts), "the scores at [0] is"),
    ],
)


def drawn(p, q):
    rest = (p - q).clamp(min=0)
    return (p / q).clamp(max=1), rest / rest.sum()


answers.add(
    check.drawn_words,
    [drawn, lambda p, q: (torch.minimum(p, q) / q, torch.relu(p - q) / torch.relu(p - q).sum())],
    [
        (lambda p, q: drawn(p, q)[0], "returns one thing; expected accept, rest"),
        (lambda p, q: (p / q, drawn(p, q)[1]), "some are above 1"),
        (lambda p, q: ((q / p).clamp(max=1), drawn(p, q)[1]), "large and small are exchanged"),
        (lambda p, q: (p, drawn(p, q)[1]), "these are the probabilities of the large model"),
        (lambda p, q: (drawn(p, q)[0], (p - q).clamp(min=0)), "not yet divided by its sum"),
        (lambda p, q: (drawn(p, q)[0], p), "this is p itself"),
        (lambda p, q: (drawn(p, q)[0], drawn(q, p)[1]), "the difference has the wrong sign"),
    ],
)
test_right, test_wrong = answers.tests()
