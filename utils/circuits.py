r"""A network of attention alone, in which a part of one run can be replaced by that of another run.

Here live the network, the scores that name a head by what it looks at, and the two products of a head's matrices. The
data, the training and the experiments are in chapters/inside_heads, which explains all of this.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from utils.attention import masked_softmax
from utils.checks import check_count, check_heads, check_width
from utils.seq2seq import word_vectors
from utils.transformer import causal_mask, check_heads_of

__all__ = [
    "Activations",
    "AttentionOnly",
    "CausalHeads",
    "Place",
    "at_place",
    "induction_score",
    "output_value_circuit",
    "previous_token_score",
    "query_key_circuit",
]

#: A layer, or a layer and one of its heads; both are counted from 0.
Place = int | tuple[int, int]


class Activations(NamedTuple):
    """All that a network computes from a text.

    ``logits`` are those of the next word at each place. ``states`` has what each layer reads, and last what the output
    layer reads; ``outputs`` has for each layer what each head adds to the state, and ``weights`` those of each head.
    """

    logits: Float[Tensor, "*batch n vocab"]
    states: list[Float[Tensor, "*batch n d_model"]]
    outputs: list[Float[Tensor, "*batch heads n d_model"]]
    weights: list[Float[Tensor, "*batch heads n n"]]


class CausalHeads(nn.Module):
    r"""The heads of a layer, which look back; each has four matrices and a number for each distance.

    .. math::
        e_{ij} &= \frac{x_i W_q \cdot x_j W_k}{\sqrt{d_k}} + b_{i - j} \\
        \text{output}_i &= \sum_{j \le i} \alpha_{ij}\, x_j W_v W_o

    The vectors are rows, so that :math:`x W` is the code. There are no other biases: the two products of
    :func:`query_key_circuit` and :func:`output_value_circuit` say all about a head but its distances.

    Args:
        d_model: width of the states.
        num_heads: number of heads; each has the width ``d_model / num_heads``.
        max_len: the longest text, which is the number of distances.

    Raises:
        ValueError: a width that the heads cannot share evenly.

    Source: the distances are those of Raffel et al. (2020), section 2.1, without their bins. Explained in
    chapters/inside_heads.
    """

    def __init__(self, d_model: int, num_heads: int, *, max_len: int):
        super().__init__()
        check_heads(d_model, num_heads)
        check_count(1, max_len=max_len)
        d_head, spread = d_model // num_heads, 0.5 * d_model**-0.5
        shapes = {"w_q": (d_model, d_head), "w_k": (d_model, d_head), "w_v": (d_model, d_head)}
        for name, shape in (shapes | {"w_o": (d_head, d_model)}).items():
            setattr(self, name, nn.Parameter(spread * torch.randn(num_heads, *shape)))
        self.distance = nn.Parameter(torch.zeros(num_heads, max_len))

    def forward(
        self, x: Float[Tensor, "*batch n d_model"]
    ) -> tuple[Float[Tensor, "*batch heads n d_model"], Float[Tensor, "*batch heads n n"]]:
        """What each head adds to the states, and its weights.

        Raises:
            ValueError: another width than ``d_model``, or a text longer than ``max_len``.
        """
        check_width(self.w_q.shape[1], x=x)
        n, max_len = x.shape[-2], self.distance.shape[1]
        if n > max_len:
            raise ValueError(f"x must have at most {max_len} places, got {n}")
        q, k, v = (torch.einsum("...nm,hmd->...hnd", x, w) for w in (self.w_q, self.w_k, self.w_v))
        places = torch.arange(n, device=x.device)
        back = (places[:, None] - places).clamp(min=0)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + self.distance[:, back]
        weights = masked_softmax(scores, causal_mask(n, device=x.device))
        return torch.einsum("...hnd,hdm->...hnm", weights @ v, self.w_o), weights


class AttentionOnly(nn.Module):
    """Embeddings, layers of heads that add to the states, and an output matrix: no feed-forward network, no norm.

    Args:
        vocab_size: number of words.
        d_model: width of the states.
        num_heads: of each layer.
        num_layers: number of layers.
        max_len: the longest text.

    >>> model = AttentionOnly(5, 4, num_heads=2, max_len=3)
    >>> run = model(torch.tensor([[1, 4, 1]]))
    >>> tuple(run.logits.shape), len(run.states), len(run.weights)
    ((1, 3, 5), 3, 2)
    >>> bool((run.states[1] == run.states[0] + run.outputs[0].sum(dim=1)).all())
    True

    Source: Elhage et al. (2021), "Two-Layer Attention-Only Transformers". Explained in chapters/inside_heads.
    """

    def __init__(self, vocab_size: int, d_model: int, *, num_heads: int, num_layers: int = 2, max_len: int):
        super().__init__()
        check_count(1, vocab_size=vocab_size, d_model=d_model, num_heads=num_heads, max_len=max_len)
        check_count(0, num_layers=num_layers)
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.layers = nn.ModuleList(
            CausalHeads(d_model, num_heads, max_len=max_len) for _ in range(num_layers)
        )
        self.output = nn.Linear(d_model, vocab_size, bias=False)

    def forward(
        self, tokens: Int[Tensor, "*batch n"], *, replace: Mapping[Place, Tensor | float] | None = None
    ) -> Activations:
        """Run the network, with parts replaced.

        Args:
            tokens: ids of the words.
            replace: tensors that stand in for those of this run: under the key ``(layer, head)`` the output of a
                head, under the key ``layer`` the states that this layer reads (the number of layers is the key of
                the states that the output matrix reads). A number stands for a tensor full of it, so 0 under
                ``(layer, head)`` switches this head off.

        Raises:
            ValueError: a word that the network does not have, a key that names no part of it, or a tensor of another
                shape than this part.
        """
        if not isinstance(replace, Mapping | None):  # a list of pairs would be read as keys and numbers
            raise ValueError(f"replace must be a dict of layers and heads, got {type(replace).__name__}")
        replace = dict(replace or {})
        x, states, outputs, weights = word_vectors(self.embedding, tokens=tokens), [], [], []
        for number, layer in enumerate(self.layers):
            x = _replaced(x, replace, number)
            states.append(x)
            output, layer_weights = layer(x)
            if replace:
                heads = [
                    _replaced(head, replace, (number, i)) for i, head in enumerate(output.unbind(dim=-3))
                ]
                output = torch.stack(heads, dim=-3)
            outputs.append(output)
            weights.append(layer_weights)
            x = x + outputs[-1].sum(dim=-3)
        states.append(_replaced(x, replace, len(self.layers)))
        if replace:
            raise ValueError(f"replace must name layers and heads of this network, got {list(replace)}")
        return Activations(self.output(states[-1]), states, outputs, weights)


def _replaced(part: Tensor, replace: dict[Place, Tensor | float], place: Place) -> Tensor:
    """The part, or what stands in for it, which is taken out of ``replace``."""
    if place not in replace:
        return part
    other = torch.as_tensor(replace.pop(place), dtype=part.dtype, device=part.device)
    if other.dim() and other.shape != part.shape:
        raise ValueError(
            f"replace[{place}] must have the shape {tuple(part.shape)}, got {tuple(other.shape)}"
        )
    return other.expand(part.shape)


def at_place(
    ours: Float[Tensor, "*batch n d"], theirs: Float[Tensor, "..."], place: int
) -> Float[Tensor, "*batch n d"]:
    """Our vectors, but at one place theirs: what :class:`AttentionOnly` needs to patch a run in one place.

    Args:
        place: counted from 0, or from the end: -1 is the last.

    Raises:
        ValueError: tensors of different shapes or dtypes, or a place that they do not have.

    >>> at_place(torch.zeros(3, 1), torch.ones(3, 1), 1).flatten()
    tensor([0., 1., 0.])
    """
    if ours.shape != theirs.shape:
        raise ValueError(f"theirs must have the shape {tuple(ours.shape)}, got {tuple(theirs.shape)}")
    if ours.dtype != theirs.dtype:  # fractions would be cut off where ours are whole numbers
        raise ValueError(f"theirs must have the dtype {ours.dtype}, got {theirs.dtype}")
    check_count(-ours.shape[-2], ours.shape[-2] - 1, place=place)
    mixed = ours.clone()
    mixed[..., place, :] = theirs[..., place, :]
    return mixed


def previous_token_score(weights: Float[Tensor, "*batch n n"]) -> Float[Tensor, "*batch"]:
    """How much weight lies on the word just before the query, on average over all queries but the first.

    Raises:
        ValueError: fewer than two places, or another number of keys than of queries.

    >>> previous_token_score(torch.tensor([[1.0, 0.0, 0.0], [0.8, 0.2, 0.0], [0.1, 0.6, 0.3]]))
    tensor(0.7000)

    Source: Olsson et al. (2022). Explained in chapters/inside_heads.
    """
    if weights.dim() < 2 or weights.shape[-2] != weights.shape[-1] or weights.shape[-1] < 2:
        raise ValueError(
            f"weights must be those of at least two places, as many keys as queries, got shape {tuple(weights.shape)}"
        )
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1)


def induction_score(
    weights: Float[Tensor, "batch heads n n"], tokens: Int[Tensor, "batch n"]
) -> Float[Tensor, " heads"]:
    """How much weight lies on words that followed the query's own word earlier in the text.

    The average is over all places whose word stood in the text before.

    Raises:
        ValueError: no word stands twice in any text, or weights that are not those of these texts.

    >>> tokens = torch.tensor([[7, 8, 7]])  # the last 7 should look at the 8, which followed the first 7
    >>> weights = torch.tensor([[[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.7, 0.1]]]])
    >>> induction_score(weights, tokens)
    tensor([0.7000])

    Source: the prefix matching score of Olsson et al. (2022). Explained in chapters/inside_heads.
    """
    n = tokens.shape[-1]
    if (
        tokens.dim() != 2
        or weights.dim() != 4
        or weights.shape[:1] + weights.shape[2:] != (len(tokens), n, n)
    ):
        raise ValueError(
            "weights must have the shape (batch, heads, n, n) for tokens of shape (batch, n), "
            f"got {tuple(weights.shape)} and {tuple(tokens.shape)}"
        )
    same = (tokens[:, :, None] == tokens[:, None, :]) & causal_mask(n, device=tokens.device).tril(-1)
    after = same.roll(1, dims=-1)  # column j is True if the word before j is the query's own
    after[..., 0] = False
    asked = same.any(dim=-1)
    if not asked.any():
        raise ValueError("tokens must have a word that stands twice in a text, got none")
    found = (weights * after[:, None]).sum(dim=-1)  # (batch, heads, n)
    return found.movedim(1, 0)[:, asked].mean(dim=-1)


def _check_head(model: AttentionOnly, layer: int, head: int) -> None:
    check_count(0, len(model.layers) - 1, layer=layer)
    check_count(0, len(model.layers[layer].w_q) - 1, head=head)


def _written(model: AttentionOnly, layer: int, head: int) -> Float[Tensor, "vocab d_model"]:
    """What a head adds to the state of a place that looks at one word alone, for each word."""
    _check_head(model, layer, head)
    heads = model.layers[layer]
    return model.embedding.weight @ heads.w_v[head] @ heads.w_o[head]


def query_key_circuit(
    model: AttentionOnly, layer: int, head: int, *, through: tuple[int, int] | None = None
) -> Float[Tensor, "asks vocab"]:
    r"""What a head asks for: the part of a score that depends on the word at the query and on a word at the key.

    .. math::
        & E W_q W_k^\top E^\top / \sqrt{d_k} \quad\text{or} \\
        & E W_q W_k^\top (E W_v' W_o')^\top / \sqrt{d_k}

    Args:
        through: layer and number of an earlier head, with the matrices :math:`W_v'` and :math:`W_o'`. Then the column
            is not the word at the key's place, but the word that the earlier head has looked at there.

    Returns:
        A row for each word at the query, a column for each word at the key.

    Raises:
        ValueError: a head that the model does not have, or one in ``through`` that is not in an earlier layer.

    Source: Elhage et al. (2021), "QK circuit" and "K-composition". Explained in chapters/inside_heads.
    """
    _check_head(model, layer, head)
    heads = model.layers[layer]
    read = model.embedding.weight
    if through is not None:
        [(earlier, number)] = check_heads_of(len(model.layers), len(heads.w_q), through=[through])
        if earlier >= layer:
            raise ValueError(f"through must name a head of a layer before {layer}, got {through}")
        read = _written(model, earlier, number)
    queries, keys = model.embedding.weight @ heads.w_q[head], read @ heads.w_k[head]
    return queries @ keys.T / math.sqrt(queries.shape[-1])


def output_value_circuit(model: AttentionOnly, layer: int, head: int) -> Float[Tensor, "vocab writes"]:
    r"""What a head writes: how far it moves the logit of each word (columns) if it looks at one word alone (rows).

    .. math:: E W_v W_o U

    Raises:
        ValueError: a head that the model does not have.

    Source: Elhage et al. (2021), "OV circuit". Explained in chapters/inside_heads.
    """
    return _written(model, layer, head) @ model.output.weight.T
