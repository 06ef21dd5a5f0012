"""Checks of the exercises of chapters/real_network."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from utils.exercises.tables import Case, against

_RANDOM = torch.Generator().manual_seed(0)
_PARTS = ("query", "key", "value")
_Embed = Callable[[Sequence[str]], Tensor]


def _layer(d: int) -> dict[str, Tensor]:
    """Random matrices with the names that a layer of the file has."""
    return {
        f"attention.self.{part}.{kind}": torch.randn(shape, generator=_RANDOM)
        for part in _PARTS
        for kind, shape in (("weight", (d, d)), ("bias", (d,)))
    }


def _changed(layer: dict[str, Tensor], part: str, change: Callable[[Tensor], Tensor]) -> dict[str, Tensor]:
    return {name: change(tensor) if name.endswith(part) else tensor for name, tensor in layer.items()}


def _heads(
    h: Tensor,
    layer: dict[str, Tensor],
    real: Tensor,
    num_heads: int,
    *,
    width: int | None = None,
    axis: int = -1,
    viewed: bool = False,
    mixed: bool = False,
) -> tuple[Tensor, Tensor]:
    """The context and the weights, right or with one of the mistakes."""
    parts = []
    for part in _PARTS:
        x = h @ layer[f"attention.self.{part}.weight"].T + layer[f"attention.self.{part}.bias"]
        batch, n, _ = x.shape
        parts += [
            x.view(batch, num_heads, n, -1) if viewed else x.unflatten(-1, (num_heads, -1)).transpose(1, 2)
        ]
    q, k, v = parts
    scores = (q @ k.mT / (width or q.shape[-1]) ** 0.5).masked_fill(~real[:, None, None], float("-inf"))
    weights = scores.softmax(dim=axis)
    context = weights @ v
    return (context.reshape(h.shape) if mixed else context.transpose(1, 2).flatten(2)), weights


def _sentences(says: str, num_heads: int, d: int, lens: tuple[int, int]) -> Case:
    h, real = torch.randn(2, 5, d, generator=_RANDOM), torch.arange(5) < torch.tensor(lens)[:, None]
    joined = "Move the axis of the heads back, and join the last two: `.transpose(1, 2).flatten(2)`."
    return Case(
        says, (h, _layer(d), real, num_heads), f"{says} the weights and the context are right", joined
    )


@against(
    1,
    "Split the last axis into the heads, `unflatten(-1, (num_heads, -1))`, and move the axis of the heads before that "
    "of the pieces with `transpose(1, 2)`.",
    "Divide the scores by the root of the width of **one head**, and give the columns where `real` is False the score "
    "minus infinity: `masked_fill(~real[:, None, None], float('-inf'))`.",
    cases=[
        _sentences("for two sentences of 5 pieces", 3, 6, (5, 5)),
        _sentences("for sentences of 5 and of 2 pieces", 2, 14, (5, 2)),
    ],
    mistakes={
        "the matrices are not transposed | The file has W with a row for each output: x @ W.T + b.": (
            lambda h, layer, *rest: _heads(h, _changed(layer, "weight", lambda w: w.T), *rest)
        ),
        "the biases are missing | Each of the three has a bias.": (
            lambda h, layer, *rest: _heads(h, _changed(layer, "bias", torch.zeros_like), *rest)
        ),
        "the scores are divided by the root of the width of all heads | The dot product is one of a head.": (
            lambda h, *rest: _heads(h, *rest, width=h.shape[-1])
        ),
        "the scores are not scaled | Divide by the square root of the width of a head.": partial(
            _heads, width=1
        ),
        "the softmax runs over the queries | Each row sums to 1: softmax(dim=-1).": partial(_heads, axis=-2),
        "padding gets weight | Where `real` is False, no piece may look.": (
            lambda h, layer, real, num: _heads(h, layer, torch.ones_like(real), num)
        ),
        "the heads are cut out of the pieces | Split the last axis first, and then exchange two axes.": (
            partial(_heads, viewed=True)
        ),
        "the heads are joined in the wrong order | Move their axis back first: `.transpose(1, 2).flatten(2)`.": (
            partial(_heads, mixed=True)
        ),
    },
    parts=["the context", "the weights"],
)
def heads_of_layer(
    h: Tensor, layer: dict[str, Tensor], real: Tensor, num_heads: int
) -> tuple[Tensor, Tensor]:
    return _heads(h, layer, real, num_heads)


def _hidden(matrix: Tensor, rows: slice = slice(None), columns: slice = slice(None)) -> Tensor:
    other = matrix.clone()
    other[rows, columns] = 0
    return other


def _head(matrix: Tensor, head: int, num_heads: int) -> slice:
    width = len(matrix) // num_heads
    return slice(head * width, (head + 1) * width)


@against(
    2,
    "The context is joined of the heads: head 0 has the first d / num_heads numbers.",
    "`W_o` has a row for each output and a column for each number of the context: set columns to 0, in a copy.",
    cases=[
        Case(
            f"for head {head} of {num_heads}",
            (torch.randn(d, d, generator=_RANDOM), head, num_heads),
            f"for head {head} of {num_heads} the right columns are 0",
        )
        for num_heads, d, head in ((3, 6, 1), (5, 35, 0), (2, 6, 1))
    ],
    mistakes={
        "rows are 0 | A row makes one number of the output, from all heads.": (
            lambda matrix, *head: _hidden(matrix, rows=_head(matrix, *head))
        ),
        "all other heads are hidden | Hide this head, and keep the others.": (
            lambda matrix, *head: matrix - _hidden(matrix, columns=_head(matrix, *head))
        ),
        "each of these columns is of another head | The numbers of a head stand side by side.": (
            lambda matrix, head, num_heads: _hidden(matrix, columns=slice(head, None, num_heads))
        ),
        "one column is 0 | A head has d / num_heads columns.": (
            lambda matrix, head, num_heads: _hidden(matrix, columns=slice(head, head + 1))
        ),
    },
    parts=["the matrix"],
)
def hide_head(matrix: Tensor, head: int, num_heads: int) -> Tensor:
    return _hidden(matrix, columns=_head(matrix, head, num_heads))


#: Lines and their vectors for exercise 4.
_LINES = ["bread", "a boat", "sea", "the ship", "cheese", "butter and bread", "a lake"]
_VECTORS = torch.tensor([[1.0, 0.0], [0.1, 1.0], [0.0, 1.0], [0.3, 1.0], [1.0, 0.3], [1.0, 0.1], [0.2, 1.0]])


def _embed(texts: Sequence[str]) -> Tensor:
    """The vectors of lines, of length 1, as the network gives them."""
    known = dict(zip(_LINES, _VECTORS, strict=True)) | {"food": torch.tensor([1.0, -0.1])}
    if isinstance(texts, str) or any(text not in known for text in texts):
        raise ValueError("give a list of whole lines")
    return torch.nn.functional.normalize(torch.stack([known[text] for text in texts]), dim=1)


def _search(
    question: str, lines: list[str], embed: _Embed, num: int, *, farthest=False, places=False
) -> list:
    order = (embed(lines) @ embed([question])[0]).argsort(descending=not farthest, stable=True)[:num].tolist()
    return order if places else [lines[i] for i in order]


@against(
    4,
    "`embed([question])[0]` is the vector of the question. What do you get from `embed(lines) @` this vector?",
    "`topk(num)` gives the largest cosines and their places. Return the lines at these places.",
    cases=[
        Case(
            f"for the question {question!r} and {num} lines",
            (question, list(_LINES), _embed, num),
            f"for the question {question!r} and {num} lines the nearest lines are found",
            "The vectors have the length 1, so their dot product is the cosine. Return as many lines as `num` says.",
        )
        for question, num in (("food", 3), ("sea", 2))
    ],
    mistakes={
        "these are places | Return the lines that stand there.": partial(_search, places=True),
        "these are the farthest lines | Take the largest cosines.": partial(_search, farthest=True),
        "the order is wrong | The nearest line comes first.": lambda *given: _search(*given)[::-1],
        "this is one line | Return as many as `num` says.": lambda question, lines, embed, num: _search(
            question, lines, embed, 1
        ),
        "these are the first lines of the list | Sort by the cosine.": lambda question, lines, embed, num: (
            lines[:num]
        ),
    },
)
def search(question: str, lines: list[str], embed: _Embed, num: int) -> list[str]:
    return _search(question, lines, embed, num)
