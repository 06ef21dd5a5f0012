"""The sentence encoder on small random weights, against torch's own layers; and the published one, where it is."""

import math

import pytest
import torch
from torch import nn
from torch.nn.functional import normalize
from torch.testing import assert_close

from utils.corpus.download import has_network, network_folder
from utils.errors import NotFiniteError
from utils.sentence_encoder import SentenceEncoder, read_network

D, HEADS, HIDDEN, LAYERS, WORDS, PLACES = 6, 3, 11, 2, 13, 7
SENTENCES = [[1, 5, 2], [1, 4, 12, 7, 2], [1, 2], [1, 5, 2]]


def tensors_of_bert() -> dict[str, torch.Tensor]:
    """Random weights with the names of BERT's files."""
    torch.manual_seed(0)
    shapes = {
        "word_embeddings.weight": (WORDS, D),
        "position_embeddings.weight": (PLACES, D),
        "token_type_embeddings.weight": (2, D),
        "LayerNorm.weight": (D,),
        "LayerNorm.bias": (D,),
    }
    shapes = {f"embeddings.{name}": shape for name, shape in shapes.items()}
    for layer in range(LAYERS):
        parts = {f"attention.self.{part}": (D, D) for part in ("query", "key", "value")}
        parts |= {
            "attention.output.dense": (D, D),
            "intermediate.dense": (HIDDEN, D),
            "output.dense": (D, HIDDEN),
        }
        for part, shape in parts.items():
            shapes[f"encoder.layer.{layer}.{part}.weight"] = shape
            shapes[f"encoder.layer.{layer}.{part}.bias"] = shape[:1]
        for part in ("attention.output", "output"):
            for end in ("weight", "bias"):
                shapes[f"encoder.layer.{layer}.{part}.LayerNorm.{end}"] = (D,)
    return {name: torch.randn(shape) for name, shape in shapes.items()} | {
        "pooler.dense.bias": torch.zeros(D)
    }


TENSORS = tensors_of_bert()


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder(TENSORS, num_heads=HEADS).eval()


def of_torch(number: int) -> nn.TransformerEncoderLayer:
    """A layer of torch with the same weights."""
    layer = nn.TransformerEncoderLayer(
        D, HEADS, HIDDEN, activation="gelu", batch_first=True, layer_norm_eps=1e-12
    ).eval()

    def of(part: str, end: str) -> torch.Tensor:
        return TENSORS[f"encoder.layer.{number}.{part}.{end}"]

    state = {}
    for end in ("weight", "bias"):
        projections = [of(f"attention.self.{part}", end) for part in ("query", "key", "value")]
        state |= {
            f"self_attn.in_proj_{end}": torch.cat(projections),
            f"self_attn.out_proj.{end}": of("attention.output.dense", end),
            f"linear1.{end}": of("intermediate.dense", end),
            f"linear2.{end}": of("output.dense", end),
            f"norm1.{end}": of("attention.output.LayerNorm", end),
            f"norm2.{end}": of("output.LayerNorm", end),
        }
    layer.load_state_dict(state)
    return layer


def test_it_computes_what_the_layers_of_torch_do(encoder):
    for ids in SENTENCES:
        h = TENSORS["embeddings.word_embeddings.weight"][ids]
        h = h + TENSORS["embeddings.position_embeddings.weight"][: len(ids)]
        h = h + TENSORS["embeddings.token_type_embeddings.weight"][0]
        ends = (TENSORS[f"embeddings.LayerNorm.{end}"] for end in ("weight", "bias"))
        h = nn.functional.layer_norm(h, (D,), *ends, eps=1e-12)[None]
        for number in range(LAYERS):
            h = of_torch(number)(h)
        states, weights = encoder(torch.tensor([ids]), torch.tensor([len(ids)]), need_weights=True)
        assert_close(states, h, rtol=1e-4, atol=1e-5)
        assert [tuple(w.shape) for w in weights] == [(1, HEADS, len(ids), len(ids))] * LAYERS
        assert_close(encoder.vectors([ids])[0], normalize(h[0].mean(dim=0), dim=0), rtol=1e-4, atol=1e-5)


def test_the_vectors_come_in_the_order_of_the_sentences(encoder):
    vectors = encoder.vectors(SENTENCES, batch_size=3)
    assert_close(vectors, torch.cat([encoder.vectors([ids]) for ids in SENTENCES]))
    assert_close(vectors.norm(dim=1), torch.ones(len(SENTENCES)))
    assert_close(vectors[0], vectors[3])


def test_padding_changes_nothing(encoder):
    short = torch.tensor([[1, 5, 2]])
    padded = torch.tensor([[1, 5, 2, 9, 9]])
    src_lens = torch.tensor([3])
    assert_close(encoder(padded, src_lens)[0][:, :3], encoder(short, src_lens)[0])


def test_a_hidden_head_writes_nothing(encoder):
    before = encoder.vectors(SENTENCES)
    changed = dict(TENSORS)
    name = "encoder.layer.1.attention.self.value"
    for end in ("weight", "bias"):
        changed[f"{name}.{end}"] = changed[f"{name}.{end}"].clone()
        changed[f"{name}.{end}"][2:4] = 0  # the values of head 1
    other = encoder.without([(1, 1)])
    assert_close(other.vectors(SENTENCES), SentenceEncoder(changed, num_heads=HEADS).vectors(SENTENCES))
    assert (other.vectors(SENTENCES) - before).abs().max() > 0.01
    assert torch.equal(encoder.vectors(SENTENCES), before)


def test_errors_name_what_is_wrong(encoder):
    with pytest.raises(ValueError, match="have no word_embeddings"):
        SentenceEncoder({})
    with pytest.raises(ValueError, match=r"must be those of a BERT: .*output\.dense"):
        SentenceEncoder({k: v for k, v in TENSORS.items() if "1.output.dense.bias" not in k}, num_heads=HEADS)
    with pytest.raises(ValueError, match="multiple of num_heads, got 6 and 4"):
        SentenceEncoder(TENSORS, num_heads=4)
    encoder(torch.ones(1, 7, dtype=torch.long), torch.tensor([7]))
    with pytest.raises(ValueError, match="may have 7 pieces, got 8"):
        encoder(torch.ones(1, 8, dtype=torch.long), torch.tensor([8]))
    for pieces in ([], [1] * 8):
        with pytest.raises(ValueError, match=rf"sentences\[1\] must hold 1 to 7 pieces, got {len(pieces)}"):
            encoder.vectors([[1, 2], pieces])


@pytest.mark.parametrize("name", ["encoder.layer.0.attention.self.distance_embedding.weight", "words.weight"])
def test_a_tensor_that_is_not_computed_is_named(name):
    with pytest.raises(ValueError, match=f"this network does not compute {name}"):
        SentenceEncoder(TENSORS | {name: torch.zeros(1)}, num_heads=HEADS)
    harmless = {"pooler.dense.weight": torch.zeros(D, D), "embeddings.position_ids": torch.arange(PLACES)}
    assert SentenceEncoder(TENSORS | harmless, num_heads=HEADS).vectors(SENTENCES).isfinite().all()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["embeddings.LayerNorm.bias", "encoder.layer.1.output.dense.weight"])
def test_a_weight_that_is_not_finite_is_named(name, number):
    broken = TENSORS | {name: TENSORS[name].clone()}
    broken[name].flatten()[3] = number
    with pytest.raises(NotFiniteError, match="has numbers that are not finite"):
        SentenceEncoder(broken, num_heads=HEADS)


def test_a_layer_with_a_number_beyond_the_others_is_not_made():
    with pytest.raises(ValueError, match="must be those of a BERT"):
        SentenceEncoder(TENSORS | {"encoder.layer.1000000000.x": torch.zeros(1)}, num_heads=HEADS)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ((1, 3), "head must be from 0 to 2, got 3"),
        ((1, -1), "head must be from 0 to 2, got -1"),
        ((2, 0), "layer must be from 0 to 1, got 2"),
        ((-1, 0), "layer must be from 0 to 1, got -1"),
        (3, r"heads must hold pairs of a layer and a head, such as \[\(0, 3\)\], got 3"),
    ],
)
@pytest.mark.usefixtures("unchecked_shapes")
def test_a_head_that_is_not_there_cannot_be_hidden(encoder, head, message):
    with pytest.raises(ValueError, match=message):
        encoder.without([(0, 0), head])


def test_the_published_network_gives_the_published_numbers():
    if not has_network("minilm"):
        pytest.skip("the network is not there: attention-course data get minilm")
    encoder, tokenizer = read_network(network_folder("minilm"))
    vector = encoder.vectors([tokenizer.encode("This is an example sentence").ids])[0]
    assert_close(vector[:5], torch.tensor([0.0677, 0.0635, 0.0487, 0.0793, 0.0374]), rtol=0, atol=1e-4)
