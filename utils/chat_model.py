r"""A model that chats, with weights that others published in 4 bits: SmolLM2-135M-Instruct.

Its attention and its cache are those of ``fast_decoding``; what this network has of its own is a norm without a mean, a
feed-forward network with a gate, and a reader of its file. How the file gets to this computer is in ``corpus.weights``.
Explained in chapters/chat_model.
"""

import os
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from jaxtyping import Bool, Float, Int
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor, nn

from utils.attention import DotProductAttention
from utils.checks import check_count, check_mask
from utils.errors import CourseError
from utils.fast_decoding import GroupedQueryAttention, LayerCache
from utils.search import next_word_probabilities
from utils.seq2seq import word_vectors
from utils.transformer import causal_mask

__all__ = ["ChatLayer", "ChatModel", "Reading", "SwiGLU", "read_chat_model", "write"]

#: Names of the parts of a layer in the file, and here.
_PARTS = {
    "attn_norm": "norms.0",
    "attn_q": "attention.w_q",
    "attn_k": "attention.w_k",
    "attn_v": "attention.w_v",
    "attn_output": "attention.w_o",
    "ffn_norm": "norms.1",
    "ffn_gate": "feed_forward.gate",
    "ffn_up": "feed_forward.up",
    "ffn_down": "feed_forward.down",
}
#: The file's number for a piece that is a mark of its own, never a part of a word.
_CONTROL = 3
#: Bytes of memory below which a computer with other programs open may become slow.
_ENOUGH_MEMORY = 5 * 10**9


class SwiGLU(nn.Module):
    r"""A feed-forward network whose hidden numbers pass a gate: :math:`W_3\,(\text{silu}(W_1 x) \odot W_2 x)`.

    Here :math:`\text{silu}(z) = z \cdot \sigma(z)`, and there are no biases.

    Args:
        d_model: width of the sequence.
        d_hidden: width of the hidden layer.

    Source: Shazeer (2020), equation 6. Explained in chapters/chat_model.
    """

    def __init__(self, d_model: int, d_hidden: int):
        super().__init__()
        check_count(1, d_model=d_model, d_hidden=d_hidden)
        self.gate, self.up = (nn.Linear(d_model, d_hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """The output for each place alone."""
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class ChatLayer(nn.Module):
    """Causal attention with shared keys and values, and a feed-forward network with a gate, each after an RMSNorm.

    Args:
        d_model: width of the sequence.
        d_hidden: width of the hidden layer of the feed-forward network.
        num_heads: the heads that ask.
        num_key_heads: the heads that have keys and values.
        base: of the rotary positions.
        eps: what the norms add to the mean square before the root.

    Source: Touvron et al. (2023), section 2.2; Zhang and Sennrich (2019) for the norm. Explained in
    chapters/chat_model.
    """

    def __init__(
        self, d_model: int, d_hidden: int, *, num_heads: int, num_key_heads: int, base: float, eps: float
    ):
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(d_model, eps=eps) for _ in range(2))
        self.attention = GroupedQueryAttention(
            d_model, num_heads, num_key_heads, positions="rotary", base=base, bias=False
        )
        self.average = DotProductAttention()
        self.feed_forward = SwiGLU(d_model, d_hidden)

    def forward(
        self,
        x: Float[Tensor, "*batch n d_model"],
        past: LayerCache | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        *,
        without: Iterable[int] = (),
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "*batch n d_model"], LayerCache, Float[Tensor, "*batch heads n all"] | None]:
        """The next states, the keys and values of all pieces so far, and the weights of each head or None.

        Args:
            past: the keys and values of the pieces before ``x``.
            mask: True where a piece may attend; broadcasts to ``(batch, heads, n, all)``.
            without: the heads that write nothing.
        """
        start = 0 if past is None else past[0].shape[-2]
        queries, keys, values = self.attention.project(self.norms[0](x), start=start)
        if past is not None:
            keys, values = (torch.cat(pair, dim=-2) for pair in zip(past, (keys, values), strict=True))
        group = self.attention.num_heads // self.attention.num_key_heads
        shared = (part.repeat_interleave(group, dim=-3) for part in (keys, values))
        contexts, weights = self.average(queries, *shared, mask, need_weights=need_weights)
        if without := list(without):
            contexts = contexts.index_fill(-3, torch.tensor(without, device=x.device), 0)
        x = x + self.attention.w_o(contexts.transpose(-3, -2).flatten(-2))
        return x + self.feed_forward(self.norms[1](x)), (keys, values), weights


class Reading(NamedTuple):
    """What a model computes from a text.

    ``logits`` are those of the piece after each piece. ``states`` has the vectors of the pieces first, then the states
    after each layer. ``weights`` has those of each layer's heads.
    """

    logits: Float[Tensor, "*batch n vocab"]
    states: list[Float[Tensor, "*batch n d_model"]]
    weights: list[Float[Tensor, "*batch heads n n"]]


class ChatModel(nn.Module):
    """A decoder of the family of Llama: it reads pieces of text, and gives logits of the piece after each of them.

    The matrix that turns pieces into vectors also turns states into logits.

    Args:
        vocab_size: number of pieces.
        d_model: width of the states.
        num_heads: the heads of a layer that ask.
        num_key_heads: the heads of a layer that have keys and values, which the others share in groups.
        num_layers: number of layers.
        d_hidden: width of the hidden layers of the feed-forward networks.
        base: of the rotary positions.
        eps: what the norms add to the mean square before the root.
        max_len: the longest text.

    Raises:
        ValueError: numbers below 1, or numbers that do not divide each other.

    >>> model = ChatModel(11, 12, num_heads=6, num_key_heads=2, num_layers=3, d_hidden=7)
    >>> reading = model.read(torch.tensor([[4, 1, 4, 1, 10]]))
    >>> reading.logits.shape, len(reading.states), reading.weights[2].shape
    (torch.Size([1, 5, 11]), 4, torch.Size([1, 6, 5, 5]))

    Source: Touvron et al. (2023); Ben Allal et al. (2025) for the network of the chapter. Explained in
    chapters/chat_model.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        num_heads: int,
        num_key_heads: int,
        num_layers: int,
        d_hidden: int,
        base: float = 100_000.0,
        eps: float = 1e-5,
        max_len: int = 8192,
    ):
        super().__init__()
        check_count(1, vocab_size=vocab_size, num_layers=num_layers, max_len=max_len)
        heads = {"num_heads": num_heads, "num_key_heads": num_key_heads}
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        self.layers = nn.ModuleList(
            ChatLayer(d_model, d_hidden, **heads, base=base, eps=eps) for _ in range(num_layers)
        )
        self.norm = nn.RMSNorm(d_model, eps=eps)
        self.max_len = max_len

    def forward(
        self,
        ids: Int[Tensor, "*batch n"],
        past: list[LayerCache] | None = None,
        *,
        mask: Bool[Tensor, "..."] | None = None,
        without: Iterable[tuple[int, int]] = (),
    ) -> tuple[Float[Tensor, "*batch n vocab"], list[LayerCache]]:
        """The logits of the piece after each new piece, and the new cache, one entry for each layer.

        Args:
            ids: the pieces that are new.
            past: the cache that this returned for the pieces before, or None if there are none.
            mask: True where a piece may attend to another, as from :func:`utils.long_sequences.window_mask`; broadcasts
                to ``(batch, heads, n, all)``. No piece ever attends to a later one.
            without: heads that write nothing; each is a layer and a head, counted from 0.

        Raises:
            ValueError: no pieces, more than ``max_len`` with those before, a mask that is not boolean or does not fit,
                or a head that the model does not have.
        """
        x, cache = self._embed(ids, past), []
        mask, heads = self._mask(ids, past, mask), self._heads(without)
        for number, layer in enumerate(self.layers):
            x, kept, _ = layer(x, None if past is None else past[number], mask, without=heads[number])
            cache.append(kept)
        return self.logits(x), cache

    def read(
        self,
        ids: Int[Tensor, "*batch n"],
        *,
        mask: Bool[Tensor, "..."] | None = None,
        without: Iterable[tuple[int, int]] = (),
    ) -> Reading:
        """The logits with the states and the weights that led to them; arguments and errors as for :meth:`forward`.

        All weights of a text of n pieces are layers x heads x n x n numbers: 90 MB for 290 pieces of the chapter's
        network.
        """
        states, weights = [self._embed(ids, None)], []
        mask, heads = self._mask(ids, None, mask), self._heads(without)
        for number, layer in enumerate(self.layers):
            x, _, of_layer = layer(states[-1], None, mask, without=heads[number], need_weights=True)
            states.append(x)
            weights.append(of_layer)
        return Reading(self.logits(states[-1]), states, weights)

    def logits(self, state: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch vocab"]:
        """The logits that a state gives if it is read as the last one.

        Source: nostalgebraist (2020) for states before the last, the logit lens. Explained in chapters/chat_model.
        """
        return self.output(self.norm(state))

    def _embed(self, ids: Tensor, past: list[LayerCache] | None) -> Tensor:
        if not ids.dim() or not ids.shape[-1]:
            raise ValueError(f"ids must have at least one piece, got shape {tuple(ids.shape)}")
        end = ids.shape[-1] + (0 if past is None else past[0][0].shape[-2])
        if end > self.max_len:
            raise ValueError(f"ids must end at place {self.max_len}, the last of this model, got {end}")
        return word_vectors(self.output.weight, ids=ids)

    def _mask(self, ids: Tensor, past: list[LayerCache] | None, mask: Tensor | None) -> Tensor | None:
        """What each piece may attend to; None for one new piece that may attend to all."""
        num_new = ids.shape[-1]
        num_all = num_new + (0 if past is None else past[0][0].shape[-2])
        if mask is None:
            return None if num_new == 1 else causal_mask(num_new, num_all, device=ids.device)
        check_mask(mask, (*ids.shape[:-1], self.layers[0].attention.num_heads, num_new, num_all))
        return mask & causal_mask(num_new, num_all, device=ids.device)

    def _heads(self, without: Iterable[tuple[int, int]]) -> list[list[int]]:
        """The heads that are off in each layer."""
        heads = [[] for _ in self.layers]
        for layer, head in without:
            check_count(0, len(self.layers) - 1, layer=layer)
            check_count(0, self.layers[layer].attention.num_heads - 1, head=head)
            heads[layer].append(head)
        return heads


@torch.no_grad()
def write(
    model: ChatModel,
    prompt: Int[Tensor, "batch n"],
    num_pieces: int,
    *,
    temperature: float = 1.0,
    end: int | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "batch all"]:
    """The prompt, and after it pieces that are drawn one by one, with a cache.

    The most probable pieces come from :func:`utils.fast_decoding.generate`.

    Args:
        prompt: one text.
        num_pieces: the largest number of new pieces.
        temperature: as for :func:`utils.search.next_word_probabilities`.
        end: the piece after which nothing is written; it is not returned.
        generator: draws the pieces.

    Raises:
        ValueError: more than one prompt, an empty one, a negative number of pieces, or a temperature that is not
            positive.
    """
    if len(prompt) != 1:
        raise ValueError(f"prompt must be one text, got {len(prompt)}")
    check_count(0, num_pieces=num_pieces)
    text, unread, past = prompt, prompt, None
    for _ in range(num_pieces):
        logits, past = model(unread, past)
        probabilities = next_word_probabilities(logits[:, -1], temperature=temperature)
        unread = torch.multinomial(probabilities, 1, generator=generator)
        if unread.item() == end:
            break
        text = torch.cat([text, unread], dim=1)
    return text


def read_chat_model(file: Path | GGUFReader) -> tuple[ChatModel, Tokenizer, jinja2.Template]:
    """The network, what cuts a text into its pieces, and the template that puts the marks of a chat around messages.

    The template is rendered with ``messages``, a list of ``{"role": "user", "content": "…"}``, and with
    ``add_generation_prompt=True`` so that the answer comes next.

    Args:
        file: in the format GGUF; see :func:`utils.corpus.weights.get_network`. If its reader is given instead, the file
            is not read again.

    Raises:
        CourseError: a file that is damaged, of another format or of another kind of network.
    """
    _say_if_memory_is_short()
    try:
        reader = file if isinstance(file, GGUFReader) else GGUFReader(file)
        facts = {name: field.contents() for name, field in reader.fields.items()}
        tensors = {
            _name(tensor.name): torch.tensor(dequantize(tensor.data, tensor.tensor_type))
            for tensor in reader.tensors
        }
        return _model(facts, tensors), _tokenizer(facts), _template(facts)
    except (KeyError, IndexError, ValueError, RuntimeError, jinja2.TemplateError) as error:
        raise CourseError(
            f"{file} must be a whole GGUF file of a network like Llama's: {type(error).__name__}: {error}"
        ) from error


def _say_if_memory_is_short() -> None:
    if not hasattr(os, "sysconf"):  # as on Windows
        return
    present = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if present < _ENOUGH_MEMORY:
        warnings.warn(
            f"this computer has {present / 1e9:.1f} GB of memory, and the network and the experiments of its chapter "
            "take up to 1.6 GB: close other programs first",
            stacklevel=3,
        )


def _name(name: str) -> str:
    """Our name of a tensor; one that this network does not have keeps the name in the file, and is an error later."""
    name = re.sub(r"^token_embd\.", "output.", name)
    name = re.sub(r"^output_norm\.", "norm.", name)
    return re.sub(r"^blk\.(\d+)\.(\w+)\.", lambda m: f"layers.{m[1]}.{_PARTS.get(m[2], m[2])}.", name)


def _model(facts: dict[str, Any], tensors: dict[str, Tensor]) -> ChatModel:
    if facts["general.architecture"] != "llama":
        raise ValueError(f"general.architecture must be llama, got {facts['general.architecture']}")
    with torch.device("meta"):  # no memory and no time for numbers that the file's replace
        model = ChatModel(
            *tensors["output.weight"].shape,
            num_heads=facts["llama.attention.head_count"],
            num_key_heads=facts["llama.attention.head_count_kv"],
            num_layers=facts["llama.block_count"],
            d_hidden=facts["llama.feed_forward_length"],
            base=facts["llama.rope.freq_base"],
            eps=facts["llama.attention.layer_norm_rms_epsilon"],
            max_len=facts["llama.context_length"],
        )
    model.load_state_dict(tensors, assign=True)
    return model.eval().requires_grad_(False)


def _tokenizer(facts: dict[str, Any]) -> Tokenizer:
    kind = facts["tokenizer.ggml.model"], facts["tokenizer.ggml.pre"]
    if kind != ("gpt2", "smollm"):
        raise ValueError(f"tokenizer.ggml.model and pre must be gpt2 and smollm, got {kind[0]} and {kind[1]}")
    pieces = facts["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in facts["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE({piece: number for number, piece in enumerate(pieces)}, merges))
    digits, blanks = (
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, blanks])
    tokenizer.decoder = decoders.ByteLevel()
    marks = [
        p for p, kind in zip(pieces, facts["tokenizer.ggml.token_type"], strict=True) if kind == _CONTROL
    ]
    tokenizer.add_special_tokens(marks)
    return tokenizer


def _template(facts: dict[str, Any]) -> jinja2.Template:
    """The file's template, which may neither change what it gets nor reach the computer."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(facts["tokenizer.chat_template"])
