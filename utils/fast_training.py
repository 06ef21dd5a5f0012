r"""A fast form of the loss of a translator: up to rounding the same number and the same gradients, in less memory.

Most multiplications of a translator are in its output layer. With autograd the scores of all tokens over all words,
their softmax and its gradient are in memory at the same time. Here the output layer reads the real tokens only, and
the product, the loss and the gradient are computed for a few hundred of them at a time; only sums stay in memory.

With hidden vectors :math:`m_i`, scores :math:`x_i = W m_i + b`, true words :math:`y_i` and label smoothing
:math:`\varepsilon` over V words, the mean loss of N tokens is

.. math::
    L &= \frac1N \sum_i L_i \\
    L_i &= \log \sum_v \exp(x_{iv}) - (1 - \varepsilon)\, x_{i y_i} \\
        &\qquad - \frac{\varepsilon}{V} \sum_v x_{iv} .

The gradient of the first term is the softmax, those of the others are constants:

.. math::
    g_{iv} = \frac{\partial L}{\partial x_{iv}}
        &= \frac1N \Big( \operatorname{softmax}(x_i)_v \\
        &\qquad - (1 - \varepsilon) [v = y_i] - \frac{\varepsilon}{V} \Big)

and the product passes it on: :math:`\partial L / \partial m_i = W^\top g_i`,
:math:`\partial L / \partial W = \sum_i g_i m_i^\top`, :math:`\partial L / \partial b = \sum_i g_i`. Later
steps only multiply these gradients by a factor, so they are computed in the forward pass.

Explained in book/speed.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from utils.checks import check_count, check_number
from utils.corpus.batches import Batch
from utils.corpus.vocabulary import PAD
from utils.seq2seq import EncoderDecoder, RecurrentDecoder
from utils.training import batch_loss
from utils.transformer import TransformerDecoder

__all__ = ["attention_weights", "fast_loss", "vocabulary_loss"]


def fast_loss(model: EncoderDecoder, batch: Batch, *, label_smoothing: float = 0.0) -> Float[Tensor, ""]:
    """A fast form of :func:`utils.training.batch_loss`; for a decoder with its own ``forward`` it calls that function.

    Under ``torch.autocast`` the products are taken in its dtype, and so is the softmax over the vocabulary. Sums over
    tokens stay in float32.

    Args:
        model: a translator.
        batch: padded sentence pairs.
        label_smoothing: share of the target probability that is spread evenly over the vocabulary.

    Raises:
        ValueError: a length below 1 or above n, or targets that are all padding.
    """
    decoder, real = model.decoder, batch.tgt_out != PAD
    if type(decoder).forward is RecurrentDecoder.forward:
        features = decoder.features(batch.tgt_in, *model.start(batch.src, batch.src_lens))[0]
        hidden = decoder.read_out(features[real])
    elif type(decoder).forward is TransformerDecoder.forward:
        start = model.start(batch.src, batch.src_lens)
        hidden = decoder.features(batch.tgt_in, *start, need_weights=False)[0][real]
    else:
        return batch_loss(model, batch, label_smoothing=label_smoothing)
    output = decoder.output
    return vocabulary_loss(
        hidden, output.weight, output.bias, batch.tgt_out[real], label_smoothing=label_smoothing
    )


def attention_weights(model: EncoderDecoder, batch: Batch) -> Float[Tensor, "batch t n"] | None:
    """The weights that ``model(...)`` returns for the words of a batch, without the product with the vocabulary.

    Returns:
        One row per word of ``batch.tgt_in``; None for a decoder without attention.
    """
    if type(model.decoder).forward is RecurrentDecoder.forward:
        return model.decoder.features(batch.tgt_in, *model.start(batch.src, batch.src_lens))[2]
    if type(model.decoder).forward is TransformerDecoder.forward:
        return model.decoder.features(batch.tgt_in, *model.start(batch.src, batch.src_lens))[2].mean(dim=1)
    return model(batch.src, batch.src_lens, batch.tgt_in)[1]


def vocabulary_loss(
    hidden: Float[Tensor, "tokens d"],
    weight: Float[Tensor, "vocab d"],
    bias: Float[Tensor, " vocab"],
    target: Int[Tensor, " tokens"],
    *,
    label_smoothing: float = 0.0,
    chunk: int = 640,
) -> Float[Tensor, ""]:
    """Mean cross-entropy of ``hidden @ weight.T + bias`` against the true words, a chunk of tokens at a time.

    Gives the same number as ``cross_entropy(linear(hidden, weight, bias), target)``, and the same gradients. The
    products, the softmax and the gradient of ``hidden`` are in the dtype of ``hidden``; the loss and the gradients
    of weight and bias are summed in the dtype of the weight. The gradient cannot be differentiated again.
    ``linear_cross_entropy`` of torch 2.13, which works in pieces too, takes 250 ms where this takes 138 and the plain
    form 177 (1,280 words of width 256, 10,000 pieces, float32, two threads of a CPU): to be measured again with the
    next torch.

    Args:
        hidden: what the output layer reads, one row per token; no padding.
        weight: of the output layer; may have a more precise dtype than ``hidden``.
        bias: of the output layer.
        target: the true words.
        label_smoothing: share of the target probability that is spread evenly over the vocabulary.
        chunk: tokens at a time; memory grows with ``chunk * vocab``.

    Raises:
        ValueError: no token, a true word that the vocabulary does not have, a share that is not from 0 to 1, or a chunk
            below 1.

    >>> vocabulary_loss(torch.zeros(3, 5), torch.ones(8, 5), torch.zeros(8), torch.tensor([0, 7, 7]))  # log 8
    tensor(2.0794)
    """
    if len(hidden) == 0:
        raise ValueError("hidden must hold at least one token, got none")
    smallest, largest = (int(word) for word in target.aminmax())
    if smallest < 0 or largest >= len(weight):
        raise ValueError(f"target must have words from 0 to {len(weight) - 1}, got {smallest} to {largest}")
    check_number(0, 1, label_smoothing=label_smoothing)
    check_count(1, chunk=chunk)
    # Inside a Function, gradients are always disabled, so whether they are needed is decided here.
    needs_gradient = torch.is_grad_enabled() and any(
        tensor.requires_grad for tensor in (hidden, weight, bias)
    )
    return _VocabularyLoss.apply(hidden, weight, bias, target, label_smoothing, chunk, needs_gradient)


class _VocabularyLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, weight, bias, target, label_smoothing, chunk, needs_gradient):
        device = hidden.device.type
        with torch.autocast(device, enabled=False):  # _forward chooses the dtypes
            return _forward(ctx, hidden, weight, bias, target, label_smoothing, chunk, needs_gradient)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, d_loss):
        return (*(d_loss.to(gradient.dtype) * gradient for gradient in ctx.saved_tensors), *[None] * 4)


def _forward(ctx, hidden, weight, bias, target, label_smoothing, chunk, needs_gradient):
    num, vocab = len(hidden), len(weight)
    weight_cast, bias_cast = weight.to(hidden.dtype), bias.to(hidden.dtype)
    # The scores of the true words and the mean scores need no product with the whole vocabulary.
    hidden_cast = hidden.to(weight.dtype)
    true_sum = (hidden_cast * weight[target]).sum() + bias[target].sum()
    mean_sum = hidden_cast.sum(dim=0) @ weight.mean(dim=0) + num * bias.mean()
    total = -(1 - label_smoothing) * true_sum - label_smoothing * mean_sum
    # All chunks use the same memory, because allocating so much takes longer than filling it.
    scores = hidden.new_empty(min(chunk, num), vocab)
    probabilities = torch.empty_like(scores)
    if needs_gradient:
        d_hidden, d_weight, d_bias = map(torch.zeros_like, (hidden, weight, bias))
        chunk_d_weight = torch.empty_like(weight_cast)
    for start in range(0, num, chunk):
        m, y = hidden[start : start + chunk], target[start : start + chunk]
        x = torch.addmm(bias_cast, m, weight_cast.T, out=scores[: len(m)])
        highest = x.amax(dim=-1).to(weight.dtype)
        p = torch.softmax(x, dim=-1, out=probabilities[: len(m)])
        total += (highest - p.amax(dim=-1).to(weight.dtype).log()).sum()  # log-sum-exp: p = e^{x - lse}
        if needs_gradient:
            g = p.sub_(label_smoothing / vocab)
            g[torch.arange(len(y), device=y.device), y] += g.new_tensor(label_smoothing - 1)
            torch.mm(g, weight_cast, out=d_hidden[start : start + chunk])
            d_weight += torch.mm(g.T, m / num, out=chunk_d_weight)
            d_bias += g.sum(dim=0)
    if needs_gradient:
        ctx.save_for_backward(d_hidden / num, d_weight, d_bias / num)
    return total / num
