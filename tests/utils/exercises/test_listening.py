"""Answers to the exercises of chapters/listening."""

import torch
from answers import Answers

from utils.exercises import listening as check

answers = Answers()


def head_by_head(text, sound, to_q, to_kv, num_heads):
    q, kv = to_q(text), to_kv(sound)
    d = q.shape[-1]
    contexts, weights = [], []
    for of_head in torch.arange(d).chunk(num_heads):
        scores = q[:, of_head] @ kv[:, of_head].T / len(of_head) ** 0.5
        weights.append(torch.softmax(scores, dim=1))
        contexts.append(weights[-1] @ kv[:, of_head + d])
    return torch.cat(contexts, dim=1), torch.stack(weights)


answers.add(check.listen, [head_by_head], [(lambda *given: head_by_head(*given)[::-1], "in this order")])


def sign_by_sign(words, begin, end):
    seconds = (end[-1] - begin[0]) / len(" ".join(words))
    times, so_far = [], 0
    for word in words:
        times.append(begin[0] + seconds * (so_far + len(word) / 2))
        so_far += len(word) + 1
    return torch.tensor(times)


answers.add(
    check.by_letters,
    [sign_by_sign, lambda *given: sign_by_sign(*given).tolist()],
    [(lambda words, begin, end: end, "expected")],
)
test_right, test_wrong = answers.tests()
