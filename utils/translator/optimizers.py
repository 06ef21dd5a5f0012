r"""From gradients to steps: Adam for all weights, or with Muon for the matrices between hidden layers.

Adam divides each number of the gradient by its own usual size. Muon looks at a matrix as a whole: of the running
mean of its gradient, :math:`M = U \Sigma V^\top`, it takes the step :math:`U V^\top`, in which no direction of
the layer's input is favoured over another. Directions that are rare in the data, and have small singular values
in M, are learned as fast as common ones. Five rounds of three products (Newton-Schulz iteration) make the singular
values about equal: a step costs more, and fewer steps are needed.

Explained in book/quality.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from utils.seq2seq import EncoderDecoder


class Optimizers:
    """The optimizers of a translator as one.

    Args:
        model: the model to train.
        lr: highest learning rate of Adam.
        muon: highest learning rate of Muon, which takes :func:`hidden_matrices`; None for Adam alone.

    Source: Kingma and Ba (2015) for Adam; Jordan et al. (2024) for Muon; both as torch has them.
    """

    def __init__(self, model: nn.Module, *, lr: float, muon: float | None = None):
        matrices = [] if muon is None else list(hidden_matrices(model))
        of_muon = {id(matrix) for matrix in matrices}
        others = [parameter for parameter in model.parameters() if id(parameter) not in of_muon]
        self._each: list[torch.optim.Optimizer] = [torch.optim.Adam(others, lr=lr, fused=True)]
        if matrices:
            self._each.append(torch.optim.Muon(matrices, lr=muon, weight_decay=0.0))
        self._highest = [optimizer.param_groups[0]["lr"] for optimizer in self._each]

    def zero_grad(self) -> None:
        """Reset the gradients."""
        for optimizer in self._each:
            optimizer.zero_grad()

    def step(self, share: float) -> None:
        """One step, at this share of the highest learning rates."""
        for optimizer, highest in zip(self._each, self._highest, strict=True):
            optimizer.param_groups[0]["lr"] = share * highest
            optimizer.step()

    def tensors(self) -> dict[str, Tensor]:
        """The state of the optimizers, by name."""
        return {
            f"{which}.{number}.{name}": value
            for which, optimizer in enumerate(self._each)
            for number, values in optimizer.state_dict()["state"].items()
            for name, value in values.items()
        }

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Continue from a state that :meth:`tensors` gave."""
        state: list[dict[int, dict[str, Tensor]]] = [{} for _ in self._each]
        for key, value in tensors.items():
            which, number, name = key.split(".")
            state[int(which)].setdefault(int(number), {})[name] = value
        for optimizer, of_parameter in zip(self._each, state, strict=True):
            optimizer.load_state_dict(optimizer.state_dict() | {"state": of_parameter})


def hidden_matrices(model: nn.Module) -> Iterator[nn.Parameter]:
    """The matrices that lead from one hidden layer to another, each once.

    The embeddings and the output layer are left out: they have one row per word, and at most steps most rows of an
    embedding have no gradient.
    """
    of_words = set()
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            of_words.add(id(module.weight))
        if isinstance(module, EncoderDecoder):
            of_words.add(id(module.decoder.output.weight))
    for parameter in model.parameters():
        if parameter.ndim == 2 and min(parameter.shape) > 1 and id(parameter) not in of_words:
            yield parameter
