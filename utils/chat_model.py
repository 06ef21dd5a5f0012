r"""A model that chats, with weights that others published in 4 bits: SmolLM2-135M-Instruct.

Its attention and its cache are those of ``fast_decoding``; what this network has of its own is a norm without a mean, a
feed-forward network with a gate, and a reader of its file. How the file gets to this computer: ``corpus.download``.
Explained in chapters/chat_model.
"""

import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from jaxtyping import Bool, Float, Int
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from torch import Tensor, nn

from utils.attention import DotProductAttention
from utils.checks import check_count, check_list, check_mask, check_positive
from utils.errors import CourseError, NotFiniteError, check_weights
from utils.fast_decoding import GroupedQueryAttention, LayerCache, room_after
from utils.search import next_word_probabilities
from utils.seq2seq import word_vectors
from utils.transformer import causal_mask, check_heads_of

__all__ = ["ChatLayer", "ChatModel", "ChatTemplate", "Reading", "SwiGLU", "read_chat_model", "write"]

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
#: The file's numbers for a piece of text, and for one that is a mark of its own, never a part of a word.
_NORMAL, _CONTROL = 1, 3
#: Stands in a mark that a message holds, and is no character of any text.
_NO_MARK = "\ufdd0"
#: The facts of a file that become numbers of the network, its pieces and its template.
_USED = {
    "llama.attention.head_count",
    "llama.attention.head_count_kv",
    "llama.attention.layer_norm_rms_epsilon",
    "llama.block_count",
    "llama.context_length",
    "llama.embedding_length",
    "llama.feed_forward_length",
    "llama.rope.freq_base",
    "tokenizer.chat_template",
    "tokenizer.ggml.merges",
    "tokenizer.ggml.token_type",
    "tokenizer.ggml.tokens",
}
#: The facts of the file itself, of how it was made, and of marks that only another program would add or look for.
_NO_MATTER = re.compile(r"(GGUF|general)\..+|tokenizer\.ggml\.\w+_token_id|tokenizer\.chat_template\..+")
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
            for head in without:
                check_count(0, self.attention.num_heads - 1, without=head)
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
        check_positive(eps=eps)
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
            ValueError: no pieces, one that is not in the vocabulary, more than ``max_len`` with those before, a mask
                that is not boolean or does not fit, or a head that the model does not have.
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
        num_heads = self.layers[0].attention.num_heads
        for layer, head in check_heads_of(len(heads), num_heads, without=without):
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
        num_pieces: the largest number of new pieces; fewer, with a warning, if the model can read no longer text.
        temperature: as for :func:`utils.search.next_word_probabilities`.
        end: the piece after which nothing is written; it is not returned.
        generator: draws the pieces.

    Raises:
        ValueError: more than one prompt, one that is empty or too long, a negative number of pieces, or a temperature
            that is not positive.
        FloatingPointError: as :func:`utils.search.next_word_probabilities`.
    """
    if prompt.dim() != 2:
        raise ValueError(f"prompt must have the axes (batch, pieces), got shape {tuple(prompt.shape)}")
    if len(prompt) != 1:
        raise ValueError(f"prompt must be one text, got {len(prompt)}")
    check_count(0, num_pieces=num_pieces)
    text, unread, past = prompt, prompt, None
    for _ in range(room_after(model, prompt, num_pieces)):
        logits, past = model(unread, past)
        probabilities = next_word_probabilities(logits[:, -1], temperature=temperature)
        unread = torch.multinomial(probabilities, 1, generator=generator)
        if unread.item() == end:
            break
        text = torch.cat([text, unread], dim=1)
    return text


class ChatTemplate:
    """Puts the marks of a chat around messages, in the way of a network's training.

    A mark in a message, such as ``<|im_end|>``, stays text: who writes it must not end their own message and begin one
    in another's name. It gets a character between its first letter and the rest, which the tokenizer of
    :func:`read_chat_model` takes out again after it has looked for marks.

    Args:
        source: in the language of jinja. It may neither change the messages nor reach the computer.
        marks: of the network.

    Raises:
        TemplateError: of jinja; a source that is no template.

    >>> template = ChatTemplate("{% for m in messages %}{{ m.role }}: {{ m.content }}<end>{% endfor %}", ["<end>"])
    >>> template.render([{"role": "user", "content": "Hi"}])
    'user: Hi<end>'

    Explained in chapters/chat_model.
    """

    def __init__(self, source: str, marks: Sequence[str]):
        # A fact that a template asks for and does not get is an error, not an empty text.
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
        )
        self._template = environment.from_string(source)
        self._marks = marks

    def render(self, messages: Sequence[Mapping[str, str]], *, add_generation_prompt: bool = False) -> str:
        """The text of a chat.

        Args:
            messages: each has a ``role``, as *user*, and the ``content``.
            add_generation_prompt: end with the marks after which the answer comes.

        Raises:
            CourseError: messages that are not a list of such dicts, or that this template does not take.
        """
        check_list(messages=messages)
        texts = [
            isinstance(m, Mapping) and all(isinstance(part, str) for part in m.values()) for m in messages
        ]
        if not all(texts):
            wrong = messages[texts.index(False)]
            raise CourseError(f"messages must be dicts of texts, such as a role and a content, got {wrong!r}")
        as_text = [{name: self._as_text(part) for name, part in message.items()} for message in messages]
        try:
            return self._template.render(messages=as_text, add_generation_prompt=add_generation_prompt)
        except jinja2.TemplateError as error:
            raise CourseError(f"the template does not take these messages: {error}") from error

    def _as_text(self, text: str) -> str:
        for mark in self._marks:
            text = text.replace(mark, f"{mark[0]}{_NO_MARK}{mark[1:]}")
        return text


def read_chat_model(file: Path | GGUFReader) -> tuple[ChatModel, Tokenizer, ChatTemplate]:
    """The network, what cuts a text into its pieces, and the template that puts the marks of a chat around messages.

    All that the file says of the network is computed, or refused by name: a file of another network would be read
    without an error, and write nonsense.

    Args:
        file: in the format GGUF; see :func:`utils.corpus.download.get_network`. If its reader is given instead, the
            file is not read again.

    Raises:
        CourseError: a file that is damaged, of another format or of another kind of network.
        FloatingPointError: a weight that is not a finite number.
    """
    _say_if_memory_is_short()
    try:
        reader = file if isinstance(file, GGUFReader) else GGUFReader(file)
        facts = {name: field.contents() for name, field in reader.fields.items()}
        _check_facts(facts)
        marks = _marks(facts)
        template = ChatTemplate(facts["tokenizer.chat_template"], marks)
        return _model(facts, _tensors(reader, facts)), _tokenizer(facts, marks), template
    except NotFiniteError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, RuntimeError, jinja2.TemplateError) as error:
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
            "take up to 2 GB: close other programs first",
            stacklevel=3,
        )


def _tensors(reader: GGUFReader, facts: dict[str, Any]) -> dict[str, Tensor]:
    """The weights by our names."""
    found = {
        tensor.name: tensor for tensor in reader.tensors
    }  # a name that comes twice is the reader's error
    check_count(1, len(found), **{"llama.block_count": facts["llama.block_count"]})
    names = {"token_embd.weight": "output.weight", "output_norm.weight": "norm.weight"}
    for layer in range(facts["llama.block_count"]):
        names |= {
            f"blk.{layer}.{theirs}.weight": f"layers.{layer}.{ours}.weight" for theirs, ours in _PARTS.items()
        }
    if missing := sorted(names.keys() - found.keys()):
        raise ValueError(f"the file lacks {', '.join(missing)}")
    if unknown := sorted(found.keys() - names.keys()):
        raise ValueError(f"this network has no {', '.join(unknown)}")
    tensors = {}
    for theirs, ours in names.items():
        part = found[theirs]
        tensors[ours] = torch.tensor(dequantize(part.data, part.tensor_type))
        check_weights({theirs: tensors[ours]}, "the GGUF file")
    return tensors


def _check_facts(facts: dict[str, Any]) -> None:
    """Refuse what is not computed: each fact is used, or must have one value, or says nothing of the network."""
    heads = facts.get("llama.attention.head_count", 1)
    check_count(1, **{"llama.attention.head_count": heads})
    width = facts.get("llama.embedding_length", 0) // heads
    values = {
        "general.architecture": "llama",
        "llama.attention.key_length": width,
        "llama.attention.value_length": width,
        "llama.expert_count": 0,
        "llama.expert_used_count": 0,
        "llama.rope.dimension_count": width,
        "llama.rope.scaling.type": "none",
        "llama.vocab_size": len(facts.get("tokenizer.ggml.tokens", ())),
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_eos_token": False,
        "tokenizer.ggml.add_space_prefix": False,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.remove_extra_whitespaces": False,
    }
    for name, value in values.items():
        if facts.get(name, value) != value:
            raise ValueError(f"{name} must be {value}, got {facts[name]}")
    known = values.keys() | _USED
    if unknown := sorted(name for name in facts.keys() - known if not _NO_MATTER.fullmatch(name)):
        raise ValueError(f"this network does not compute {', '.join(unknown)}")


def _model(facts: dict[str, Any], tensors: dict[str, Tensor]) -> ChatModel:
    with torch.device("meta"):  # no memory and no time for numbers that the file's replace
        model = ChatModel(
            len(facts["tokenizer.ggml.tokens"]),
            facts["llama.embedding_length"],
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


def _marks(facts: dict[str, Any]) -> list[str]:
    """The pieces that are marks of their own, never a part of a word."""
    pieces, kinds = facts["tokenizer.ggml.tokens"], facts["tokenizer.ggml.token_type"]
    if others := set(kinds) - {_NORMAL, _CONTROL}:
        raise ValueError(
            f"tokenizer.ggml.token_type must be {_NORMAL} or {_CONTROL} for each piece, got {min(others)}"
        )
    return [piece for piece, kind in zip(pieces, kinds, strict=True) if kind == _CONTROL]


def _tokenizer(facts: dict[str, Any], marks: Sequence[str]) -> Tokenizer:
    pieces = facts["tokenizer.ggml.tokens"]
    numbers = {piece: number for number, piece in enumerate(pieces)}
    if len(numbers) < len(pieces):
        raise ValueError("tokenizer.ggml.tokens has a piece twice")
    merges = [tuple(pair.split(" ")) for pair in facts["tokenizer.ggml.merges"]]
    for pair in merges:
        if len(pair) != 2 or not {*pair, "".join(pair)} <= numbers.keys():
            raise ValueError(
                f"tokenizer.ggml.merges must join two pieces into a third, got {' '.join(pair)!r}"
            )
    tokenizer = Tokenizer(models.BPE(numbers, merges))
    digits, blanks = (
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, blanks])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(marks)
    # The marks are found first, so what ChatTemplate has hidden from this search is now text.
    hidden = "|".join(f"(?<={re.escape(mark[0])}){_NO_MARK}(?={re.escape(mark[1:])})" for mark in marks)
    tokenizer.normalizer = normalizers.Replace(Regex(hidden), "")
    return tokenizer
