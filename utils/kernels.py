"""Kernels, and Nadaraya-Watson regression: the weighted average that attention grew from.

Each kernel is a plain function of the scaled distance u; networks and masks live in ``attention``.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor


def gaussian(u: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""Gaussian kernel :math:`K(u) = e^{-u^2/2} / \sqrt{2\pi}`; never 0.

    >>> round(gaussian(torch.tensor(0.0)).item(), 4)
    0.3989
    """
    return torch.exp(-(u**2) / 2) / math.sqrt(2 * math.pi)


def boxcar(u: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""Boxcar (uniform) kernel :math:`K(u) = \tfrac12` for :math:`|u| \le 1`, else 0.

    >>> boxcar(torch.tensor([0.0, 1.0, 1.5]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    return (u.abs() <= 1).to(u.dtype) / 2


def triangular(u: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""Triangular kernel :math:`K(u) = \max(0, 1 - |u|)`, which some tutorials call Epanechnikov.

    >>> triangular(torch.tensor([0.0, 0.25, 2.0]))
    tensor([1.0000, 0.7500, 0.0000])
    """
    return (1 - u.abs()).clamp(min=0)


def epanechnikov(u: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""Epanechnikov kernel :math:`K(u) = \tfrac34 \max(0, 1 - u^2)`.

    >>> epanechnikov(torch.tensor([0.0, 0.5, 1.0]))
    tensor([0.7500, 0.5625, 0.0000])

    Source: Epanechnikov (1969).
    """
    return 0.75 * (1 - u**2).clamp(min=0)


def nadaraya_watson(
    queries: Float[Tensor, "queries *d"],
    keys: Float[Tensor, "keys *d"],
    values: Float[Tensor, "keys *d_v"],
    *,
    kernel: Callable[[Tensor], Tensor] = gaussian,
    bandwidth: float | Tensor = 1.0,
) -> tuple[Float[Tensor, "queries *d_v"], Float[Tensor, "queries keys"]]:
    r"""Nadaraya-Watson regression: a weighted average of the values of the keys near each query.

    .. math:: f(q) = \sum_i \frac{K(\lVert q - k_i \rVert / h)}{\sum_j K(\lVert q - k_j \rVert / h)}\, v_i

    Args:
        queries: where to estimate; numbers ``(queries,)`` or vectors ``(queries, d)``.
        keys: where values were observed, as ``queries``.
        values: what was observed at each key: numbers or vectors.
        kernel: a function of the scaled distance u, 0 or more everywhere.
        bandwidth: the width h > 0, in the unit of the keys; a tensor may require a gradient.

    Returns:
        The estimate, and the weights. A query with no key in its window has weights of 0 and the estimate 0,
        as an empty row of :func:`utils.attention.masked_softmax` has.

    Raises:
        ValueError: a bandwidth that is not positive, no key at all, or shapes that do not fit.

    >>> x = torch.tensor([0.0, 1.0, 4.0])
    >>> nadaraya_watson(torch.tensor([0.5]), x, torch.tensor([2.0, 4.0, 9.0]), kernel=boxcar)
    (tensor([3.]), tensor([[0.5000, 0.5000, 0.0000]]))

    Source: Nadaraya (1964); Watson (1964). Explained in chapters/nadaraya_watson.
    """
    if not bool(torch.as_tensor(bandwidth) > 0):
        raise ValueError(f"bandwidth must be positive, got {float(bandwidth)}")
    if len(keys) == 0 or len(keys) != len(values):
        raise ValueError(f"keys and values must be as many, and at least one: {len(keys)} and {len(values)}")
    if queries.shape[1:] != keys.shape[1:]:
        raise ValueError(
            f"queries and keys must have the same width: {tuple(queries.shape)} and {tuple(keys.shape)}"
        )
    difference = queries[:, None] - keys[None]
    distance = difference.abs() if difference.dim() == 2 else difference.norm(dim=-1)
    kernel_values = kernel(distance / bandwidth)
    total = kernel_values.sum(dim=1, keepdim=True)
    weights = kernel_values / total.masked_fill(total == 0, 1.0)
    return torch.tensordot(weights, values, dims=1), weights
