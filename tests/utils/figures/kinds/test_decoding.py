"""The figure that walks through decoding: the numbers that it records, and what it shows at each stage."""

from dataclasses import replace

import pytest
import torch
from decoding_example import SOURCE, record

from utils.corpus.batches import make_batch
from utils.corpus.vocabulary import Vocabulary
from utils.figures import DecodingSteps, record_decoding
from utils.figures.kinds.decoding import END
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder

EN = Vocabulary.words([["the", "small", "white", "flower", "."], ["a", "cat"]])
FR = Vocabulary.words([["la", "petite", "fleur", "blanche", "."], ["un", "chat"], ["le"]])
ENGLISH, FRENCH = ["the", "white", "flower"], ["la", "fleur", "blanche", "."]


def model(*, num_layers: int = 1) -> EncoderDecoder:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        encoder = Encoder(len(EN), 5, 7, num_layers=num_layers)
        decoder = BahdanauDecoder(
            len(FR), 3, 11, encoder.d_out, d_attention=13, num_layers=num_layers, dropout=0.5
        )
        return EncoderDecoder(encoder, decoder).eval()


@pytest.mark.parametrize("num_layers", [1, 2])
def test_the_record_holds_what_the_model_computes(num_layers: int) -> None:
    translator = model(num_layers=num_layers)
    batch = make_batch(EN.encode([ENGLISH]), FR.encode([FRENCH]))
    with torch.no_grad():
        logits, weights = translator(batch.src, batch.src_lens, batch.tgt_in)
        memory, first = translator.start(batch.src, batch.src_lens)
        _, last, _ = translator.decoder(batch.tgt_in, memory, first)
    kept = record_decoding(translator, ENGLISH, FRENCH, EN, FR)
    assert (kept.source, kept.target) == (ENGLISH, [*FRENCH, END])
    torch.testing.assert_close(kept.weights, weights[0])
    torch.testing.assert_close(kept.scores.softmax(dim=1), kept.weights)
    torch.testing.assert_close(kept.values, memory.values[0])
    torch.testing.assert_close(kept.contexts, weights[0] @ memory.values[0])
    torch.testing.assert_close(kept.queries[0], first[-1, 0])
    torch.testing.assert_close(kept.queries[1:], kept.states[:-1])
    torch.testing.assert_close(kept.states[-1], last[-1, 0])
    highest, ids = logits[0].softmax(dim=-1).topk(5)
    torch.testing.assert_close(kept.probabilities, highest)
    assert kept.candidates == [
        [END if word == "<eos>" else word for word in FR.tokens(row)] for row in ids.tolist()
    ]


def test_a_model_in_training_is_refused() -> None:
    with pytest.raises(ValueError, match="evaluation mode"):
        record_decoding(model().train(), ENGLISH, FRENCH, EN, FR)


# -- the figure -----------------------------------------------------------------------------------------------


def figure(**changes) -> DecodingSteps:
    return DecodingSteps(replace(record(), **changes), name="f")


def test_the_sentence_says_what_happens_with_its_numbers() -> None:
    steps, kept = figure(), record()
    best = int(kept.scores[2].argmax())
    assert steps.sentence(word="rouge", stage="score") == (
        f"1. For word 3 the query scores the 3 source words: “{SOURCE[best]}” is highest, {kept.scores[2, best]:.1f}."
    )
    assert f"“{SOURCE[best]}” gets {kept.weights[2, best]:.2f}" in steps.sentence(word=2, stage="softmax")
    assert f"“{SOURCE[best]}” has {kept.weights[2, best]:.0%}" in steps.sentence(word=2, stage="average")
    moved = (kept.states[2] - kept.queries[2]).abs().mean()
    assert steps.sentence(word=2, stage="next state").endswith(
        f"the context and “voiture”; its numbers change by {moved:.2f} on average."
    )
    assert "“(begin)”" in steps.sentence(word=0, stage="next state")
    assert steps.sentence(word=2, stage="word").endswith("“bleue” 50.0%, “rouge” 40.0%.")
    assert "“(end)” 99.0%" in steps.sentence(word=3, stage="word")
    kept = record_decoding(model(), ["flower"], ["la", "fleur"], EN, FR)  # which has no second word
    assert "“flower” gets 1.00" in DecodingSteps(kept, name="f").sentence(stage="softmax")
