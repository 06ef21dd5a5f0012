"""Kernels, and Nadaraya-Watson regression: a weighted average, and a forerunner of attention.

Each kernel is a plain function of the scaled distance u; scores, masks and networks are in ``attention``.
Explained in chapters/nadaraya_watson.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from utils.attention import masked_softmax, power_below, widened

__all__ = ["boxcar", "gaussian", "nadaraya_watson"]


def gaussian(u: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""Gaussian kernel :math:`K(u) = e^{-u^2/2} / \sqrt{2\pi}`.

    It is positive everywhere, but float32 rounds it to 0 from about u = 14.4 on; :func:`nadaraya_watson` avoids that
    if no kernel is named.

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


def nadaraya_watson(
    queries: Float[Tensor, "queries *d"],
    keys: Float[Tensor, "keys *d"],
    values: Float[Tensor, "keys *d_v"],
    *,
    kernel: Callable[[Tensor], Tensor] | None = None,
    bandwidth: float | Tensor = 1.0,
    mask: Bool[Tensor, "queries keys"] | None = None,
) -> tuple[Float[Tensor, "queries *d_v"], Float[Tensor, "queries keys"]]:
    r"""Nadaraya-Watson regression: a weighted average of the values of the keys near each query.

    .. math:: f(q) = \sum_i \frac{K(\lVert q - k_i \rVert / \lambda)}{\sum_j K(\lVert q - k_j \rVert / \lambda)}\, v_i

    Without a kernel the weights are the softmax of the scores :math:`-\lVert q - k_i \rVert^2 / 2\lambda^2`: those of
    :func:`gaussian`, and still right where a query is so far from every key that this kernel is rounded to 0.

    Args:
        queries: where to estimate; numbers ``(queries,)`` or vectors ``(queries, d)``.
        keys: where values were observed, of the same form as ``queries``.
        values: what was observed at each key: numbers or vectors.
        kernel: a function of the scaled distance u, never negative; the Gaussian, by the softmax, if None.
        bandwidth: the width λ > 0, in the unit of the keys; a tensor without axes may require a gradient.
        mask: True where a query may use a key; None allows all. ``~torch.eye(n, dtype=torch.bool)`` leaves
            each of n observations out of its own estimate.

    Returns:
        The estimate, and the weights. A query with no key in its window has the weights 0 and the estimate 0,
        like an empty row of :func:`utils.attention.masked_softmax`.

    Raises:
        ValueError: a bandwidth that is not one positive number, no key, a kernel with negative numbers, or shapes
            or dtypes that do not fit.

    >>> x = torch.tensor([0.0, 1.0, 4.0])
    >>> nadaraya_watson(torch.tensor([0.5]), x, torch.tensor([2.0, 4.0, 9.0]), kernel=boxcar)
    (tensor([3.]), tensor([[0.5000, 0.5000, 0.0000]]))

    Source: Nadaraya (1964); Watson (1964). Explained in chapters/nadaraya_watson.
    """
    _check(queries, keys, values, bandwidth, mask)
    difference = queries[:, None] - keys[None]
    distance = difference.abs() if difference.dim() == 2 else _length(difference)
    if kernel is None:
        weights = _gaussian_weights(distance, bandwidth, mask)
    else:
        kernel_values = kernel(distance / bandwidth)
        if kernel_values.shape != distance.shape or (kernel_values < 0).any():
            raise ValueError("kernel must give a number for each distance, and none below 0")
        weights = _kernel_weights(kernel_values, mask)
    return torch.tensordot(weights, values, dims=1), weights


def _length(vectors: Tensor) -> Tensor:
    scale = power_below(vectors)
    return (vectors / scale).norm(dim=-1) * scale.squeeze(-1)


def _gaussian_weights(distance: Tensor, bandwidth: float | Tensor, mask: Tensor | None) -> Tensor:
    # A softmax does not change when a number is added to a whole row, so the exponents are (m² - d²)/2λ², where m is
    # the distance d of the nearest key. The product of (m - d)/λ and (m + d)/2λ keeps its digits at large distances,
    # where a difference of squares does not. If the second factor overflows, the largest number takes its place:
    # the nearest key keeps the exponent 0, because its first factor is 0, and all others get minus infinity.
    allowed = distance if mask is None else distance.masked_fill(~mask, math.inf)
    nearest = allowed.amin(dim=1, keepdim=True)
    nearest = nearest.masked_fill(nearest == math.inf, 0.0)  # a row without any allowed key
    mean = (nearest / 2 + distance / 2) / bandwidth
    return masked_softmax(
        (nearest - distance) / bandwidth * mean.clamp(max=torch.finfo(mean.dtype).max), mask
    )


def _kernel_weights(kernel_values: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None:
        kernel_values = kernel_values.masked_fill(~mask, 0.0)
    total = widened(kernel_values).sum(dim=1, keepdim=True)
    return (kernel_values / total.masked_fill(total == 0, 1.0)).to(kernel_values.dtype)


def _check(
    queries: Tensor, keys: Tensor, values: Tensor, bandwidth: float | Tensor, mask: Tensor | None
) -> None:
    width = torch.as_tensor(bandwidth)
    if width.dim() != 0 or not bool(width > 0):
        raise ValueError(f"bandwidth must be one positive number, got {width.tolist()}")
    if queries.dim() not in (1, 2) or keys.dim() != queries.dim() or queries.shape[1:] != keys.shape[1:]:
        raise ValueError(
            "queries and keys must be numbers (n,) or vectors (n, d) of the same width, "
            f"got {tuple(queries.shape)} and {tuple(keys.shape)}"
        )
    if len(keys) == 0 or keys.shape[:1] != values.shape[:1]:
        raise ValueError(
            "keys and values must have the same length, at least 1, "
            f"got shapes {tuple(keys.shape)} and {tuple(values.shape)}"
        )
    if not (queries.is_floating_point() and queries.dtype == keys.dtype == values.dtype):
        raise ValueError(
            "queries, keys and values must share a floating-point dtype, "
            f"got {queries.dtype}, {keys.dtype} and {values.dtype}"
        )
    if mask is not None and (mask.dtype != torch.bool or mask.shape != (len(queries), len(keys))):
        raise ValueError(
            f"mask must be boolean (True = may use) of shape {(len(queries), len(keys))}, "
            f"got {mask.dtype} of shape {tuple(mask.shape)}"
        )
