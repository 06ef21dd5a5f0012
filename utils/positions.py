r"""Positions in the scores: queries and keys that are turned, and scores that fall with the distance.

Vectors that are added to the words are :func:`utils.transformer.sinusoids`; the model that has a choice of positions is
:class:`utils.fast_decoding.GPT`.
Explained in chapters/positions.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from utils.checks import check_count, check_positive

__all__ = ["alibi", "rotate"]


def rotate(
    x: Float[Tensor, "*batch n d"], *, start: int = 0, base: float = 10_000.0, halves: bool = False
) -> Float[Tensor, "*batch n d"]:
    r"""Rotary positions: each pair of numbers is turned by an angle that grows with the place of its vector.

    .. math::
        x'_{2i} &= x_{2i} \cos t\theta_i - x_{2i+1} \sin t\theta_i \\
        x'_{2i+1} &= x_{2i} \sin t\theta_i + x_{2i+1} \cos t\theta_i

    with the angles :math:`t\theta_i` at place t, where :math:`\theta_i = \mathrm{base}^{-2i/d}`.

    The dot product of a turned query and a turned key depends on the two vectors and on their distance alone.

    Args:
        x: queries or keys, one for each place.
        start: the place of the first.
        base: sets the slowest rate; the rates are those of :func:`utils.transformer.sinusoids` for 10,000.
        halves: pair component i with i + d/2, as ``rotate_half`` of the library transformers does; by default with its
            neighbour, as in the paper. A trained model needs the convention of its training.

    Raises:
        ValueError: whole numbers, an odd width, fewer than two axes, a place below 0 or beyond 2^24, the last that
            float32 tells from the next, or a base that is not positive and finite.

    >>> rotate(torch.tensor([[1.0, 0.0]]), start=1)  # cos 1 and sin 1
    tensor([[0.5403, 0.8415]])

    Source: Su et al. (2021), section 3.2 and equation 34. Explained in chapters/positions.
    """
    if not x.is_floating_point():  # the cosine of an angle would be rounded to 0 or 1
        raise ValueError(f"x must have a floating-point dtype, got {x.dtype}")
    if x.dim() < 2 or x.shape[-1] % 2:
        raise ValueError(f"x must have at least two axes and an even width, got shape {tuple(x.shape)}")
    check_count(0, 2**24 - x.shape[-2], start=start)  # float32 does not tell later places apart
    check_positive(base=base)
    # Places and angles are float32, whatever the default type is: float16 has no place 2049.
    exact = {"dtype": torch.float32, "device": x.device}
    rates = base ** (-torch.arange(0, x.shape[-1], 2, **exact) / x.shape[-1])
    angles = torch.arange(start, start + x.shape[-2], **exact)[:, None] * rates
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    axis = -2 if halves else -1
    a, b = x.unflatten(-1, (2, -1) if halves else (-1, 2)).unbind(dim=axis)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=axis).flatten(-2)


def alibi(
    num_heads: int, num_queries: int, num_keys: int | None = None
) -> Float[Tensor, "heads queries keys"]:
    r"""What ALiBi adds to the scores: each head subtracts its slope times the distance of the key; later keys get -inf.

    .. math::
        b_{hij} &= -m_h\,(i - j) \\
        m_h &= 2^{-8h/H}, \quad h = 1, \dots, H

    Args:
        num_heads: H. The paper's slopes are these for powers of two.
        num_queries: number of queries, which stand at the last places.
        num_keys: number of places; ``num_queries`` if None.

    Raises:
        ValueError: more queries than keys, or a number that cannot be.

    >>> alibi(8, 1, 3)[1]  # the second of 8 heads has the slope 1/4
    tensor([[-0.5000, -0.2500,  0.0000]])

    Source: Press et al. (2022), section 3. Explained in chapters/positions.
    """
    check_count(1, num_heads=num_heads)
    check_count(0, num_queries=num_queries)
    num_keys = num_queries if num_keys is None else num_keys
    check_count(num_queries, num_keys=num_keys)
    distance = torch.arange(num_keys - num_queries, num_keys)[:, None] - torch.arange(num_keys)
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1, dtype=torch.float32) / num_heads)
    bias = slopes[:, None, None] * -distance
    return (bias + 0.0).masked_fill(distance < 0, -math.inf)  # + 0.0 turns -0 into 0
