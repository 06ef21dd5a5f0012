"""The figure that walks through decoding: the numbers that it records, and what it shows at each stage."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from decoding_example import SOURCE, TARGET, record
from pictures import WIDTHS, Mark, Picture, check_legible, picture

from utils.corpus.batches import make_batch
from utils.corpus.vocabulary import Vocabulary
from utils.explorables import DecodingSteps, record_decoding
from utils.explorables.kinds.decoding import END, STAGES
from utils.search import greedy
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
def test_the_record_holds_what_the_model_computes_when_it_is_fed_the_words(num_layers: int) -> None:
    translator = model(num_layers=num_layers)
    batch = make_batch(EN.encode([ENGLISH]), FR.encode([FRENCH]))
    with torch.no_grad():
        logits, weights = translator(batch.src, batch.src_lens, batch.tgt_in)
        memory, first = translator.start(batch.src, batch.src_lens)
        _, last, _ = translator.decoder(batch.tgt_in, memory, first)
    kept = record_decoding(translator, ENGLISH, FRENCH, EN, FR, num_best=2)
    assert (kept.source, kept.target) == (ENGLISH, [*FRENCH, END])
    torch.testing.assert_close(kept.weights, weights[0])
    torch.testing.assert_close(kept.scores.softmax(dim=1), kept.weights)
    torch.testing.assert_close(kept.values, memory.values[0])
    torch.testing.assert_close(kept.contexts, weights[0] @ memory.values[0])
    torch.testing.assert_close(kept.queries[0], first[-1, 0])
    torch.testing.assert_close(kept.queries[1:], kept.states[:-1])
    torch.testing.assert_close(kept.states[-1], last[-1, 0])
    highest, ids = logits[0].softmax(dim=-1).topk(2)
    torch.testing.assert_close(kept.probabilities, highest)
    assert kept.candidates == [
        [END if word == "<eos>" else word for word in FR.tokens(row)] for row in ids.tolist()
    ]


def test_without_words_the_record_is_that_of_the_models_own_translation() -> None:
    translator = model()
    (src,) = EN.encode([ENGLISH])
    (own,) = greedy(translator, torch.tensor([src]), torch.tensor([3]), max_len=6)
    kept = record_decoding(translator, ENGLISH, None, EN, FR, max_len=6)
    assert kept.target == FR.tokens(own.tokens) + [END] * own.finished
    assert [best for best, *_ in kept.candidates] == kept.target
    torch.testing.assert_close(kept.weights, own.weights)


def test_a_model_in_training_is_refused() -> None:
    with pytest.raises(ValueError, match="evaluation mode"):
        record_decoding(model().train(), ENGLISH, FRENCH, EN, FR)


# -- the figure -----------------------------------------------------------------------------------------------


def figure(**start) -> DecodingSteps:
    return DecodingSteps(record(), name="f", start=start)


def panels(drawn: Picture) -> list[Mark]:
    """The grounds of the five panels, in order."""
    titles = [drawn.text(f"{k} {stage}") for k, stage in enumerate(STAGES, start=1)]
    frames = [
        mark for mark in drawn.of("rect") if mark.classes in ({"grid"}, {"now"}) and "rx" in mark.attributes
    ]
    assert len(frames) == 5
    for title, frame in zip(titles, frames, strict=True):
        assert inside(title, frame)
    return frames


def inside(mark: Mark, frame: Mark, slack: float = 1.0) -> bool:
    left, top, right, bottom = mark.box
    x1, y1, x2, y2 = frame.box
    return left >= x1 - slack and top >= y1 - slack and right <= x2 + slack and bottom <= y2 + slack


def within(drawn: Picture, frame: Mark, tag: str, *classes: str) -> list[Mark]:
    marks = drawn.of(tag, *classes, without=() if "pick" in classes else ("pick",))
    return [mark for mark in marks if inside(mark, frame) and mark is not frame]


@pytest.mark.parametrize("width", WIDTHS)
def test_each_panel_shows_its_numbers_and_those_of_later_stages_are_empty(width: int) -> None:
    kept, steps = record(), figure()
    for word in range(4):
        numbers = [
            [f"{score:.1f}".replace("-", "−") for score in kept.scores[word]],
            [f"{weight:.2f}" for weight in kept.weights[word]],
            [],
            [],
            [f"{share:.1%}" for share in kept.probabilities[word]],
        ]
        for at, stage in enumerate(STAGES):
            drawn = picture(steps, width, word=word, stage=stage)
            frames = panels(drawn)
            assert ["now" in frame.classes for frame in frames] == [k == at for k in range(5)]
            for k, frame in enumerate(frames):
                texts = [mark.text for mark in within(drawn, frame, "text")]
                given = [text for text in texts if text.lstrip("−")[0].isdigit() and "." in text]
                assert given == (numbers[k] if k <= at else [])
                assert ("?" in texts) == (k > at)
            if stage == "word":
                named = [m.text for m in within(drawn, frames[4], "text")][1::2]
                assert named == ["full stop" if c == "." else c for c in kept.candidates[word]]
            pale = [mark.text for mark in drawn.of("text", "pale")]
            assert pale == TARGET[word + (stage == "word") :]


@pytest.mark.parametrize("width", WIDTHS)
def test_bars_are_as_long_as_their_numbers(width: int) -> None:
    kept, steps = record(), figure()
    for word in range(4):
        drawn = picture(steps, width, word=word, stage="word")
        scores, weights, average, state, words = panels(drawn)
        lengths = [bar["width"] for bar in within(drawn, scores, "rect", "score")]
        assert proportional(lengths, kept.scores[word].abs())
        full = within(drawn, weights, "rect", "grid")[0]["width"]
        lengths = [bar["width"] for bar in within(drawn, weights, "rect", "weight")]
        assert lengths == pytest.approx((full * kept.weights[word]).tolist(), abs=0.02)
        lengths = [bar["width"] for bar in within(drawn, words, "rect", "chance")]
        assert proportional(lengths, kept.probabilities[word])
        parts = [bar["height"] for bar in within(drawn, average, "rect", "value")]
        assert proportional(parts, np.abs(steps.frames("parts")[word]).reshape(-1))
        summed = [bar["height"] for bar in within(drawn, average, "rect", "context")]
        assert proportional(summed, np.abs(steps.frames("contexts")[word]))
        before = [bar["height"] for bar in within(drawn, state, "rect", "trace")]
        after = [bar["height"] for bar in within(drawn, state, "rect", "query")]
        assert proportional(
            before + after, np.abs(np.r_[steps.frames("queries")[word], steps.frames("states")[word]])
        )
        # The query above the panels is the state before.
        query = [bar for bar in drawn.of("rect", "query", without=("frame",)) if not inside(bar, state)]
        assert proportional([bar["height"] for bar in query], np.abs(steps.frames("queries")[word]))


def proportional(lengths: list[float], numbers) -> bool:
    """Whether bars are drawn in one scale; they are written to a hundredth of a pixel."""
    numbers = np.asarray(numbers)
    assert len(lengths) == len(numbers)
    scale = max(lengths) / numbers.max()
    return bool(np.abs(np.array(lengths) - scale * numbers).max() < 0.03)


@pytest.mark.parametrize("width", WIDTHS)
def test_scores_that_are_all_0_have_bars_of_no_length(width: int) -> None:
    flat = replace(record(), scores=torch.zeros(4, 3), weights=torch.full((4, 3), 1 / 3))
    drawn = picture(DecodingSteps(flat, name="f"), width, stage="word")
    scores, weights, *_ = panels(drawn)
    assert [bar["width"] for bar in within(drawn, scores, "rect", "score")] == [0, 0, 0]
    full = within(drawn, weights, "rect", "grid")[0]["width"]
    lengths = [bar["width"] for bar in within(drawn, weights, "rect", "weight")]
    assert lengths == pytest.approx([full / 3] * 3, abs=0.02)


@pytest.mark.parametrize("width", WIDTHS)
def test_scores_below_0_run_to_the_other_side(width: int) -> None:
    kept = record()
    assert (kept.scores < 0).any()
    for word in range(4):
        drawn = picture(figure(), width, word=word)
        scores, *_ = panels(drawn)
        (zero,) = within(drawn, scores, "line", "grid")
        for bar, score in zip(within(drawn, scores, "rect", "score"), kept.scores[word], strict=True):
            assert bar.box[2 if score < 0 else 0] == pytest.approx(zero["x1"], abs=0.02)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_click_on_a_panel_chooses_its_stage(width: int) -> None:
    drawn = picture(figure(), width)
    for at, frame in enumerate(panels(drawn)):
        (area,) = [m for m in drawn.of("rect", "pick") if m.attributes["data-pick"] == f'{{"stage":{at}}}']
        assert area.box == frame.box


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_and_no_texts_touch(width: int) -> None:
    long = DecodingSteps(record_decoding(model(), ENGLISH * 3, FRENCH * 5, EN, FR), name="f")
    for steps in (figure(), long):
        for stage in STAGES:
            for word in (0, 3):
                check_legible(picture(steps, width, stage=stage, word=word), width)


def test_the_terms_add_up_to_the_context_and_the_drawn_numbers_are_numbers_of_the_vectors() -> None:
    steps, kept = figure(), record()
    contexts = steps.frames("contexts")
    assert contexts.shape == (4, 6)
    torch.testing.assert_close(
        torch.tensor(steps.frames("parts")).sum(dim=1),
        torch.tensor(contexts),
        atol=1e-5,
        rtol=0,
    )
    for key, vectors, count in (("contexts", kept.contexts, 6), ("states", kept.states, 12)):
        drawn = torch.tensor(steps.frames(key), dtype=torch.float32)
        columns = [(vectors - column[:, None]).abs().sum(dim=0).argmin() for column in drawn.T]
        torch.testing.assert_close(vectors[:, columns], drawn, atol=1e-4, rtol=0)
        # Those that differ most, in the order in which they stand in the vector.
        assert [int(c) for c in columns] == sorted(vectors.std(dim=0).topk(count).indices.tolist())
    assert steps.frames("queries")[1:].tolist() == steps.frames("states")[:-1].tolist()


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


def test_the_play_button_runs_through_the_stages_of_a_word() -> None:
    steps = figure()
    assert steps.spec["play"] == ["stage"]
    assert steps.spec["pace"] > 500
    assert len(steps._repr_html_()) < 60_000


def test_one_source_word_has_no_second() -> None:
    kept = record_decoding(model(), ["flower"], ["la", "fleur"], EN, FR)
    steps = DecodingSteps(kept, name="f")
    assert "“flower” gets 1.00" in steps.sentence(stage="softmax")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_long_target_takes_more_lines_and_each_word_can_be_clicked(width: int) -> None:
    long = DecodingSteps(record_decoding(model(), ENGLISH, FRENCH * 8, EN, FR), name="f")
    drawn = picture(long, width, word=32)
    areas = [
        area for area in drawn.of("rect", "pick") if [*json.loads(area.attributes["data-pick"])] == ["word"]
    ]
    assert [area.attributes["data-pick"] for area in areas] == [f'{{"word":{i}}}' for i in range(33)]
    assert min(area.box[2] - area.box[0] for area in areas) >= 24
    assert all(inside(drawn.of("text", "middle")[i], area) for i, area in enumerate(areas))
    assert all(area.box[2] <= width and area["height"] >= 24 for area in areas)
    lines = sorted({area["y"] for area in areas})
    assert len(lines) == {720: 2, 328: 5}[width]
    (frame,) = drawn.of("rect", "query", "frame")
    assert inside(areas[32], frame)
