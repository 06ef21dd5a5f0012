r"""Writing fast: a cache of keys and values, heads that share them, and drafts of the next words.

The layers are those of ``transformer``; here they stand alone, without a source sentence, as in GPT. Texts and training
are elsewhere.
Explained in chapters/fast_decoding.
"""

import math
import warnings
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from utils.checks import check_count, check_heads, check_positive, check_width
from utils.errors import check_logits
from utils.positions import alibi, rotate
from utils.seq2seq import word_vectors
from utils.transformer import FeedForward, Residual, causal_mask, sinusoids

__all__ = [
    "GPT",
    "POSITIONS",
    "GPTLayer",
    "GroupedQueryAttention",
    "LayerCache",
    "cache_bytes",
    "generate",
    "look_up",
    "speculative",
    "with_drafts",
]

#: How a :class:`GPT` knows the places of its words: two ways add vectors to the words, two change the scores.
POSITIONS = ("sinusoids", "learned", "rotary", "alibi", "none")
#: The keys and the values that one layer keeps of the words so far.
LayerCache = tuple[Float[Tensor, "*_batch _key_heads _n _d"], Float[Tensor, "*_batch _key_heads _n _d"]]
#: From new words and the cache of those before, logits after each and the cache of all, as a :class:`GPT` gives them.
#: One that reads texts of a limited length has the attribute ``max_len``.
LanguageModel = Callable[..., tuple[Tensor, list[LayerCache]]]


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
        base: of rotary positions.
        bias: whether the four layers have biases, which the formula leaves out.

    Raises:
        ValueError: numbers that do not divide each other, or unknown positions.

    Source: Shazeer (2019), section 3; Ainslie et al. (2023), section 2.2. Explained in chapters/fast_decoding.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        num_key_heads: int | None = None,
        *,
        positions: str | None = None,
        base: float = 10_000.0,
        bias: bool = True,
    ):
        super().__init__()
        num_key_heads = num_heads if num_key_heads is None else num_key_heads
        check_heads(d_model, num_heads)
        check_count(1, num_key_heads=num_key_heads)
        check_positive(base=base)
        if num_heads % num_key_heads:
            raise ValueError(
                f"num_heads must be a multiple of num_key_heads, got {num_heads}, {num_key_heads}"
            )
        if positions not in ("rotary", "alibi", None):
            raise ValueError(f"positions must be 'rotary', 'alibi' or None, got {positions!r}")
        self.num_heads, self.num_key_heads = num_heads, num_key_heads
        self.positions, self.base = positions, base
        self.d_head = d_model // num_heads
        self.w_q, self.w_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(2))
        self.w_k, self.w_v = (nn.Linear(d_model, num_key_heads * self.d_head, bias=bias) for _ in range(2))

    def project(
        self, x: Float[Tensor, "*batch n d_model"], *, start: int = 0
    ) -> tuple[Float[Tensor, "*batch heads n d"], Tensor, Tensor]:
        """Queries, keys and values of words from place ``start`` on, those of rotary positions already turned."""
        check_width(self.w_q.in_features, x=x)
        parts = (layer(x).unflatten(-1, (-1, self.d_head)) for layer in (self.w_q, self.w_k, self.w_v))
        queries, keys, values = (part.transpose(-3, -2) for part in parts)
        if self.positions == "rotary":
            queries, keys = (rotate(part, start=start, base=self.base) for part in (queries, keys))
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

    Attributes:
        max_len: the same, and infinity for other positions.

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
        self.max_len = math.inf
        if positions == "learned":
            self.max_len = max_len
            self.places = nn.Embedding(max_len, d_model)
        in_scores = positions if positions in ("rotary", "alibi") else None
        heads = {"num_heads": num_heads, "num_key_heads": num_key_heads, "positions": in_scores}
        d_hidden = d_hidden or 4 * d_model
        self.layers = nn.ModuleList(GPTLayer(d_model, d_hidden, **heads) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)

    def embed(self, ids: Int[Tensor, "*batch n"], *, start: int = 0) -> Float[Tensor, "*batch n d_model"]:
        """The vectors of the words, plus those of their places if the positions are added.

        Raises:
            ValueError: a word that is not in the vocabulary, or a place below 0, or beyond ``max_len`` for learned
                positions.
        """
        check_count(0, start=start)
        num_words, d_model = ids.shape[-1], self.table.embedding_dim
        x = word_vectors(self.table, ids=ids) * math.sqrt(d_model)
        if self.positions == "sinusoids":
            x = x + sinusoids(num_words, d_model, start=start).to(x)
        elif self.positions == "learned":
            end = start + num_words
            if end > self.max_len:
                raise ValueError(
                    f"ids must end at place {self.max_len}, the last that has a vector, got {end}"
                )
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
    model: LanguageModel, prompt: Int[Tensor, "batch n"], num_words: int, *, cache: bool = True
) -> Int[Tensor, "batch n_plus_num"]:
    """The prompt, and after it the words that are most probable, one by one.

    Args:
        num_words: how many. There are fewer, and a warning, if the model can read no longer text.
        cache: keep keys and values. Without it the model reads all words again for each new one; the words are equal.

    Raises:
        ValueError: an empty prompt, after which no word is the most probable, one that is longer than the model can
            read, or a negative number of words.
        FloatingPointError: logits that are NaN or plus infinity.
    """
    _check_prompt(prompt, num_words)
    words, unread, past = prompt, prompt, None
    for _ in range(room_after(model, prompt, num_words)):
        logits, past = model(unread, past) if cache else model(words)
        unread = _most_probable(logits[:, -1:])
        words = torch.cat([words, unread], dim=1)
    return words


def room_after(model: LanguageModel, prompt: Int[Tensor, "batch n"], num_words: int) -> int:
    """How many words a model can write after a prompt: ``num_words``, or fewer, with a warning, if its places end.

    The last word need not be read, so it may stand after the last place. A prompt that is itself too long is no matter
    of this function: the model raises its error.

    :meta private:

    >>> model = GPT(5, 4, num_heads=2, num_layers=1, positions="learned", max_len=7)
    >>> room_after(model, torch.tensor([[1, 2, 3]]), 5)
    5
    """
    room = getattr(model, "max_len", math.inf) - prompt.shape[1] + 1
    if room < 1:
        return num_words
    if room < num_words:
        warnings.warn(
            f"the longest text of this model has {model.max_len} places, so it can write {room} of {num_words}",
            stacklevel=4,
        )
    return min(num_words, room)


@torch.no_grad()
def with_drafts(
    model: LanguageModel,
    propose: Callable[[Int[Tensor, "1 n"], int], Int[Tensor, "1 drafts"]],
    prompt: Int[Tensor, "1 n"],
    num_words: int,
    *,
    num_drafts: int = 4,
) -> tuple[Int[Tensor, "1 all"], int]:
    """The text of :func:`generate`, written with fewer calls of the model, and how many they are.

    A few words are proposed. The model reads all of them in one call, keeps those that it would have written itself,
    and adds the next word. The rest of the drafts is thrown away, from the cache, too.

    Args:
        model: the model whose text is wanted.
        propose: from the text so far and the largest number of drafts, the words that may come next, or none, as
            :func:`look_up` does. More words than this number are not read.
        num_words: as for :func:`generate`.
        num_drafts: how many words may be proposed at a time.

    Raises:
        ValueError: more than one text, an empty one, a negative number of words, no draft, or proposed words that are
            not one text.
        FloatingPointError: logits that are NaN or plus infinity.

    Source: Leviathan et al. (2023), algorithm 1, for the most probable word. Explained in chapters/fast_decoding.
    """
    check_count(1, num_drafts=num_drafts)
    _check_prompt(prompt, num_words)
    if len(prompt) != 1:
        raise ValueError(f"prompt must be one text, got {len(prompt)}")
    words, calls, past = prompt, 0, None
    end = prompt.shape[1] + room_after(model, prompt, num_words)
    while words.shape[1] < end:
        # The model adds a word of its own, so the drafts may fill all places but the last.
        most = min(num_drafts, end - words.shape[1] - 1)
        drafts = propose(words, most)
        if drafts.dim() != 2 or len(drafts) != 1:
            raise ValueError(f"propose must return one text, got shape {tuple(drafts.shape)}")
        drafts = drafts[:, :most]
        logits, past = model(_unread(torch.cat([words, drafts], dim=1), past), past)
        calls += 1
        # What the model itself writes after the text, after the first draft, and so on.
        chosen = _most_probable(logits[:, -drafts.shape[1] - 1 :])
        num_kept = int((chosen[:, :-1] == drafts).int().cumprod(dim=1).sum())
        words = torch.cat([words, chosen[:, : num_kept + 1]], dim=1)
        past = _first(past, words.shape[1] - 1)
    return words, calls


@torch.no_grad()
def speculative(
    model: LanguageModel,
    draft: LanguageModel,
    prompt: Int[Tensor, "1 n"],
    num_words: int,
    *,
    num_drafts: int = 4,
) -> tuple[Int[Tensor, "1 all"], int]:
    """:func:`with_drafts` with the words that a faster model writes, which keeps a cache, too.

    Args:
        draft: a faster model with the same vocabulary, which drafts no more where its longest text ends. The other
            arguments and errors are those of :func:`with_drafts`.

    Source: Leviathan et al. (2023), algorithm 1, for the most probable word. Explained in chapters/fast_decoding.
    """
    past = None

    def propose(words: Tensor, num_new: int) -> Tensor:
        nonlocal past
        past, proposed = _first(past, words.shape[1] - 1), words
        room = getattr(draft, "max_len", math.inf) - words.shape[1] + 1
        for _ in range(max(0, min(num_new, room))):
            logits, past = draft(_unread(proposed, past), past)
            proposed = torch.cat([proposed, _most_probable(logits[:, -1:])], dim=1)
        return proposed[:, words.shape[1] :]

    return with_drafts(model, propose, prompt, num_words, num_drafts=num_drafts)


def look_up(words: Int[Tensor, "1 n"], num_drafts: int, *, length: int = 2) -> Int[Tensor, "1 drafts"]:
    """Drafts without a model: what came after the last words where they stood before, the last time they did.

    Args:
        num_drafts: the largest number of words.
        length: how many of the last words must be the same.

    Returns:
        The words, fewer if the text ends before; none if the last words did not stand in the text before.

    Raises:
        ValueError: more than one text, a negative number of drafts, or a length below 1.

    >>> look_up(torch.tensor([[5, 7, 1, 3, 5, 7]]), 3)  # after 5 and 7 came 1
    tensor([[1, 3, 5]])

    Source: Saxena (2023), "Prompt Lookup Decoding". Explained in chapters/fast_decoding.
    """
    if len(words) != 1:
        raise ValueError(f"words must be one text, got {len(words)}")
    check_count(0, num_drafts=num_drafts)
    check_count(1, length=length)
    if words.shape[1] <= length:
        return words[:, :0]
    runs = words[0].unfold(0, length, 1)
    found = (runs[:-1] == runs[-1]).all(dim=1).nonzero()
    if not len(found):
        return words[:, :0]
    start = int(found[-1]) + length
    return words[:, start : start + num_drafts]


def _most_probable(logits: Tensor) -> Tensor:
    check_logits(logits)
    return logits.argmax(dim=-1)


def _check_prompt(prompt: Tensor, num_words: int) -> None:
    if prompt.dim() != 2:
        raise ValueError(f"prompt must have the axes (batch, words), got shape {tuple(prompt.shape)}")
    if not prompt.shape[1]:
        raise ValueError(f"prompt must have at least one word, got shape {tuple(prompt.shape)}")
    check_count(0, num_words=num_words)


def _unread(words: Tensor, past: list[LayerCache] | None) -> Tensor:
    return words if past is None else words[:, past[0][0].shape[-2] :]


def _first(past: list[LayerCache] | None, num_words: int) -> list[LayerCache] | None:
    """The cache of the first words."""
    return past and [(keys[..., :num_words, :], values[..., :num_words, :]) for keys, values in past]
