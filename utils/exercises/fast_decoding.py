"""Checks of the exercises of chapters/fast_decoding."""

import math
from collections.abc import Iterator

import torch

from utils.exercises.checking import (
    LargestTensor,
    ReadersFunction,
    exercise,
    expect,
    expect_close,
    expect_numbers,
    expect_written,
    show,
)
from utils.fast_decoding import cache_bytes


@exercise(
    1,
    "Each word leaves a key and a value in each key head of each layer, and each number takes 2 bytes.",
    "2 · 32 · 8 · 128 · 2 bytes for a word. Multiply by the words of all texts, and divide by 10⁹.",
)
def bytes_of_a_cache(per_word: object, gigabytes: object) -> Iterator[str]:
    expect_written(per_word, gigabytes)
    right = cache_bytes(32, 8, 128)
    shared = "Only the 8 key heads have keys and values. The 32 heads share them."
    mistakes = (
        (cache_bytes(32, 32, 128), "this counts a key for each of the 32 heads that ask", shared),
        (
            right / 2,
            "a factor of 2 is missing",
            "A word leaves a key and a value, and a number takes 2 bytes.",
        ),
        (right / 32, "the layers are missing", "Each of the 32 layers has a cache of its own."),
        (right / 1000, "this is in kilobytes", "Give bytes."),
    )
    expect_numbers({"per_word": per_word}, [right], mistakes)
    yield "per_word: the bytes of one word"
    total = right * 16 * 4000 / 1e9
    mistakes = (
        (total / 16, "this is the cache of one text", "Each of the 16 texts has a cache of its own."),
        (total * 1e9, "this is in bytes", "A gigabyte has 10⁹ bytes."),
    )
    expect_numbers({"gigabytes": gigabytes}, [total], mistakes)
    yield "gigabytes: 16 texts of 4,000 words"


@exercise(
    2,
    "Both vectors are turned. Draw the two arrows after the turn, and take the angle between them.",
    "The dot product is the product of the lengths times the cosine of the angle between the arrows.",
)
def turned_by_hand(first: object, second: object, third: object) -> Iterator[str]:
    expect_written(first, second, third)
    not_turned = "A place t turns a vector by t · 30 degrees. Turn both vectors before you multiply."
    mistakes = ((6.0, "nothing is turned", not_turned), (-3.0, "only the query is turned", not_turned))
    expect_numbers({"first": first}, [3.0], mistakes)
    yield "first: two places are an angle of 60 degrees"
    way = "Against the clock: the vector (2, 0) at place 3 becomes (0, 2)."
    mistakes = (
        (0.0, "nothing is turned", not_turned),
        (-4.0, "the vectors are turned with the clock", way),
    )
    expect_numbers({"second": second}, [4.0], mistakes)
    yield "second: the angle of the key's own vector counts, too"
    later = "The key now stands one place after the query, and no longer one place before it."
    mistakes = ((4.0, "the direction of the distance is missing", later),)
    expect_numbers({"third": third}, [-4.0], mistakes)
    yield "third: a key after the query has another score than a key before it"


@exercise(
    3,
    "q · (U c) = (Uᵀ q) · c: move the matrix to the query, once, before you look at the words.",
    "`latents @ (up.T @ query)` are the dot products. Divide by the square root of the width of the query.",
)
def latent_scores(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    for n, rank, d in ((5, 2, 3), (31, 3, 37)):
        query, latents, up = torch.randn(d), torch.randn(n, rank), torch.randn(d, rank)
        case = f"for {n} words, latent vectors of width {rank} and keys of width {d}"
        with LargestTensor() as tensors:
            result = answer(query, latents, up)
        dots = latents @ up.T @ query
        mistakes = (
            (dots, "the scale is missing", "Divide by √d."),
            (dots / d, "the scores are divided by d", "Divide by √d."),
            (dots / math.sqrt(rank), "the scale is that of the latent vectors", "d is the width of a key."),
            (
                (dots / math.sqrt(d)).softmax(0),
                "these are the weights",
                "Return the scores, before the softmax.",
            ),
        )
        steps = "Build the keys first, to see what is right. Then do without them."
        expect_close(result, dots / math.sqrt(d), case, steps, name="the scores", mistakes=mistakes)
        yield f"{case} the scores are right"
    built = {(31, 37), (37, 31)} & tensors.shapes
    expect(
        not built,
        f"{case} your function builds all keys: a tensor of shape {show(min(built, default=()))}.",
        "`up.T @ query` has only 3 numbers.",
    )
    yield "the keys are never built together"


@exercise(
    4,
    "Compare word by word from the left, and stop at the first place where the two differ.",
    "The words of `chosen` up to the first difference, the word at this place included, are the answer.",
)
def keep(answer: ReadersFunction) -> Iterator[str]:
    cases = (
        ("the third draft is the first wrong one", list("abcd"), list("abxyz"), list("abx")),
        ("the first draft is wrong", list("abc"), list("xbcd"), list("x")),
        ("all drafts are right", list("abc"), list("abcd"), list("abcd")),
        ("a draft is right after a wrong one", list("abcd"), list("axcde"), list("ax")),
        ("there is one draft", list("a"), list("ab"), list("ab")),
    )
    for says, drafts, chosen, right in cases:
        case = f"if {says}, for {''.join(drafts)} and {''.join(chosen)}, your function"
        result = answer(drafts, chosen)
        expect(
            isinstance(result, list | tuple | str),
            f"{case} returns {show(result)}; expected a list of words.",
            "`chosen[:n]` is a list.",
        )
        words, matched = list(result), right[:-1]
        free = "The model has also chosen the word after the last right draft. It costs no further call."
        expect(words != matched, f"{case} leaves out the model's own next word.", free)
        wrong = "At the first difference take the model's word, not the draft."
        expect(words != drafts[: len(right)] or words == right, f"{case} keeps a wrong draft.", wrong)
        every = matched + [c for c in chosen[len(matched) :] if c in drafts]
        after = "A draft after a wrong one continues another text, so it is thrown away."
        expect(words == right or words not in (every, chosen), f"{case} goes on after a wrong draft.", after)
        expect(
            words == right, f"{case} returns {''.join(map(str, words))}; expected {''.join(right)}.", after
        )
        yield f"{says}: right"
