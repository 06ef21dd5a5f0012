r"""Writing fast: a cache of keys and values, heads that share them, positions in the scores, drafts by a small model.

The layers are those of ``transformer``; here they stand alone, without a source sentence, as in GPT. Texts and training
are elsewhere.
Explained in chapters/fast_decoding.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from utils.attention import check_count, check_positive, check_width
from utils.transformer import FeedForward, Residual, causal_mask, check_heads, sinusoids

__all__ = [
    "GPT",
    "POSITIONS",
    "GPTLayer",
    "GroupedQueryAttention",
    "LayerCache",
    "alibi",
    "cache_bytes",
    "generate",
    "rotate",
    "speculative",
]

#: How a :class:`GPT` knows the places of its words: two ways add vectors to the words, two change the scores.
POSITIONS = ("sinusoids", "learned", "rotary", "alibi", "none")
#: The keys and the values that one layer keeps of the words so far.
LayerCache = tuple[Float[Tensor, "*_batch _key_heads _n _d"], Float[Tensor, "*_batch _key_heads _n _d"]]


def cache_bytes(num_layers: int, num_key_heads: int, d_head: int, *, bytes_per_number: int = 2) -> int:
    r"""Bytes that a cache keeps of each word: a key and a value for each key head of each layer.

    .. math:: 2 \cdot L \cdot G \cdot d_k \cdot b

    Args:
        num_layers: L.
        num_key_heads: G, the heads that have keys and values of their own.
        d_head: the width of a key and of a value.
        bytes_per_number: b, by default that of float16 and bfloat16.

    Raises:
        ValueError: a number below 1.

    >>> cache_bytes(2, 8, 8, bytes_per_number=4)  # 2 layers of 8 keys and 8 values of 8 numbers
    1024

    Source: Pope et al. (2023), section 2.1. Explained in chapters/fast_decoding.
    """
    counts = {"num_layers": num_layers, "num_key_heads": num_key_heads, "d_head": d_head}
    check_count(1, **counts, bytes_per_number=bytes_per_number)
    return 2 * num_layers * num_key_heads * d_head * bytes_per_number


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
        ValueError: an odd width, fewer than two axes, a place below 0, or a base that is not positive and finite.

    >>> rotate(torch.tensor([[1.0, 0.0]]), start=1)  # cos 1 and sin 1
    tensor([[0.5403, 0.8415]])

    Source: Su et al. (2021), section 3.2 and equation 34. Explained in chapters/fast_decoding.
    """
    d = x.shape[-1]
    if x.dim() < 2 or d % 2:
        raise ValueError(f"x must have at least two axes and an even width, got shape {tuple(x.shape)}")
    check_count(0, start=start)
    check_positive(base=base)
    # Places and angles are float32, whatever the default type is: float16 has no place 2049.
    exact = {"dtype": torch.float32, "device": x.device}
    rates = base ** (-torch.arange(0, d, 2, **exact) / d)
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

    Source: Press et al. (2022), section 3. Explained in chapters/fast_decoding.
    """
    check_count(1, num_heads=num_heads)
    num_keys = num_queries if num_keys is None else num_keys
    mask = causal_mask(num_queries, num_keys)
    distance = torch.arange(num_keys - num_queries, num_keys)[:, None] - torch.arange(num_keys)
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1, dtype=torch.float32) / num_heads)
    bias = slopes[:, None, None] * -distance.clamp(min=0)
    return (bias + 0.0).masked_fill(~mask, -math.inf)  # + 0.0 turns -0 into 0


class GroupedQueryAttention(nn.Module):
    r"""Causal self-attention whose heads share keys and values in groups of equal size.

    .. math::
        c_h &= \text{attention}(W_q^h x,\; W_k^g x,\; W_v^g x) \\
        g &= \lfloor h G / H \rfloor

    With G = H each head has keys of its own (multi-head), with G = 1 all heads share one (multi-query).

    Args:
        d_model: width of the sequence.
        num_heads: H, the heads that ask.
        num_key_heads: G, the heads that have keys and values; H if None.
        positions: "rotary" turns queries and keys, "alibi" lowers the scores of far keys, None does neither.

    Raises:
        ValueError: numbers that do not divide each other, or unknown positions.

    Source: Shazeer (2019), section 3; Ainslie et al. (2023), section 2.2. Explained in chapters/fast_decoding.
    """

    def __init__(
        self, d_model: int, num_heads: int, num_key_heads: int | None = None, *, positions: str | None = None
    ):
        super().__init__()
        num_key_heads = num_heads if num_key_heads is None else num_key_heads
        check_heads(d_model, num_heads)
        check_count(1, num_key_heads=num_key_heads)
        if num_heads % num_key_heads:
            raise ValueError(
                f"num_heads must be a multiple of num_key_heads, got {num_heads}, {num_key_heads}"
            )
        if positions not in ("rotary", "alibi", None):
            raise ValueError(f"positions must be 'rotary', 'alibi' or None, got {positions!r}")
        self.num_heads, self.num_key_heads, self.positions = num_heads, num_key_heads, positions
        self.d_head = d_model // num_heads
        self.w_q, self.w_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.w_k, self.w_v = (nn.Linear(d_model, num_key_heads * self.d_head) for _ in range(2))

    def project(
        self, x: Float[Tensor, "*batch n d_model"], *, start: int = 0
    ) -> tuple[Float[Tensor, "*batch heads n d"], Tensor, Tensor]:
        """Queries, keys and values of words from place ``start`` on, those of rotary positions already turned."""
        check_width("x", x, self.w_q.in_features)
        parts = (layer(x).unflatten(-1, (-1, self.d_head)) for layer in (self.w_q, self.w_k, self.w_v))
        queries, keys, values = (part.transpose(-3, -2) for part in parts)
        if self.positions == "rotary":
            queries, keys = rotate(queries, start=start), rotate(keys, start=start)
        return queries, keys, values

    def forward(
        self, x: Float[Tensor, "*batch n d_model"], past: LayerCache | None = None
    ) -> tuple[Float[Tensor, "*batch n d_model"], LayerCache]:
        """The contexts of the new words, and the keys and values of all words so far.

        Args:
            x: the words that are new: one when a model writes, all in training.
            past: what this returned for the words before.
        """
        queries, keys, values = self.project(x, start=0 if past is None else past[0].shape[-2])
        if past is not None:
            keys, values = (torch.cat(pair, dim=-2) for pair in zip(past, (keys, values), strict=True))
        num_new, num_all = x.shape[-2], keys.shape[-2]
        mask = None
        if self.positions == "alibi":
            mask = alibi(self.num_heads, num_new, num_all).to(x)
        elif num_new > 1 and past is not None:
            mask = causal_mask(num_new, num_all, device=x.device)
        options = {
            "is_causal": mask is None and num_new > 1,
            "enable_gqa": self.num_key_heads < self.num_heads,
        }
        heads = nn.functional.scaled_dot_product_attention(queries, keys, values, mask, **options)
        return self.w_o(heads.transpose(-3, -2).flatten(-2)), (keys, values)


class GPTLayer(nn.Module):
    """Causal self-attention and a feed-forward network, each with a norm before it.

    Args:
        d_model: width of the sequence.
        d_hidden: width of the hidden layer of the feed-forward network.
        attention: the arguments of :class:`GroupedQueryAttention` after the width.
    """

    def __init__(self, d_model: int, d_hidden: int, **attention):
        super().__init__()
        self.attention = GroupedQueryAttention(d_model, **attention)
        self.feed_forward = FeedForward(d_model, d_hidden)
        self.residuals = nn.ModuleList(Residual(d_model) for _ in range(2))

    def forward(
        self, x: Float[Tensor, "*batch n d_model"], past: LayerCache | None = None
    ) -> tuple[Float[Tensor, "*batch n d_model"], LayerCache]:
        """The next sequence, and the keys and values of all words so far."""
        first, second = self.residuals
        change, past = self.attention(first.read(x), past)
        x = first.add(x, change)
        return second.add(x, self.feed_forward(second.read(x))), past


class GPT(nn.Module):
    """A language model with a cache: it reads words, and gives logits of the word after each of them.

    Args:
        vocab_size: number of words.
        d_model: width of the word vectors.
        num_heads: of each attention.
        num_layers: number of layers.
        num_key_heads: as for :class:`GroupedQueryAttention`.
        d_hidden: width of the hidden layer of the feed-forward networks; 4 d_model if None.
        positions: one of ``POSITIONS``.
        max_len: the longest text, for learned positions alone, which have a row for each place.

    Raises:
        ValueError: unknown positions, numbers below 1, or numbers that do not divide each other.

    Source: Radford et al. (2019), section 2.3. Explained in chapters/fast_decoding.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        num_heads: int,
        num_layers: int,
        num_key_heads: int | None = None,
        d_hidden: int | None = None,
        positions: str = "rotary",
        max_len: int = 512,
    ):
        super().__init__()
        if positions not in POSITIONS:
            raise ValueError(f"positions must be one of {', '.join(POSITIONS)}, got {positions!r}")
        sizes = {"vocab_size": vocab_size, "d_model": d_model, "num_layers": num_layers, "d_hidden": d_hidden}
        check_count(1, **sizes, max_len=max_len)
        self.positions = positions
        self.table = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.table.weight, std=d_model**-0.5)
        if positions == "learned":
            self.places = nn.Embedding(max_len, d_model)
        in_scores = positions if positions in ("rotary", "alibi") else None
        heads = {"num_heads": num_heads, "num_key_heads": num_key_heads, "positions": in_scores}
        d_hidden = d_hidden or 4 * d_model
        self.layers = nn.ModuleList(GPTLayer(d_model, d_hidden, **heads) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)

    def embed(self, ids: Int[Tensor, "*batch n"], *, start: int = 0) -> Float[Tensor, "*batch n d_model"]:
        """The vectors of the words, plus those of their places if the positions are added.

        Raises:
            ValueError: a place below 0, or beyond ``max_len`` for learned positions.
        """
        check_count(0, start=start)
        num_words, d_model = ids.shape[-1], self.table.embedding_dim
        x = self.table(ids) * math.sqrt(d_model)
        if self.positions == "sinusoids":
            x = x + sinusoids(num_words, d_model, start=start).to(x)
        elif self.positions == "learned":
            end, most = start + num_words, self.places.num_embeddings
            if end > most:
                raise ValueError(f"ids must end at place {most}, the last that has a vector, got {end}")
            x = x + self.places.weight[start:end]
        return x

    def forward(
        self, ids: Int[Tensor, "*batch n"], past: list[LayerCache] | None = None
    ) -> tuple[Float[Tensor, "*batch n vocab"], list[LayerCache]]:
        """The logits of the word after each new word, and the new cache, one entry for each layer.

        Args:
            ids: the words that are new.
            past: the cache that this returned for the words before, or None if there are none.
        """
        x = self.embed(ids, start=0 if past is None else past[0][0].shape[-2])
        cache = []
        for number, layer in enumerate(self.layers):
            x, kept = layer(x, None if past is None else past[number])
            cache.append(kept)
        return self.norm(x) @ self.table.weight.T, cache


@torch.no_grad()
def generate(
    model: GPT, prompt: Int[Tensor, "batch n"], num_words: int, *, cache: bool = True
) -> Int[Tensor, "batch n_plus_num"]:
    """The prompt, and after it the words that are most probable, one by one.

    Args:
        cache: keep keys and values. Without it the model reads all words again for each new one; the words are equal.

    Raises:
        ValueError: an empty prompt, after which no word is the most probable, or a negative number of words.
    """
    _check_prompt(prompt, num_words)
    words, unread, past = prompt, prompt, None
    for _ in range(num_words):
        logits, past = model(unread, past) if cache else model(words)
        unread = logits[:, -1:].argmax(dim=-1)
        words = torch.cat([words, unread], dim=1)
    return words


@torch.no_grad()
def speculative(
    model: GPT, draft: GPT, prompt: Int[Tensor, "1 n"], num_words: int, *, num_drafts: int = 4
) -> tuple[Int[Tensor, "1 all"], int]:
    """The text of :func:`generate`, written with fewer calls of the model, and how many they are.

    The draft model proposes a few words. The model reads all of them in one call, keeps those that it would have
    written itself, and adds the next word. The rest of the drafts is thrown away, from both caches, too.

    Args:
        model: the model whose text is wanted.
        draft: a faster model with the same vocabulary.
        num_drafts: how many words the draft model proposes at a time.

    Raises:
        ValueError: more than one text, an empty one, a negative number of words, or no draft.

    Source: Leviathan et al. (2023), algorithm 1, for the most probable word. Explained in chapters/fast_decoding.
    """
    if len(prompt) != 1:
        raise ValueError(f"prompt must be one text, got {len(prompt)}")
    check_count(1, num_drafts=num_drafts)
    _check_prompt(prompt, num_words)
    words, end, calls = prompt, prompt.shape[1] + num_words, 0
    past = draft_past = None
    while words.shape[1] < end:
        proposed = words
        # The model adds a word of its own, so the drafts may fill all places but the last.
        num_new = min(num_drafts, end - words.shape[1] - 1)
        for _ in range(num_new):
            logits, draft_past = draft(_unread(proposed, draft_past), draft_past)
            proposed = torch.cat([proposed, logits[:, -1:].argmax(dim=-1)], dim=1)
        logits, past = model(_unread(proposed, past), past)
        calls += 1
        # What the model itself writes after the text, after the first draft, and so on.
        chosen = logits[:, -num_new - 1 :].argmax(dim=-1)
        right = chosen[:, :-1] == proposed[:, words.shape[1] :]
        num_kept = int(right.int().cumprod(dim=1).sum())
        words = torch.cat([words, chosen[:, : num_kept + 1]], dim=1)
        past, draft_past = (_first(cache, words.shape[1] - 1) for cache in (past, draft_past))
    return words, calls


def _check_prompt(prompt: Tensor, num_words: int) -> None:
    if not prompt.shape[1]:
        raise ValueError(f"prompt must have at least one word, got shape {tuple(prompt.shape)}")
    check_count(0, num_words=num_words)


def _unread(words: Tensor, past: list[LayerCache] | None) -> Tensor:
    return words if past is None else words[:, past[0][0].shape[-2] :]


def _first(past: list[LayerCache] | None, num_words: int) -> list[LayerCache] | None:
    """The cache of the first words."""
    return past and [(keys[..., :num_words, :], values[..., :num_words, :]) for keys, values in past]
