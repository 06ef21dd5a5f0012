"""The cache, shared heads and drafts against torch's own functions, slow loops and numbers by hand."""

import itertools
import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from utils.fast_decoding import (
    GPT,
    POSITIONS,
    GroupedQueryAttention,
    cache_bytes,
    generate,
    look_up,
    speculative,
    with_drafts,
)
from utils.positions import rotate
from utils.transformer import EncoderLayer, causal_mask

BATCH, WORDS, VOCAB, D, HEADS = 2, 7, 11, 12, 6


def gpt(seed: int = 0, **options) -> GPT:
    torch.manual_seed(seed)
    return GPT(VOCAB, D, **{"num_heads": HEADS, "num_layers": 2, "max_len": 31} | options).eval()


def ids(num_words: int = WORDS, batch: int = BATCH) -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randint(VOCAB, (batch, num_words))


# ---- Bytes ----


@pytest.mark.parametrize(
    ("sizes", "bytes_per_word"),
    [((1, 1, 1), 4), ((3, 5, 7), 420), ((32, 8, 128), 131_072), ((96, 96, 128), 4_718_592)],
)
def test_the_bytes_of_a_word_by_hand(sizes, bytes_per_word):
    assert cache_bytes(*sizes) == bytes_per_word
    assert cache_bytes(*sizes, bytes_per_number=4) == 2 * bytes_per_word


@pytest.mark.parametrize("num_key_heads", [6, 3, 2, 1])
def test_a_cache_has_as_many_bytes_as_the_formula(num_key_heads):
    _, cache = gpt(num_key_heads=num_key_heads)(ids(batch=1))
    held = sum(tensor.numel() * tensor.element_size() for past in cache for tensor in past)
    assert held == WORDS * cache_bytes(2, num_key_heads, D // HEADS, bytes_per_number=4)


# ---- Shared heads ----


def by_hand(layer: GroupedQueryAttention, x: torch.Tensor) -> torch.Tensor:
    """Each head alone, with a loop over the queries."""
    d, group = layer.d_head, layer.num_heads // layer.num_key_heads
    contexts = torch.zeros(len(x), layer.num_heads * d)
    for head, i in itertools.product(range(layer.num_heads), range(len(x))):
        own, shared = slice(head * d, (head + 1) * d), slice(head // group * d, (head // group + 1) * d)
        q, k, v = layer.w_q(x)[:, own], layer.w_k(x)[:, shared], layer.w_v(x)[:, shared]
        if layer.positions == "rotary":
            q, k = rotate(q), rotate(k)
        scores = k[: i + 1] @ q[i] / math.sqrt(d)
        if layer.positions == "alibi":
            scores = scores - 2.0 ** (-8 * (head + 1) / layer.num_heads) * torch.arange(i, -1, -1)
        contexts[i, own] = torch.softmax(scores, dim=0) @ v[: i + 1]
    return layer.w_o(contexts)


@pytest.mark.parametrize("positions", ["rotary", "alibi", None])
@pytest.mark.parametrize("num_key_heads", [6, 3, 2, 1])
def test_shared_heads_are_those_of_a_loop(num_key_heads, positions):
    torch.manual_seed(3)
    layer, x = GroupedQueryAttention(D, HEADS, num_key_heads, positions=positions), torch.randn(WORDS, D)
    assert_close(layer(x)[0], by_hand(layer, x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_shared_heads_are_repeated_heads(dtype):
    torch.manual_seed(4)
    layer = GroupedQueryAttention(D, HEADS, 2).to(dtype)
    x = torch.randn(BATCH, WORDS, D, dtype=dtype)
    queries, keys, values = layer.project(x)
    keys, values = (part.repeat_interleave(3, dim=1) for part in (keys, values))
    heads = nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    assert_close(layer(x)[0], layer.w_o(heads.transpose(1, 2).flatten(2)))


def test_without_positions_it_is_the_transformer_s_layer():
    model, x = gpt(positions="none"), torch.randn(BATCH, WORDS, D)
    layer, theirs = model.layers[0], EncoderLayer(D, HEADS, 4 * D)
    names = {name: name.replace("attention.", "self_attention.", 1) for name in layer.state_dict()}
    theirs.load_state_dict({names[name]: tensor for name, tensor in layer.state_dict().items()})
    assert_close(layer(x)[0], theirs(x, causal_mask(WORDS))[0])


# ---- The cache ----


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("num_key_heads", [6, 2, 1])
def test_logits_are_equal_with_the_cache(positions, num_key_heads):
    model, words = gpt(positions=positions, num_key_heads=num_key_heads), ids(13)
    whole, _ = model(words)
    for cuts in ([1] * 13, [5, 1, 7], [12, 1]):
        past, parts = None, []
        for part in words.split(cuts, dim=1):
            logits, past = model(part, past)
            parts.append(logits)
        assert_close(torch.cat(parts, dim=1), whole, atol=1e-4, rtol=1e-4)
    assert past[1][0].shape == (BATCH, num_key_heads, 13, D // HEADS)


@pytest.mark.parametrize("positions", POSITIONS)
def test_the_same_text_with_and_without_cache(positions):
    model, prompt = gpt(positions=positions), ids(3)
    words = generate(model, prompt, 17)
    assert torch.equal(words, generate(model, prompt, 17, cache=False))
    assert torch.equal(words[:, :3], prompt)
    for n in range(3, 20):
        assert torch.equal(model(words[:, :n])[0][:, -1].argmax(dim=-1), words[:, n])


# ---- Drafts ----


@pytest.mark.parametrize("positions", ["rotary", "alibi", "learned"])
@pytest.mark.parametrize("num_drafts", [1, 2, 5])
@pytest.mark.parametrize("num_words", [1, 2, 13, 20])
def test_drafts_do_not_change_the_text(positions, num_drafts, num_words):
    model, draft = gpt(positions=positions), gpt(seed=5, num_layers=1)
    prompt = ids(3, batch=1)
    words, calls = speculative(model, draft, prompt, num_words, num_drafts=num_drafts)
    assert torch.equal(words, generate(model, prompt, num_words))
    assert math.ceil(num_words / (num_drafts + 1)) <= calls <= num_words


@pytest.mark.parametrize(("num_words", "num_drafts", "calls"), [(20, 4, 4), (21, 4, 5), (3, 5, 1)])
def test_perfect_drafts_need_the_fewest_calls(num_words, num_drafts, calls):
    model = gpt()
    assert speculative(model, model, ids(3, batch=1), num_words, num_drafts=num_drafts)[1] == calls


@pytest.mark.parametrize(
    ("text", "num_drafts", "length", "drafts"),
    [
        ([5, 7, 1, 3, 5, 7], 3, 2, [1, 3, 5]),
        ([5, 7, 1, 3, 5, 7], 9, 2, [1, 3, 5, 7]),  # the text ends
        ([5, 7, 1, 5, 7, 2, 5, 7], 1, 2, [2]),  # the last time
        ([4, 4, 4], 5, 2, [4]),
        ([5, 7, 1, 5, 7], 0, 2, []),
        ([5, 7, 1, 7, 5], 3, 2, []),  # not in this order
        ([5, 7, 1, 7, 5], 3, 1, [7, 1, 7]),
        ([5, 7], 3, 2, []),
        ([5], 3, 2, []),
    ],
)
def test_drafts_from_the_text_by_hand(text, num_drafts, length, drafts):
    assert look_up(torch.tensor([text]), num_drafts, length=length).tolist() == [drafts]


@pytest.mark.parametrize("num_drafts", [1, 2, 5, 30])
def test_any_drafts_leave_the_text_as_it_is(num_drafts):
    model, prompt = gpt(), ids(3, batch=1)
    text = generate(model, prompt, 29)

    def mixed(words: torch.Tensor, most: int) -> torch.Tensor:
        """Right drafts, wrong ones, and none, in turn."""
        n = words.shape[1]
        right = text[:, n : n + most]
        return [right, (right + 1) % VOCAB, right[:, :0]][n % 3]

    for propose in (look_up, mixed):
        words, calls = with_drafts(model, propose, prompt, 29, num_drafts=num_drafts)
        assert torch.equal(words, text)
        assert math.ceil(29 / (num_drafts + 1)) <= calls <= 29
    # A text that repeats itself is written in fewer calls.
    assert with_drafts(model, look_up, text.repeat(1, 3), 29, num_drafts=num_drafts)[1] < 29


def test_with_the_cache_each_word_is_read_once():
    model, read = gpt(), []
    model.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0].shape[1]))
    generate(model, ids(3), 4)
    generate(model, ids(3), 4, cache=False)
    assert read == [3, 1, 1, 1, 3, 4, 5, 6]


def test_each_call_reads_the_drafts_and_one_word_more():
    model, read = gpt(), []
    model.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0].shape[1]))
    speculative(model, gpt(), ids(3, batch=1), 9, num_drafts=2)
    assert read == [3 + 2, 1 + 2, 1 + 2]  # the first call reads the prompt, too


def test_drafts_fill_the_last_places_of_a_model():
    model, draft = gpt(positions="learned", max_len=11), gpt(positions="learned", max_len=11, seed=5)
    prompt = ids(3, batch=1)
    expected = generate(model, prompt, 8)
    for num_drafts in (1, 4, 7, 100):
        assert torch.equal(speculative(model, draft, prompt, 8, num_drafts=num_drafts)[0], expected)


def test_where_nothing_is_said():
    model = gpt()
    assert torch.equal(model(ids())[0], gpt(positions="rotary")(ids())[0])
    assert speculative(model, model, ids(3, batch=1), 21)[1] == 5  # 4 drafts and a word of the model per call
    x = torch.randn(WORDS, D)
    rotary = GroupedQueryAttention(D, HEADS, positions="rotary")
    assert torch.equal(rotary.project(x)[0], rotary.project(x, start=0)[0])
    learned = GPT(VOCAB, D, num_heads=HEADS, num_layers=1, positions="learned")
    assert torch.equal(learned.embed(ids()), learned.embed(ids(), start=0))
    assert learned.embed(ids(512)).shape == (BATCH, 512, D)
    with pytest.raises(ValueError, match="end at place 512"):
        learned.embed(ids(513))


# ---- Errors ----


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GroupedQueryAttention(12, 5), "multiple of num_heads, got 12 and 5"),
        (lambda: GroupedQueryAttention(12, 6, 4), "multiple of num_key_heads, got 6, 4"),
        (lambda: GroupedQueryAttention(12, 6, 0), "num_key_heads must be at least 1, got 0"),
        (lambda: GroupedQueryAttention(12, 6, positions="none"), "or None, got 'none'"),
        (lambda: GroupedQueryAttention(12, 6)(torch.zeros(2, 3, 7)), "x must have width 12, got 7"),
        (lambda: gpt(positions="absolute"), "one of sinusoids, learned, .* got 'absolute'"),
        (lambda: gpt(positions="learned")(ids(32)), "end at place 31, .* got 32"),
        (lambda: gpt()(ids() + 5), r"ids must be from 0 to 10, .*, got \d+"),
        (lambda: gpt()(ids() - 11), r"ids must be from 0 to 10, .*, got -\d+"),
        (lambda: generate(gpt(), ids()[0], 3), r"the axes \(batch, words\), got shape \(7,\)"),
        (lambda: look_up(ids(5, batch=1), -1), "num_drafts must be at least 0, got -1"),
        (lambda: look_up(ids(5, batch=1), 3, length=0), "length must be at least 1, got 0"),
        (
            lambda: with_drafts(gpt(), look_up, ids(5, batch=1), 3, num_drafts=0),
            "num_drafts must be at least 1",
        ),
    ],
)
@pytest.mark.usefixtures("unchecked_shapes")
def test_errors_say_what_they_want(call, message):
    with pytest.raises(ValueError, match=message):
        call()
