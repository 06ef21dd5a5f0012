"""Variants of attention against loops, torch's own functions and the layers of the course on the same weights."""

import itertools
import math

import pytest
import torch
from tiny import check_hypotheses, held_out_loss
from torch import nn
from torch.testing import assert_close

from utils.attention import length_mask
from utils.attention_variants import (
    SCORES,
    AttentionDecoder,
    LocationAttention,
    PointerDecoder,
    masked_sparsemax,
    score_layer,
)
from utils.corpus.batches import ShuffledBatches, make_batch
from utils.corpus.vocabulary import UNK
from utils.fast_training import attention_weights, fast_loss
from utils.metrics import links_from_weights
from utils.search import greedy
from utils.seq2seq import BahdanauDecoder, Decoder, Encoder, EncoderDecoder
from utils.training import batch_loss, fit

BATCH, QUERIES, KEYS, D, HIDDEN, D_V = 2, 3, 5, 7, 11, 13


def randomised(module: nn.Module) -> nn.Module:
    """The module with random numbers in every parameter."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.7)
    return module.eval()


def tensors(seed: int = 0) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(seed)
    shapes = (BATCH, QUERIES, D), (BATCH, KEYS, D), (BATCH, KEYS, D_V)
    return tuple(torch.randn(shape) for shape in shapes)


def by_hand(score: str, layer: nn.Module, q: torch.Tensor, k: torch.Tensor, j: int) -> torch.Tensor:
    """The score of one query and the key at place j, as the formula says it."""
    if score == "additive":
        return layer.w_v.weight[0] @ torch.tanh(layer.w_q.weight @ q + layer.w_k.weight @ k)
    if score == "concat":
        return layer.v.weight[0] @ torch.tanh(layer.w.weight @ torch.cat([q, k]))
    if score == "general":
        return q @ layer.w.weight @ k
    if score == "location":
        return layer.w.weight[j] @ q
    if score == "cosine":
        return layer.log_scale.exp() * nn.functional.cosine_similarity(q, k, dim=0)
    return torch.dot(q, k) / (math.sqrt(len(k)) if score == "scaled dot" else 1)


@pytest.mark.parametrize("score", SCORES)
def test_each_score_is_that_of_a_loop(score):
    queries, keys, values = tensors()
    if score not in ("dot", "scaled dot", "cosine"):  # the others take queries of another width than the keys
        queries = queries[..., :3]
    layer = randomised(score_layer(score, queries.shape[-1], D, d_hidden=HIDDEN, max_len=KEYS + 4))
    valid_lens = torch.tensor([5, 2])
    projected = layer.project_keys(keys)
    context, weights = layer(queries, None, values, length_mask(valid_lens, KEYS), projected_keys=projected)
    for b, i in itertools.product(range(BATCH), range(QUERIES)):
        n = int(valid_lens[b])
        scores = torch.stack([by_hand(score, layer, queries[b, i], keys[b, j], j) for j in range(n)])
        expected = torch.softmax(scores, dim=0)
        assert_close(weights[b, i, :n], expected)
        assert (weights[b, i, n:] == 0).all()
        assert_close(context[b, i], expected @ values[b, :n])
    assert_close(layer(queries, keys, values, length_mask(valid_lens, KEYS)), (context, weights))


@pytest.mark.parametrize(("score", "hidden"), [("additive", "w_v"), ("concat", "v")])
def test_the_hidden_layer_of_a_score_is_as_wide_as_the_query(score, hidden):
    assert getattr(score_layer(score, 13, 7), hidden).in_features == 13
    assert getattr(score_layer(score, 13, 7, d_hidden=5), hidden).in_features == 5


# ---- Sparsemax ----


def slow_projection(scores: torch.Tensor) -> torch.Tensor:
    """The closest point whose numbers are not negative and sum to 1. It tries which numbers are not 0."""
    best, distance = None, math.inf
    for size in range(1, len(scores) + 1):
        for support in itertools.combinations(range(len(scores)), size):
            chosen = scores[list(support)]
            point = torch.zeros_like(scores)
            point[list(support)] = chosen - (chosen.sum() - 1) / size
            if (point >= 0).all() and (gap := (point - scores).norm().item()) < distance:
                best, distance = point, gap
    return best


@pytest.mark.parametrize("spread", [0.1, 1.0, 10.0])
def test_sparsemax_is_the_closest_point_of_the_simplex(spread):
    torch.manual_seed(1)
    scores = spread * torch.randn(3, 4, 6, dtype=torch.float64)
    mask = length_mask(torch.tensor([6, 3, 1]), 6)
    weights = masked_sparsemax(scores, mask)
    for b, i in itertools.product(range(3), range(4)):
        n = (6, 3, 1)[b]
        assert_close(weights[b, i, :n], slow_projection(scores[b, i, :n]))
        assert (weights[b, i, n:] == 0).all()


def test_the_gradient_of_sparsemax_equals_small_steps():
    torch.manual_seed(2)
    scores = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(masked_sparsemax, scores)
    assert torch.autograd.gradcheck(
        lambda s: masked_sparsemax(s, length_mask(torch.tensor([3]), 5)[0]), scores
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_sparsemax_takes_every_type_and_empty_rows(dtype):
    scores = torch.tensor([[900.0, 900.0, -900.0], [5.0, 1.0, 2.0]], dtype=dtype, requires_grad=True)
    mask = torch.tensor([[True, True, True], [False, False, False]])
    weights = masked_sparsemax(scores, mask)
    assert weights.dtype == dtype
    assert weights.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    weights[:, 0].sum().backward()
    assert scores.grad.isfinite().all()


INF, NAN = math.inf, math.nan


# ---- Decoders ----


def translator(
    decoder_type=AttentionDecoder, num_src=11, num_tgt=13, width=7, layers=1, **options
) -> EncoderDecoder:
    torch.manual_seed(0)
    encoder = Encoder(num_src, width, width, num_layers=layers)
    d_hidden = options.pop("d_hidden", encoder.d_out)  # equal widths, for the dot product
    options = {"d_enc_state": width, "num_layers": layers} | options
    if options.get("score") == "location":
        options["max_len"] = 12
    return EncoderDecoder(encoder, decoder_type(num_tgt, width, d_hidden, encoder.d_out, **options)).eval()


SENTENCES = make_batch([[4, 5, 6], [7], [8, 9, 4, 5, 10]], [[5, 6], [7, 8, 9, 10], [11]])
QUESTIONS = [
    {"query": "before"},
    {"query": "after"},
    {"query": "after", "input_feeding": True},
]
EVERY = [
    *({"score": score, "query": "after"} for score in SCORES),
    *QUESTIONS,
    {"layers": 2, "query": "after", "input_feeding": True},
    {"layers": 2, "query": "after"},
    {"cell": "gated", "query": "after", "input_feeding": True},
    {"decoder_type": PointerDecoder, "unknown": UNK},
    {"decoder_type": PointerDecoder, "unknown": UNK, "query": "after", "input_feeding": True, "score": "general"},
]  # fmt: skip
EVERY_DECODER = pytest.mark.parametrize(
    "options", EVERY, ids=lambda options: "-".join(str(getattr(v, "__name__", v)) for v in options.values())
)


@pytest.mark.parametrize("cell", ["gru", "gated"])
@pytest.mark.parametrize("num_layers", [1, 2])
def test_additive_before_is_the_bahdanau_decoder(cell, num_layers):
    options = {"cell": cell, "layers": num_layers, "d_attention": 5, "d_hidden": 9}
    ours, taught = translator(**options), translator(BahdanauDecoder, **options)
    ours.load_state_dict(taught.state_dict())
    inputs = SENTENCES.src, SENTENCES.src_lens, SENTENCES.tgt_in
    assert_close(ours(*inputs), taught(*inputs))
    assert_close(batch_loss(ours, SENTENCES), fast_loss(taught, SENTENCES))


@EVERY_DECODER
@torch.no_grad()
def test_single_words_give_the_numbers_of_all(options):
    model = translator(**options)
    randomised(model)
    logits, weights = model(SENTENCES.src, SENTENCES.src_lens, SENTENCES.tgt_in)
    memory, state = model.start(SENTENCES.src, SENTENCES.src_lens)
    for i, word in enumerate(SENTENCES.tgt_in.split(1, dim=1)):
        step, state, step_weights = model.decoder(word, memory, state)
        assert_close(step, logits[:, i : i + 1])
        assert_close(step_weights, weights[:, i : i + 1])
    assert (weights[1, :, 1:] == 0).all()
    assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:2]))


@pytest.mark.trains
@EVERY_DECODER
def test_every_decoder_learns(options):
    src = [[4, 5, 6], [7, 8], [9], [5, 9, 4, 7], [6, 6]]
    model = translator(**options)
    assert isinstance(model.decoder, Decoder)
    before = held_out_loss(model, src, src)
    history = fit(model, ShuffledBatches(src, src, batch_size=3), epochs=15, lr=3e-2, label_smoothing=0.0)
    assert history.losses[-1] < history.losses[0]
    assert held_out_loss(model, src, src) < before / 2
    batch = make_batch(src, src)
    with torch.no_grad():
        assert_close(fast_loss(model, batch), batch_loss(model, batch))
        assert_close(attention_weights(model, batch), model(batch.src, batch.src_lens, batch.tgt_in)[1])


@EVERY_DECODER
def test_hypotheses_agree_with_reading_their_words(options):
    check_hypotheses(translator(**options).double(), push=2)


def test_after_asks_with_the_new_state():
    """The first step of each, worked out with the decoder's own parts."""
    for question in QUESTIONS:
        model = translator(score="dot", **question)
        memory, state = model.start(SENTENCES.src, SENTENCES.src_lens)
        decoder, y = model.decoder, model.decoder.embedding(SENTENCES.tgt_in[:, 0])
        s = state.layers[0] if question.get("input_feeding") else state[0]
        nothing = torch.zeros(len(y), 0 if question == {"query": "after"} else memory.values.shape[-1])
        asks = s if question["query"] == "before" else decoder.cells[0](y, nothing, s)
        scores = (memory.values @ asks[:, :, None]).squeeze(-1)
        expected = scores.masked_fill(~memory.mask[:, 0], -torch.inf).softmax(dim=-1)
        assert_close(decoder(SENTENCES.tgt_in[:, :1], memory, state)[2][:, 0], expected)


# ---- Pointers ----


@torch.no_grad()
def test_a_pointer_and_the_vocabulary_share_the_probability():
    model = translator(PointerDecoder, unknown=UNK)
    randomised(model)
    log_p, weights = model(SENTENCES.src, SENTENCES.src_lens, SENTENCES.tgt_in)
    p = log_p.exp()
    assert_close(p.sum(dim=-1), torch.ones(p.shape[:2]))
    pointed = p[..., 13:]
    share = pointed.sum(dim=-1, keepdim=True)  # 1 - g
    assert_close(pointed, share * weights)
    assert ((share > 0) & (share < 1)).all()


@torch.no_grad()
def test_a_pointer_is_read_as_the_unknown_word():
    model = translator(PointerDecoder, unknown=UNK)
    memory, state = model.start(SENTENCES.src, SENTENCES.src_lens)
    pointers, unknown = torch.tensor([[13, 15]] * 3), torch.full((3, 2), UNK)
    assert_close(model.decoder(pointers, memory, state), model.decoder(unknown, memory, state))


@pytest.mark.trains
def test_it_learns_to_copy_unknown_words():
    """Sentences "a <unk> b" become "b <pointer> a". Only the pointer says which word <unk> stands for."""
    generator = torch.Generator().manual_seed(5)
    sources, targets = [], []
    for _ in range(60):
        words = torch.randint(4, 9, (3,), generator=generator).tolist()
        place = torch.randint(0, 4, (1,), generator=generator).item()
        sources.append([*words[:place], UNK, *words[place:]])
        targets.append([13 + place, *words[::-1]])
    model = translator(PointerDecoder, unknown=UNK, width=16)
    fit(model, ShuffledBatches(sources, targets, batch_size=15), epochs=20, lr=2e-2, label_smoothing=0.0)
    batch = make_batch(sources, targets)
    found = greedy(model, batch.src, batch.src_lens, max_len=6)
    right = sum(
        hypothesis.tokens[:1] == target[:1] for hypothesis, target in zip(found, targets, strict=True)
    )
    assert right >= 50
    links = [links_from_weights(hypothesis.weights[:1]) for hypothesis in found]
    assert sum(link == {(target[0] - 13, 0)} for link, target in zip(links, targets, strict=True)) >= 50


# ---- What is refused ----


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: score_layer("cubic", 3, 3), "score must be one of additive, dot, .*, got 'cubic'"),
        (lambda: score_layer("dot", 3, 4), "score 'dot' needs queries and keys of one width, got 3 and 4"),
        (lambda: score_layer("scaled dot", 3, 4), "score 'scaled dot' needs queries and keys of one width"),
        (lambda: score_layer("cosine", 3, 4), "score 'cosine' needs queries and keys of one width"),
        (lambda: score_layer("location", 3, 4), "'location' needs max_len"),
        (lambda: LocationAttention(3, 4).project_keys(torch.zeros(1, 5, 3)), "max_len = 4 places, got 5 keys"),
        (lambda: translator(query="during"), "query must be 'before' or 'after', got 'during'"),
        (lambda: translator(input_feeding=True), "input_feeding needs query='after'"),
        (lambda: translator(query="after", cell="gated"), "cell 'gated' reads a context"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
