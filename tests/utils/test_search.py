"""Greedy and beam search against slow loops over one sentence, exhaustive search, and a model set by hand."""

import math
from fractions import Fraction
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny import SEARCH_ROUNDING
from torch import nn

from utils.attention_variants import PointerDecoder
from utils.corpus.vocabulary import BOS, EOS, PAD, UNK
from utils.search import Hypothesis, beam_search, greedy, next_word_probabilities
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder, FixedContextDecoder


def model(decoder_type=BahdanauDecoder, *, num_layers: int = 1) -> EncoderDecoder:
    torch.manual_seed(3)
    encoder = Encoder(11, 5, 7, num_layers=num_layers)
    translator = EncoderDecoder(encoder, decoder_type(13, 3, 17, encoder.d_out, num_layers=num_layers))
    translator = translator.eval().double()
    with torch.no_grad():  # larger than trained ones, so that different sources end at different lengths
        for parameter in translator.parameters():
            parameter *= 4
    return translator


def sources() -> tuple[torch.Tensor, torch.Tensor]:
    src = torch.randint(4, 11, (19, 5), generator=torch.Generator().manual_seed(1))
    return src, torch.tensor([1, 2, 3, 4, 5] * 3 + [5, 3, 2, 1])


def may_be_written(words, word, no_repeat_ngram) -> bool:
    """Whether a search may write a word after these words."""
    text, n = [*words, word], no_repeat_ngram
    ngrams = [tuple(text[start : start + n]) for start in range(len(text) - n + 1)] if n else []
    return word not in (PAD, BOS) and (word == EOS or len(set(ngrams)) == len(ngrams))


def next_log_probs(translator, src, prefixes) -> list[list[float]]:
    """For each prefix, all of one length, the log-probability of each next word."""
    src, src_lens = src.expand(len(prefixes), -1), torch.full((len(prefixes),), len(src))
    logits, _ = translator(src, src_lens, torch.tensor([[BOS, *prefix] for prefix in prefixes]))
    return logits[:, -1].log_softmax(dim=-1).tolist()


def score(entry, length_penalty) -> float:
    words, log_prob, _ = entry
    return log_prob / max(1, len(words)) ** length_penalty


def best_first(entries, length_penalty):
    return sorted(
        entries, key=lambda entry: (entry[0][-1:] == (EOS,), score(entry, length_penalty)), reverse=True
    )


def slow_beam(translator, src, *, beam, max_len, length_penalty, no_repeat_ngram=0):
    """Lists of (words with the end, log-probability, ended), every prefix decoded again at every step."""
    kept = [((), 0.0, False)]
    for step in range(max_len + 1):
        going_on = [words for words, _, ended in kept if not ended]
        if not going_on:
            break
        log_ps = dict(zip(going_on, next_log_probs(translator, src, going_on), strict=True))
        candidates = []
        for words, log_prob, ended in kept:
            log_p = {
                w: p for w, p in enumerate(log_ps.get(words, [])) if may_be_written(words, w, no_repeat_ngram)
            }
            if ended or (step == max_len and max(log_p.values()) > log_p[EOS]):
                candidates.append((words, log_prob, True))
            elif step == max_len:
                candidates.append(((*words, EOS), log_prob + log_p[EOS], True))
            else:
                candidates += [((*words, w), log_prob + p, w == EOS) for w, p in log_p.items()]
        candidates.sort(key=lambda entry: score(entry, length_penalty), reverse=True)
        kept = candidates[:beam]
    return best_first(kept, length_penalty)


def assert_same(hypotheses: list[Hypothesis], wanted, length_penalty) -> None:
    assert [(*h.tokens, *[EOS] * h.finished) for h in hypotheses] == [words for words, _, _ in wanted]
    for hypothesis, entry in zip(hypotheses, wanted, strict=True):
        assert hypothesis.log_prob == pytest.approx(entry[1], abs=SEARCH_ROUNDING)
        expected = score(entry, length_penalty)
        assert hypothesis.score(length_penalty) == pytest.approx(expected, abs=SEARCH_ROUNDING)


def assert_weights_of_reading(translator, src, hypothesis: Hypothesis) -> None:
    """A hypothesis has the weights that the decoder has while it reads its words."""
    rows = len(hypothesis.tokens) + hypothesis.finished
    _, weights = translator(src[None], torch.tensor([len(src)]), torch.tensor([[BOS, *hypothesis.tokens]]))
    if weights is None:
        assert hypothesis.weights is None
    else:
        torch.testing.assert_close(hypothesis.weights, weights[0, :rows])
        assert not hypothesis.weights.requires_grad


@torch.no_grad()
@pytest.mark.parametrize(
    ("decoder_type", "num_layers", "beam", "max_len", "length_penalty", "no_repeat_ngram"),
    [
        (BahdanauDecoder, 1, 0, 1, 1.0, 0),  # a beam of 0 is greedy search
        (BahdanauDecoder, 2, 0, 7, 1.0, 0),
        (FixedContextDecoder, 2, 0, 7, 1.0, 1),
        (BahdanauDecoder, 1, 0, 7, 1.0, 2),
        (BahdanauDecoder, 2, 1, 5, 0.7, 1),
        (FixedContextDecoder, 1, 2, 5, 0.0, 2),
        (BahdanauDecoder, 2, 5, 5, 0.7, 0),
        (FixedContextDecoder, 2, 5, 5, 1.0, 1),
        (BahdanauDecoder, 1, 7, 5, 1.0, 0),
        (BahdanauDecoder, 1, 7, 5, 0.0, 2),
    ],
)
def test_searches_in_batches_equal_a_slow_loop(
    decoder_type, num_layers, beam, max_len, length_penalty, no_repeat_ngram
):
    translator = model(decoder_type, num_layers=num_layers)
    src, src_lens = sources()
    options = {"max_len": max_len, "no_repeat_ngram": no_repeat_ngram}
    if beam:
        options |= {"beam": beam, "length_penalty": length_penalty}
        found = beam_search(translator, src, src_lens, **options)
    else:
        found = [[hypothesis] for hypothesis in greedy(translator, src, src_lens, **options)]
    for row, hypotheses in list(enumerate(found))[:7]:
        alone = src[row, : src_lens[row]]
        wanted = slow_beam(translator, alone, **{"beam": 1, "length_penalty": 1.0} | options)
        assert_same(hypotheses, wanted, length_penalty)
        for hypothesis in hypotheses:
            assert_weights_of_reading(translator, alone, hypothesis)


def test_that_batch_holds_finished_and_unfinished_sentences():
    hypotheses = greedy(model(), *sources(), max_len=7)
    assert {hypothesis.finished for hypothesis in hypotheses} == {True, False}
    assert len({len(hypothesis.tokens) for hypothesis in hypotheses}) > 2


def tiny_vocabulary() -> EncoderDecoder:
    """Six target tokens, three of which may not be written within a sentence: 3^m prefixes of m words."""
    torch.manual_seed(5)
    encoder = Encoder(11, 5, 7)
    translator = EncoderDecoder(encoder, BahdanauDecoder(6, 3, 17, encoder.d_out)).eval().double()
    with torch.no_grad():
        for parameter in translator.parameters():
            parameter *= 3
    return translator


@torch.no_grad()
@pytest.mark.parametrize(("options", "length_penalty"), [({"length_penalty": 0.0}, 0.0), ({}, 1.0)])
def test_the_widest_beam_finds_all_translations_in_order(options, length_penalty):
    translator, max_len = tiny_vocabulary(), 3
    src, src_lens = sources()
    everything, log_prob = [], {(): 0.0}
    for length in range(max_len + 1):
        prefixes = list(product([UNK, 4, 5], repeat=length))
        for words, log_p in zip(prefixes, next_log_probs(translator, src[3, :4], prefixes), strict=True):
            log_prob |= {(*words, word): log_prob[words] + log_p[word] for word in range(6)}
            if length < max_len or log_p[EOS] == max(log_p[EOS:]):
                everything.append(((*words, EOS), log_prob[*words, EOS], True))
            else:  # cut off
                everything.append((words, log_prob[words], True))
    assert len(everything) == 1 + 3 + 9 + 27
    [hypotheses] = beam_search(translator, src[3:4], src_lens[3:4], beam=200, max_len=max_len, **options)
    assert_same(hypotheses, best_first(everything, length_penalty), length_penalty)


def test_score_by_hand():
    hypothesis = Hypothesis([5, 6, 7], -8.0, None, finished=True)
    assert hypothesis.score() == -2.0
    assert hypothesis.score(0.0) == -8.0
    assert hypothesis.score(0.5) == -4.0
    assert Hypothesis([], 0.0, None, finished=False).score() == 0.0


# ---- Words that may not be written ----


class Wishes(nn.Module):
    """A decoder whose next word depends on the last one alone: row w of the table has the logits after word w."""

    def __init__(self, probabilities: list[list[float]]):
        super().__init__()
        self.table = nn.Parameter(torch.tensor(probabilities).log())

    def start(self, enc_outputs, enc_state, src_lens):
        return enc_outputs, enc_outputs.new_zeros(1, len(enc_outputs))

    def forward(self, tgt_in, memory, state):
        return self.table[tgt_in], state, None


def searched(decoder, **options) -> list[Hypothesis]:
    """What greedy search finds for one sentence, then what a beam of 3 finds."""
    args = EncoderDecoder(Encoder(11, 5, 7), decoder), torch.tensor([[4, 5]]), torch.tensor([2])
    return [*greedy(*args, **options), *beam_search(*args, beam=3, **options)[0]]


#: In the rows and columns are padding, the beginning, the end, the unknown word, and the words 4 and 5.
#: Word 4 likes to follow itself, then word 5, then the end.
LOOP = [[0.0, 0.0, 0.0625, 0.0, 0.6875, 0.25]] * 6


@pytest.mark.parametrize("decoder_type", [BahdanauDecoder, FixedContextDecoder, PointerDecoder])
def test_no_decoder_writes_padding_whatever_it_wants(decoder_type):
    translator = model(BahdanauDecoder if decoder_type is PointerDecoder else decoder_type)
    if decoder_type is PointerDecoder:
        translator.decoder = PointerDecoder(13, 3, 17, translator.encoder.d_out, unknown=UNK).eval().double()
    with torch.no_grad():
        translator.decoder.output.bias[PAD] = translator.decoder.output.bias[BOS] = 99.0
    options = {"max_len": 5}
    found = [[hypothesis] for hypothesis in greedy(translator, *sources(), **options)]
    found += beam_search(translator, *sources(), beam=13, **options)
    assert not {PAD, BOS} & {word for sentence in found for h in sentence for word in h.tokens}


def test_the_other_words_keep_their_probabilities():
    [hypothesis, *_] = searched(Wishes([[0.5, 0.25, 0.125, 0.0, 0.125, 0.0]] * 6), max_len=3)
    assert (hypothesis.tokens, hypothesis.finished) == ([], True)  # of two equal words the first
    assert hypothesis.log_prob == pytest.approx(math.log(0.125), abs=SEARCH_ROUNDING)


@pytest.mark.parametrize(
    ("no_repeat_ngram", "tokens", "probability", "finished"),
    [
        (0, [4, 4, 4, 4, 4], 0.6875**5, False),
        (1, [4, 5], 0.6875 * 0.25 * 0.0625, True),
        # 4 4 and 4 5 are written already, so only the end is left
        (2, [4, 4, 5, 4], 0.6875**2 * 0.25 * 0.6875 * 0.0625, True),
        (3, [4, 4, 4, 5, 4], 0.6875**3 * 0.25 * 0.6875, False),
        (7, [4, 4, 4, 4, 4], 0.6875**5, False),
    ],
)
def test_repeated_ngrams_by_hand(no_repeat_ngram, tokens, probability, finished):
    greedily, *_ = searched(Wishes(LOOP), max_len=5, no_repeat_ngram=no_repeat_ngram)
    assert (greedily.tokens, greedily.finished) == (tokens, finished)
    assert greedily.log_prob == pytest.approx(math.log(probability), abs=SEARCH_ROUNDING)


def test_without_a_possible_word_a_hypothesis_stops():
    endless = Wishes([[0.0, 0.0, 0.0, 0.0, 0.75, 0.25]] * 6)
    for hypothesis in searched(endless, max_len=5, no_repeat_ngram=1):
        assert hypothesis.tokens in ([4, 5], [5, 4])
        assert not hypothesis.finished
        assert hypothesis.log_prob == pytest.approx(math.log(0.75 * 0.25), abs=SEARCH_ROUNDING)


# ---- The probabilities of the next word ----

LOGITS = torch.tensor([[2.0, -0.5, 1.1, 0.3, -3.0, 1.6, 0.0], [0.4, 0.1, -0.2, 3.0, 0.7, -1.0, 0.5]])
#: By temperature and top_p, what TemperatureLogitsWarper and TopPLogitsWarper of transformers 4.57.1 leave of `LOGITS`,
#: after the softmax.
THEIRS = {
    (0.5, 0.75): [[0.689974, 0, 0, 0, 0, 0.310026, 0], [0, 0, 0, 1, 0, 0, 0]],
    (0.5, 0.95): [[0.619338, 0, 0.102376, 0, 0, 0.278286, 0], [0, 0, 0, 1, 0, 0, 0]],
    (1.0, 0.75): [[0.481489, 0, 0.195759, 0, 0, 0.322752, 0], [0, 0, 0, 0.908877, 0.091123, 0, 0]],
    (1.7, 0.3): [[0.558554, 0, 0, 0, 0, 0.441446, 0], [0, 0, 0, 1, 0, 0, 0]],
    (1.7, 0.95): [
        [0.304384, 0.069944, 0.179267, 0.111977, 0, 0.240566, 0.093861],
        [0.106271, 0.089079, 0.074668, 0.49049, 0.126781, 0, 0.11271],
    ],
}


@pytest.mark.parametrize(("temperature", "top_p"), THEIRS)
def test_words_are_drawn_as_transformers_draws_them(temperature, top_p):
    ours = next_word_probabilities(LOGITS, temperature=temperature, top_p=top_p)
    # float32 rounds each probability at most five times, as an exponential, in sums and in quotients, by 2^-24 each
    # time. Theirs are rounded to six digits too.
    rounding = 5 * 2**-24
    expected = torch.tensor(THEIRS[temperature, top_p])
    torch.testing.assert_close(ours, expected, atol=2 * rounding + 5e-7, rtol=0)
    for row, in_batch in zip(LOGITS, ours, strict=True):
        alone = next_word_probabilities(row, temperature=temperature, top_p=top_p)
        torch.testing.assert_close(alone, in_batch, atol=2 * rounding, rtol=0)


def test_top_p_1_keeps_all_words_0_one():
    torch.testing.assert_close(next_word_probabilities(LOGITS), LOGITS.softmax(dim=-1))
    assert next_word_probabilities(torch.tensor([99.0, 100.0]), temperature=1e-308).tolist() == [0, 1]
    spread = torch.zeros(1001)
    assert (next_word_probabilities(spread) > 0).all()
    assert next_word_probabilities(spread, top_p=1e-9).tolist() == [1.0, *[0.0] * 1000]
    half = next_word_probabilities(LOGITS.half(), temperature=0.01)
    torch.testing.assert_close(half.sum(dim=-1), torch.ones(2))


def exact_nucleus(shares: list[Fraction], top_p: Fraction) -> list[int]:
    """The words that stay, by exact sums."""
    kept, total = [], Fraction(0)
    for word in sorted(range(len(shares)), key=lambda word: (-shares[word], word)):
        if total >= top_p:
            break
        kept.append(word)
        total += shares[word]
    return sorted(kept)


def kept_words(logits: torch.Tensor, top_p: float) -> list[int]:
    return next_word_probabilities(logits, top_p=top_p).nonzero().flatten().tolist()


@given(st.lists(st.integers(1, 9), min_size=1, max_size=11), st.data())
def test_the_fewest_words_stay_by_exact_sums(counts, data):
    shares = [Fraction(count, sum(counts)) for count in counts]
    # Often a sum that some words reach exactly.
    reached = data.draw(st.integers(1, sum(counts)))
    top_p = Fraction(reached, sum(counts))
    exact = exact_nucleus(shares, top_p)
    for dtype in (torch.float32, torch.float64):
        # In float64 first: what rounds is the logit, not the share.
        logits = torch.tensor([float(share) for share in shares], dtype=torch.float64).log().to(dtype)
        assert kept_words(logits, float(top_p)) == exact


@pytest.mark.parametrize(
    ("shares", "top_p", "kept"),
    [
        ([0.5, 0.3, 0.1, 0.1], 0.8, [0, 1]),
        ([0.1, 0.3, 0.1, 0.5], 0.9, [0, 1, 3]),  # of two equal words the first
        ([0.5, 0.3, 0.1, 0.1], 0.85, [0, 1, 2]),
        ([0.25, 0.25, 0.25, 0.25], 0.5, [0, 1]),
        ([0.2] * 5, 0.6, [0, 1, 2]),
    ],
)
def test_no_rounding_decides_how_many_words_stay(shares, top_p, kept):
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        assert kept_words(torch.tensor(shares, dtype=dtype).log(), top_p) == kept


def test_a_word_of_probability_0_is_not_drawn():
    logits = torch.tensor([-math.inf, math.log(0.5), math.log(0.25), math.log(0.25)])
    assert kept_words(logits, 0.75) == [1, 2]
    assert kept_words(logits, 1.0) == [1, 2, 3]


@pytest.mark.parametrize(("name", "number"), [("temperature", 0.0), ("top_p", 0.0), ("top_p", 1.5)])
def test_numbers_out_of_range_are_refused(name, number):
    with pytest.raises(ValueError, match=f"{name} must be .*, got {number}"):
        next_word_probabilities(LOGITS, **{name: number})
