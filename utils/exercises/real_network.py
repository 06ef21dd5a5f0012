"""Checks of the exercises of chapters/real_network."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from utils.exercises.checking import (
    ReadersFunction,
    as_parts,
    as_tensor,
    exercise,
    expect,
    expect_close,
)

_PARTS = ("query", "key", "value")


def _layer(d: int) -> dict[str, Tensor]:
    """Random matrices with the names that a layer of the file has."""
    names = [f"attention.self.{part}" for part in _PARTS]
    return {f"{name}.weight": torch.randn(d, d) for name in names} | {
        f"{name}.bias": torch.randn(d) for name in names
    }


def _heads(
    h: Tensor,
    layer: dict[str, Tensor],
    real: Tensor,
    num_heads: int,
    *,
    width: int | None = None,
    turned: bool = False,
    bias: bool = True,
    masked: bool = True,
    axis: int = -1,
    viewed: bool = False,
) -> tuple[Tensor, Tensor]:
    """The context and the weights, right or with one of the mistakes."""
    parts = []
    for part in _PARTS:
        matrix = layer[f"attention.self.{part}.weight"]
        x = h @ (matrix if turned else matrix.T) + (layer[f"attention.self.{part}.bias"] if bias else 0)
        batch, n, _ = x.shape
        split = (
            x.view(batch, num_heads, n, -1) if viewed else x.unflatten(-1, (num_heads, -1)).transpose(1, 2)
        )
        parts.append(split)
    q, k, v = parts
    scores = q @ k.transpose(-2, -1) / (width or q.shape[-1]) ** 0.5
    if masked:
        scores = scores.masked_fill(~real[:, None, None], float("-inf"))
    weights = scores.softmax(dim=axis)
    return (weights @ v).transpose(1, 2).flatten(2), weights


@exercise(
    1,
    "Split the last axis into the heads, `unflatten(-1, (num_heads, -1))`, and move the axis of the heads before that "
    "of the pieces with `transpose(1, 2)`.",
    "Divide the scores by the root of the width of **one head**, and give the columns where `real` is False the score "
    "minus infinity: `masked_fill(~real[:, None, None], float('-inf'))`.",
)
def heads_of_layer(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    for case, num_heads, d, lens in (
        ("for two sentences of 5 pieces", 3, 6, (5, 5)),
        ("for sentences of 5 and of 2 pieces", 2, 14, (5, 2)),
    ):
        h, layer = torch.randn(2, 5, d), _layer(d)
        real = torch.arange(5) < torch.tensor(lens)[:, None]
        context, weights = as_parts(answer(h, layer, real, num_heads), "context", "weights")
        right_context, right_weights = _heads(h, layer, real, num_heads)
        mistakes = (
            (
                {"turned": True},
                "the matrices are not transposed",
                "The file has W with a row for each output: x @ W.T + b.",
            ),
            ({"bias": False}, "the biases are missing", "Each of the three has a bias."),
            (
                {"width": d},
                "the scores are divided by the root of the width of all heads",
                "The dot product is one of a head.",
            ),
            (
                {"width": 1},
                "the scores are not scaled",
                "Divide by the square root of the width of a head.",
            ),
            ({"axis": -2}, "the softmax runs over the queries", "Each row sums to 1: softmax(dim=-1)."),
            ({"masked": False}, "padding gets weight", "Where `real` is False, no piece may look."),
            (
                {"viewed": True},
                "the heads are cut out of the pieces",
                "Split the last axis first, and then exchange two axes.",
            ),
        )
        wrong = [(_heads(h, layer, real, num_heads, **how), says, hint) for how, says, hint in mistakes]
        of_weights = [(result[1], says, hint) for result, says, hint in wrong]
        expect_close(weights, right_weights, case, name="the weights", mistakes=of_weights)
        of_context = [(result[0], says, hint) for result, says, hint in wrong]
        heads_apart = right_context.unflatten(-1, (num_heads, -1)).transpose(1, 2)
        joined = "Move the axis of the heads back, and join the last two: `.transpose(1, 2).flatten(2)`."
        of_context.append((heads_apart.flatten(), "the heads are joined in the wrong order", joined))
        expect(
            as_tensor(context).dim() == 3,
            f"{case}, the context has {as_tensor(context).dim()} axes.",
            joined,
        )
        expect_close(context, right_context, case, joined, name="the context", mistakes=of_context)
        yield f"{case} the weights and the context are right"


@exercise(
    2,
    "The context is joined of the heads: the first head has the first d / num_heads numbers.",
    "`W_o` has a row for each output and a column for each number of the context: set columns to 0, in a copy.",
)
def hide_head(answer: ReadersFunction) -> Iterator[str]:
    torch.manual_seed(0)
    for num_heads, d, head in ((3, 6, 1), (5, 35, 0), (2, 6, 1)):
        case = f"for head {head} of {num_heads}"
        matrix, width = torch.randn(d, d), d // num_heads
        ours = slice(head * width, (head + 1) * width)

        def hidden(rows: slice, columns: slice, matrix: Tensor = matrix) -> Tensor:
            other = matrix.clone()
            other[rows, columns] = 0
            return other

        every = slice(None)
        kept = torch.zeros_like(matrix)
        kept[:, ours] = matrix[:, ours]
        strided = slice(head, None, num_heads)
        mistakes = (
            (hidden(ours, every), "rows are 0", "A row makes one number of the output, from all heads."),
            (kept, "all other heads are hidden", "Hide this head, and keep the others."),
            (
                hidden(every, strided),
                "each of these columns is of another head",
                "The numbers of a head stand side by side.",
            ),
            (hidden(every, slice(head, head + 1)), "one column is 0", "A head has d / num_heads columns."),
        )
        expect_close(
            answer(matrix, head, num_heads), hidden(every, ours), case, name="the matrix", mistakes=mistakes
        )
        yield f"{case} the right columns are 0"


#: Lines and their vectors for exercise 4.
_LINES = ["bread", "a boat", "sea", "the ship", "cheese", "butter and bread", "a lake"]
_VECTORS = torch.tensor([[1.0, 0.0], [0.1, 1.0], [0.0, 1.0], [0.3, 1.0], [1.0, 0.3], [1.0, 0.1], [0.2, 1.0]])


def _embed(texts: Sequence[str]) -> Tensor:
    """The vectors of lines, of length 1, as the network gives them."""
    known = dict(zip(_LINES, _VECTORS, strict=True)) | {"food": torch.tensor([1.0, -0.1])}
    if isinstance(texts, str) or any(text not in known for text in texts):
        raise ValueError("give a list of whole lines")
    return torch.nn.functional.normalize(torch.stack([known[text] for text in texts]), dim=1)


@exercise(
    4,
    "`embed([question])[0]` is the vector of the question. What do you get from `embed(lines) @` this vector?",
    "`topk(num)` gives the largest cosines and their places. Return the lines at these places.",
)
def search(answer: ReadersFunction) -> Iterator[str]:
    for question, num in (("food", 3), ("sea", 2)):
        case = f"for the question {question!r} and {num} lines"
        cosines = _embed(_LINES) @ _embed([question])[0]
        order = cosines.argsort(descending=True, stable=True).tolist()
        right = [_LINES[i] for i in order[:num]]
        found = answer(question, list(_LINES), _embed, num)
        expect(isinstance(found, list | tuple), f"{case}, the result is no list.", "Return a list of lines.")
        found = [line.item() if isinstance(line, Tensor) else line for line in found]
        places = all(isinstance(line, int) for line in found) and len(found) > 0
        expect(not places, f"{case}, the result has places.", "Return the lines that stand there.")
        expect(
            len(found) == num, f"{case}, the result has {len(found)} lines.", "Return as many as `num` says."
        )
        farthest = [_LINES[i] for i in order[::-1][:num]]
        expect(list(found) != farthest, f"{case}, these are the farthest lines.", "Take the largest cosines.")
        expect(
            set(found) == set(right),
            f"{case}, the result is {found}; expected {right}.",
            "The vectors have the length 1, so their dot product is the cosine.",
        )
        expect(list(found) == right, f"{case}, the order is wrong.", "The nearest line comes first.")
        yield f"{case} the nearest lines are found"
