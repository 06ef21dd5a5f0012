r"""A network that maps sentences to vectors, with weights that others published: all-MiniLM-L6-v2.

Its layers are those of ``transformer``. How the files of the network get to this computer is in ``corpus.download``.
Explained in chapters/real_network.
"""

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch
from jaxtyping import Float, Int
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.functional import normalize

from utils.attention import length_mask
from utils.checks import check_batch, check_count, check_lists
from utils.corpus.batches import pad_ids
from utils.errors import NotFiniteError, check_weights
from utils.seq2seq import word_vectors
from utils.transformer import EncoderLayer, check_heads_of

__all__ = ["SentenceEncoder", "read_network"]

#: Tensors that no vector of a sentence depends on: a layer after the state of the first piece, and the places in order.
_NO_MATTER = re.compile(r"pooler\..+|embeddings\.position_ids")
#: What BERT adds to a variance before the root.
_EPS = 1e-12
#: Names of a layer's parts in a file of BERT's weights, and here.
_PARTS = {
    "attention.self.query": "self_attention.w_q",
    "attention.self.key": "self_attention.w_k",
    "attention.self.value": "self_attention.w_v",
    "attention.output.dense": "self_attention.w_o",
    "attention.output.LayerNorm": "residuals.0.norm",
    "intermediate.dense": "feed_forward.0",
    "output.dense": "feed_forward.3",
    "output.LayerNorm": "residuals.1.norm",
}


class SentenceEncoder(nn.Module):
    r"""BERT's encoder, with the mean over the pieces of a sentence as its vector, which has the length 1.

    The layers are :class:`utils.transformer.EncoderLayer` with the norm after each part and GELU in place of ReLU. The
    vectors of a piece and of its place are learned, and are added and normalised before layer 0.

    Args:
        tensors: the weights, by the names that a file of BERT has.
        num_heads: of each layer, which no tensor tells.

    Raises:
        ValueError: tensors that are missing, are not computed or are of another network, or a width that the heads
            cannot share.
        FloatingPointError: a number that is not finite.

    Source: Devlin et al. (2019); the mean over the pieces is that of Reimers and Gurevych (2019). Explained in
    chapters/real_network.
    """

    def __init__(self, tensors: Mapping[str, Tensor], *, num_heads: int = 12):
        super().__init__()
        tables = {name: tensors.get(f"embeddings.{name}_embeddings.weight") for name in ("word", "position")}
        if missing := [name for name, table in tables.items() if table is None]:
            raise ValueError(f"tensors must be those of a BERT, and have no {missing[0]}_embeddings")
        d_model = tables["word"].shape[1]
        num_layers = len({m[1] for name in tensors if (m := re.match(r"encoder\.layer\.(\d+)\.", name))})
        d_hidden = len(tensors.get("encoder.layer.0.intermediate.dense.bias", ()))
        self.words = nn.Embedding(*tables["word"].shape)
        self.places = nn.Embedding(*tables["position"].shape)
        self.norm = nn.LayerNorm(d_model, eps=_EPS)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_hidden, norm_first=False) for _ in range(num_layers)
        )
        for layer in self.layers:
            layer.feed_forward[1] = nn.GELU()
            for residual in layer.residuals:
                residual.norm.eps = _EPS
        try:
            self.load_state_dict(_renamed(tensors, num_layers))
        except NotFiniteError:
            raise
        except (KeyError, RuntimeError, ValueError) as error:
            raise ValueError(f"tensors must be those of a BERT: {error}") from error

    def forward(
        self, src: Int[Tensor, "batch n"], src_lens: Int[Tensor, " batch"], *, need_weights: bool = False
    ) -> tuple[Float[Tensor, "batch n d"], list[Float[Tensor, "batch heads n n"]] | None]:
        """The state of each piece after the last layer, and the weights of each layer's heads or None.

        Args:
            src: numbers of the pieces; those beyond a sentence's length change no state of a real piece.
            src_lens: number of pieces of each sentence, 1 to n.

        Raises:
            ValueError: ``src_lens`` does not hold one length per sentence, a sentence has more pieces than there are
                places, or the network does not have a piece.
        """
        check_batch(src, src_lens)
        if src.shape[1] > self.places.num_embeddings:
            raise ValueError(f"a sentence may have {self.places.num_embeddings} pieces, got {src.shape[1]}")
        mask, weights = length_mask(src_lens, src.shape[1]), []
        h = self.norm(word_vectors(self.words, src=src) + self.places.weight[: src.shape[1]])
        for layer in self.layers:
            h, of_layer = layer(h, mask, need_weights=need_weights)
            weights.append(of_layer)
        return h, weights if need_weights else None

    def without(self, heads: Iterable[tuple[int, int]]) -> "SentenceEncoder":
        """A copy in which these heads write nothing; each is a layer and a head, counted from 0.

        Only the columns of :math:`W_o` that read a hidden head become 0; the bias stays.

        Raises:
            ValueError: a head that the network does not have.
        """
        other = copy.deepcopy(self)
        num_heads = other.layers[0].self_attention.num_heads if other.layers else 0
        for layer, head in check_heads_of(len(other.layers), num_heads, heads=heads):
            attention = other.layers[layer].self_attention
            width = attention.w_o.in_features // attention.num_heads
            with torch.no_grad():
                attention.w_o.weight[:, head * width : (head + 1) * width] = 0
        return other

    @torch.no_grad()
    def vectors(
        self, sentences: Sequence[Sequence[int]], *, batch_size: int = 32
    ) -> Float[Tensor, "sentences d"]:
        """The vector of each sentence, which is given as the numbers of its pieces, in the network's dtype.

        Sentences of equal length are computed together, which saves padding.

        Raises:
            ValueError: a batch size below 1, a text in place of numbers, or a sentence without pieces or with more than
                there are places.
        """
        check_count(1, batch_size=batch_size)
        check_lists(sentences=sentences)
        for row, pieces in enumerate(sentences):
            if not 1 <= len(pieces) <= self.places.num_embeddings:
                raise ValueError(
                    f"sentences[{row}] must hold 1 to {self.places.num_embeddings} pieces, got {len(pieces)}"
                )
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        result = self.words.weight.new_zeros(len(sentences), self.words.embedding_dim)
        for first in range(0, len(order), batch_size):
            rows = order[first : first + batch_size]
            src_lens = torch.tensor([len(sentences[row]) for row in rows], device=result.device)
            src = pad_ids([sentences[row] for row in rows]).to(result.device)
            h, _ = self(src, src_lens)
            real = length_mask(src_lens, src.shape[1]).to(h).transpose(1, 2)
            result[rows] = normalize((h * real).sum(dim=1) / src_lens[:, None], dim=-1)
        return result


def read_network(folder: Path) -> tuple[SentenceEncoder, Tokenizer]:
    """The network and its tokenizer, which neither cuts nor pads.

    Args:
        folder: holds ``model.safetensors`` and ``tokenizer.json``; see :func:`utils.corpus.download.get_network`.
    """
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return SentenceEncoder(load_file(folder / "model.safetensors")).eval(), tokenizer


def _renamed(tensors: Mapping[str, Tensor], num_layers: int) -> dict[str, Tensor]:
    """The tensors by our names; each sentence is of BERT's first type, whose vector is added to that of each place."""
    names = {"words.weight": "embeddings.word_embeddings.weight"}
    names["places.weight"] = "embeddings.position_embeddings.weight"
    for end in ("weight", "bias"):
        names[f"norm.{end}"] = f"embeddings.LayerNorm.{end}"
        for layer in range(num_layers):
            for theirs, ours in _PARTS.items():
                names[f"layers.{layer}.{ours}.{end}"] = f"encoder.layer.{layer}.{theirs}.{end}"
    renamed = {ours: tensors[theirs] for ours, theirs in names.items()}
    kinds = "embeddings.token_type_embeddings.weight"
    renamed["places.weight"] = renamed["places.weight"] + tensors[kinds][0]
    if unknown := sorted(
        name for name in tensors.keys() - {*names.values(), kinds} if not _NO_MATTER.fullmatch(name)
    ):
        raise ValueError(f"this network does not compute {', '.join(unknown)}")
    check_weights(renamed, "tensors")
    return renamed
