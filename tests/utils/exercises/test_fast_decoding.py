"""Answers to the exercises of chapters/fast_decoding."""

import math

from answers import Answers

from utils.exercises import fast_decoding as check

answers = Answers()
answers.add(
    check.bytes_of_a_cache,
    [(131_072, 8.39), ("131072", 8.388608), (131_000, 8.4)],
    [
        ((524_288, 33.6), "for each of the 32 heads that ask"),
        ((65_536, 4.2), "a factor of 2 is missing"),
        ((4096, 0.26), "the layers are missing"),
        ((131.072, 8.39), "in kilobytes"),
        ((100_000, 8.39), "per_word is 100000; expected another"),
        ((131_072, 0.524), "the cache of one text"),
        ((131_072, 8_388_608_000), "in bytes"),
        ((131_072, 1), "gigabytes is 1; expected another"),
    ],
)
answers.add(
    check.turned_by_hand,
    [(3, 4, -4), ("3.0", 4.0, [-4])],
    [
        ((6, 4, -4), "first is 6: nothing is turned"),
        ((-3, 4, -4), "only the query is turned"),
        ((1, 4, -4), "first is 1; expected another"),
        ((3, 0, -4), "second is 0: nothing is turned"),
        ((3, -4, 4), "turned with the clock"),
        ((3, 4, 4), "direction of the distance is missing"),
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


def keep(drafts, chosen):
    for n, (draft, word) in enumerate(zip(drafts, chosen, strict=False)):
        if draft != word:
            return chosen[: n + 1]
    return chosen


def matched(drafts, chosen):
    return keep(drafts, chosen)[:-1]


def with_draft(drafts, chosen):
    n = len(keep(drafts, chosen))
    return drafts[:n] if n <= len(drafts) else chosen


def all_matches(drafts, chosen):
    pairs = list(zip(drafts, chosen, strict=False))
    return (
        keep(drafts, chosen) if pairs[0][0] != pairs[0][1] else [w for d, w in pairs if d == w] + chosen[-1:]
    )


answers.add(
    check.keep,
    [keep, lambda drafts, chosen: tuple(keep(drafts, chosen)), lambda d, c: "".join(keep(d, c))],
    [
        (matched, "leaves out the model's own next word"),
        (with_draft, "keeps a wrong draft"),
        (lambda drafts, chosen: chosen, "goes on after a wrong draft"),
        (all_matches, "returns abz; expected abx"),
        (lambda drafts, chosen: 3, "expected a list of words"),
    ],
)
test_right, test_wrong = answers.tests()
