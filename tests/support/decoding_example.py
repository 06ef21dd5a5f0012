"""A small recorded sentence, for tests of the figure that walks through decoding."""

import torch

from utils.figures.kinds.decoding import END, DecodingRecord

SOURCE, TARGET = ["the", "red", "car"], ["la", "voiture", "rouge", END]


def record() -> DecodingRecord:
    """Numbers at random, except that the weights, contexts and states are those of a decoder."""
    draw = torch.Generator().manual_seed(2)
    scores = 3 * torch.randn(4, 3, generator=draw)
    values = torch.tanh(torch.randn(3, 14, generator=draw))
    states = torch.tanh(torch.randn(5, 17, generator=draw))
    weights = scores.softmax(dim=1)
    candidates = [["la", "le"], ["voiture", "rouge"], ["bleue", "rouge"], [END, "."]]
    return DecodingRecord(
        source=SOURCE,
        target=TARGET,
        scores=scores,
        weights=weights,
        values=values,
        contexts=weights @ values,
        queries=states[:-1],
        states=states[1:],
        probabilities=torch.tensor([[0.7, 0.2], [0.9, 0.05], [0.5, 0.4], [0.99, 0.001]]),
        candidates=candidates,
    )
