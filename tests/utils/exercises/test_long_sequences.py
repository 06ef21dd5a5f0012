"""Answers to the exercises of chapters/long_sequences."""

import torch
from answers import Answers

from utils.exercises import long_sequences as check

answers = Answers()


def all_scores(q, k, v, block):
    return (q @ k.T / q.shape[1] ** 0.5).softmax(-1) @ v


answers.add(check.online, [], [(all_scores, "a tensor of all 21 scores")])


def log_of_t(one, other):
    (m_1, t_1, c_1), (m_2, t_2, c_2) = one, other
    m = torch.stack([m_1, m_2]).amax(0)
    log_t = torch.logaddexp(m_1 + t_1.log(), m_2 + t_2.log())
    return m, (log_t - m).exp(), (m_1 - m).exp() * c_1 + (m_2 - m).exp() * c_2


answers.add(check.merge, [log_of_t])
test_right, test_wrong = answers.tests()
