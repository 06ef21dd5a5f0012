"""Answers to the exercises of chapters/chat_model."""

import torch
from answers import Answers
from torch.nn.functional import scaled_dot_product_attention

from utils.exercises import chat_model as check
from utils.positions import rotate

answers = Answers()


def by_torch(x, layer, num_heads, num_key_heads):
    """The fused function, whose weights come from the identity as values."""
    q, k, v = (
        (x @ layer[f"attn_{part}"].T).unflatten(-1, (heads, -1)).transpose(0, 1)[None]
        for part, heads in (("q", num_heads), ("k", num_key_heads), ("v", num_key_heads))
    )
    q, k = rotate(q, base=100_000), rotate(k, base=100_000)
    eye = torch.eye(len(x)).expand(1, num_key_heads, -1, -1)
    options = {"is_causal": True, "enable_gqa": True}
    context = scaled_dot_product_attention(q, k, v, **options)[0]
    return context.transpose(0, 1).flatten(1), scaled_dot_product_attention(q, k, eye, **options)[0]


def by_a_loop(x, layer, num_heads, num_key_heads):
    """Head by head and piece by piece."""
    width, n = x.shape[1] // num_heads, len(x)
    weights, contexts = torch.zeros(num_heads, n, n), []
    for head in range(num_heads):
        own = slice(head * width, (head + 1) * width)
        shared = head * num_key_heads // num_heads
        given = slice(shared * width, (shared + 1) * width)
        q = rotate(x @ layer["attn_q"][own].T, base=100_000)
        k = rotate(x @ layer["attn_k"][given].T, base=100_000)
        for i in range(n):
            weights[head, i, : i + 1] = (k[: i + 1] @ q[i] / width**0.5).softmax(dim=0)
        contexts.append(weights[head] @ x @ layer["attn_v"][given].T)
    return torch.cat(contexts, dim=1), weights


answers.add(check.attention_of_layer, [by_torch, by_a_loop])
test_right, _ = answers.tests()
