r"""Optimizers: Adam for all weights, or Muon for the matrices between hidden layers and Adam for the others.

Adam divides each number of the gradient by the usual size of that number. Muon uses a matrix as a whole: from the
running mean of its gradient, :math:`M = U \Sigma V^\top`, it makes the step :math:`U V^\top`, which has the same size
in all directions of the layer's input. Directions that are rare in the data, and have small singular values
in M, are learned as fast as common ones. Five rounds of three products (Newton-Schulz iteration) make the singular
values about equal: a step costs more, and fewer steps are needed.

Explained in book/quality.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from utils.seq2seq import EncoderDecoder


class Optimizers:
    """All optimizers of a translator, used as one.

    Args:
        model: the model to train.
        lr: scale of Adam's learning rate.
        muon: scale of the learning rate of Muon, which trains :func:`hidden_matrices`; None for Adam alone.

    Source: Kingma and Ba (2015) for Adam; Jordan et al. (2024) for Muon; both as implemented in torch.
    """

    def __init__(self, model: nn.Module, *, lr: float, muon: float | None = None):
        matrices = [] if muon is None else list(hidden_matrices(model))
        muon_ids = {id(matrix) for matrix in matrices}
        others = [parameter for parameter in model.parameters() if id(parameter) not in muon_ids]
        self._optimizers: list[torch.optim.Optimizer] = [torch.optim.Adam(others, lr=lr, fused=True)]
        if matrices:
            self._optimizers.append(torch.optim.Muon(matrices, lr=muon, weight_decay=0.0))
        self._highest = [optimizer.param_groups[0]["lr"] for optimizer in self._optimizers]

    def zero_grad(self) -> None:
        """Reset the gradients."""
        for optimizer in self._optimizers:
            optimizer.zero_grad()

    def step(self, share: float) -> None:
        """One step, at this share of ``lr`` and ``muon``."""
        for optimizer, highest in zip(self._optimizers, self._highest, strict=True):
            optimizer.param_groups[0]["lr"] = share * highest
            optimizer.step()

    def tensors(self) -> dict[str, Tensor]:
        """The state of the optimizers, by name."""
        return {
            f"{position}.{number}.{name}": value
            for position, optimizer in enumerate(self._optimizers)
            for number, values in optimizer.state_dict()["state"].items()
            for name, value in values.items()
        }

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Continue from a state that :meth:`tensors` gave."""
        state: list[dict[int, dict[str, Tensor]]] = [{} for _ in self._optimizers]
        for key, value in tensors.items():
            position, number, name = key.split(".")
            state[int(position)].setdefault(int(number), {})[name] = value
        for optimizer, parameter_states in zip(self._optimizers, state, strict=True):
            optimizer.load_state_dict(optimizer.state_dict() | {"state": parameter_states})


def hidden_matrices(model: nn.Module) -> Iterator[nn.Parameter]:
    """The matrices that lead from one hidden layer to another, each once.

    The embeddings and the output layer are left out: they have one row per word, and at most steps most rows of an
    embedding have no gradient.
    """
    word_matrices = set()
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            word_matrices.add(id(module.weight))
        if isinstance(module, EncoderDecoder):
            word_matrices.add(id(module.decoder.output.weight))
    for parameter in model.parameters():
        if parameter.ndim == 2 and min(parameter.shape) > 1 and id(parameter) not in word_matrices:
            yield parameter
