"""What all searches and writers have in common: NaN is no word, and nobody writes more than was asked for.

A function that is new among them is found by its arguments: a model, and the most that may be written.
"""

import importlib
import inspect
import math
import pkgutil
import warnings
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor, nn

import utils
from utils.chat_model import ChatModel, write
from utils.errors import NotFiniteError
from utils.fast_decoding import GPT, generate, look_up, speculative, with_drafts
from utils.search import beam_search, greedy, next_word_probabilities
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder

#: Names of the argument that limits what is written.
LIMITS = {"max_len", "num_words", "num_pieces"}
VOCAB, PLACES = 13, 11
PROMPT = torch.tensor([[5, 7, 5, 7, 5]])


def gpt(**options) -> GPT:
    torch.manual_seed(0)
    return GPT(VOCAB, 8, num_heads=2, num_layers=1, max_len=PLACES, **options).eval()


def chat() -> ChatModel:
    torch.manual_seed(0)
    return ChatModel(VOCAB, 8, num_heads=2, num_key_heads=1, num_layers=1, d_hidden=7, max_len=PLACES)


def translator() -> EncoderDecoder:
    torch.manual_seed(0)
    encoder = Encoder(VOCAB, 3, 5)
    return EncoderDecoder(encoder, BahdanauDecoder(VOCAB, 3, 5, encoder.d_out)).eval()


def everything(words: Tensor, _most: int) -> Tensor:
    """Drafts without an end."""
    return words[:, :1].repeat(1, 40)


SOURCE = PROMPT, torch.tensor([5])
#: Each function as a function of a model and a limit.
WRITERS: dict[Callable, list[tuple[Callable[[], nn.Module], Callable]]] = {
    greedy: [(translator, lambda model, most: greedy(model, *SOURCE, max_len=most))],
    beam_search: [(translator, lambda model, most: beam_search(model, *SOURCE, beam=3, max_len=most))],
    generate: [
        (make, lambda model, most, cache=cache: generate(model, PROMPT, most, cache=cache))
        for make in (partial(gpt, positions="learned"), chat)
        for cache in (False, True)
    ],
    with_drafts: [
        (make, lambda model, most, propose=propose: with_drafts(model, propose, PROMPT, most))
        for make in (partial(gpt, positions="learned"), chat)
        for propose in (look_up, everything)
    ],
    speculative: [
        (partial(gpt, positions="learned"), lambda model, most: speculative(model, gpt(), PROMPT, most)),
        (gpt, lambda model, most: speculative(gpt(), model, PROMPT, most)),
        (chat, lambda model, most: speculative(model, model, PROMPT, most)),
    ],
    write: [(chat, lambda model, most: write(model, PROMPT, most))],
}
CASES = [case for cases in WRITERS.values() for case in cases]
every_case = pytest.mark.parametrize(("make", "call"), CASES)


def test_all_writers_are_here():
    found = set()
    for module in pkgutil.iter_modules(utils.__path__, "utils."):
        if not module.ispkg and module.name != "utils.__main__":
            functions = vars(importlib.import_module(module.name)).values()
            found |= {
                f
                for f in functions
                if inspect.isfunction(f)
                and f.__module__ == module.name
                and not f.__name__.startswith("_")
                and "model" in (names := inspect.signature(f).parameters)
                and LIMITS & names.keys()
            }
    assert {f.__name__ for f in found} - {"room_after"} == {f.__name__ for f in WRITERS}


@pytest.mark.parametrize("number", [math.nan, math.inf])
@every_case
def test_a_model_that_gives_no_probabilities_writes_nothing(make, call, number):
    """Such as after a training that diverged: torch would choose the first word, again and again."""
    model = make()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(number)
    with pytest.raises(NotFiniteError, match="logits must allow a word"):
        call(model, 3)


@pytest.mark.parametrize("row", [[0.0, math.nan, 1.0], [math.inf, 0.0, 1.0], [-math.inf] * 3])
def test_one_row_without_a_word_is_enough(row):
    logits = torch.tensor([[0.0, 1.0, 2.0], row])
    with pytest.raises(NotFiniteError, match="logits must allow a word"):
        next_word_probabilities(logits)
    with pytest.raises(NotFiniteError, match="logits must allow a word"):
        generate(lambda _, __: (logits[:, None], []), PROMPT[:, :1].repeat(2, 1), 3)


def test_a_word_may_be_excluded():
    logits = torch.tensor([[[-math.inf, 1.0, -math.inf]]])
    assert generate(lambda _, __: (logits, []), PROMPT[:, :1], 2).tolist() == [[5, 1, 1]]


def lengths(texts: object) -> list[int]:
    """How many words each text has beyond the prompt; a translation has none of its source."""
    if isinstance(texts, Tensor):
        return [texts.shape[1] - PROMPT.shape[1]] * len(texts)
    if isinstance(texts, tuple):
        return lengths(texts[0])
    flat = [h for text in texts for h in (text if isinstance(text, list) else [text])]
    return [len(h.tokens) for h in flat]


@pytest.mark.parametrize("most", [1, 2, 5, 7])
@every_case
def test_nobody_writes_more_than_was_asked_for(make, call, most):
    written = lengths(call(make(), most))
    assert written
    assert max(written) <= most
    if make is not translator:  # a translation may end before
        assert written == [most]


@every_case
def test_what_was_written_before_the_context_ended_is_returned(make, call):
    """A text of 11 places is read, so 7 words are written after 5: the last need not be read."""
    if not hasattr(make(), "max_len") or make().max_len == math.inf:
        assert max(lengths(call(make(), 20))) <= 20  # there is no such end
        return
    with pytest.warns(UserWarning, match="longest text of this model has 11 places, so it can write 7 of 20"):
        written = call(make(), 20)
    assert lengths(written) == [7]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lengths(call(make(), 7)) == [7]


def test_a_prompt_that_is_too_long_is_an_error():
    for call in (generate, write):
        with pytest.raises(ValueError, match=r"ids must end at place 11, .* got 15"):
            call(chat(), PROMPT.repeat(1, 3), 4)


def test_where_the_text_of_a_drafter_ends_the_model_goes_on_alone():
    model, draft = gpt(), gpt(positions="learned")
    text, calls = speculative(model, draft, PROMPT, 20)
    assert torch.equal(text, generate(model, PROMPT, 20))
    assert calls <= 20


def test_drafts_must_be_one_text():
    with pytest.raises(ValueError, match=r"propose must return one text, got shape \(5,\)"):
        with_drafts(gpt(), lambda words, _: words[0], PROMPT, 3)
