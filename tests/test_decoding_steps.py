"""The figure that walks through decoding: the numbers that it records, and what it shows at each stage."""

import xml.etree.ElementTree as ET

import pytest
import torch
from decoding_example import SOURCE, TARGET, record

from utils.corpus.batches import make_batch
from utils.corpus.vocabulary import Vocabulary
from utils.explorables import DecodingSteps, record_decoding
from utils.explorables.decoding import END, STAGES
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


def shown_texts(steps: DecodingSteps) -> list[str]:
    """The texts of the opening picture that are not hidden."""
    found = []

    def visit(node: ET.Element, seen: bool) -> None:
        seen = {"visible": True, "hidden": False, None: seen}[node.get("visibility")]
        if node.tag.endswith("text") and seen:
            found.append(node.text)
        for child in node:
            visit(child, seen)

    visit(ET.fromstring(steps.draw()), True)
    return found


def test_each_stage_shows_its_numbers_and_those_of_the_stages_before() -> None:
    kept = record()
    for word in range(4):
        numbers = [
            [f"{score:.1f}" for score in kept.scores[word]],
            [f"{weight:.2f}" for weight in kept.weights[word]],
            [],
            [],
            [f"{share:.3f}" for share in kept.probabilities[word]],
        ]
        for at, stage in enumerate(STAGES):
            texts = shown_texts(figure(word=word, stage=stage))
            given = [text for text in texts if text.lstrip("-")[0].isdigit() and "." in text]
            assert given == [n for some in numbers[: at + 1] for n in some]
            listed = kept.candidates[word] if stage == "word" else []
            assert texts[texts.index("5 word") + 1 :][: len(listed)] == listed
            # Each word of the sentence stands there once, and again in full once it is written.
            for i, target in enumerate(TARGET):
                written = i < word or (i == word and stage == "word")
                assert texts.count(target) == 1 + written + listed.count(target)


def test_the_terms_add_up_to_the_context_and_the_drawn_numbers_are_numbers_of_the_vectors() -> None:
    steps, kept = figure(), record()
    contexts = steps.frames("contexts")
    assert contexts.shape == (4, 6)
    torch.testing.assert_close(
        sum(torch.tensor(steps.frames(f"part_{j}")) for j in range(3)),
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
        f"To write word 3, the query scores each of the 3 source words: «{SOURCE[best]}» gets the highest "
        f"score, {kept.scores[2, best]:.1f}."
    )
    assert f"«{SOURCE[best]}» gets {kept.weights[2, best]:.2f}" in steps.sentence(word=2, stage="softmax")
    assert f"«{SOURCE[best]}» has {kept.weights[2, best]:.0%}" in steps.sentence(word=2, stage="average")
    moved = (kept.states[2] - kept.queries[2]).abs().mean()
    assert steps.sentence(word=2, stage="next state").endswith(
        f"the word before, «voiture». Its numbers change by {moved:.2f} on average."
    )
    assert "«(begin)»" in steps.sentence(word=0, stage="next state")
    assert steps.sentence(word=2, stage="word").endswith(
        "«bleue» gets 50.0%, and «rouge», the second, 40.0%."
    )
    assert "«(end)» gets 99.0%" in steps.sentence(word=3, stage="word")


def test_the_play_button_runs_through_the_stages_and_then_the_words() -> None:
    steps = figure()
    assert [axis["play"] for axis in steps.spec["axes"]] == [["word"]]
    assert steps.spec["pace"] > 500
    assert len(steps._repr_html_()) < 60_000


def test_one_source_word_has_no_second() -> None:
    kept = record_decoding(model(), ["flower"], ["la", "fleur"], EN, FR)
    steps = DecodingSteps(kept, name="f")
    assert "«flower» gets 1.00" in steps.sentence(stage="softmax")


def test_a_long_target_takes_a_second_line_and_no_word_leaves_the_picture() -> None:
    translator = model()
    long = DecodingSteps(record_decoding(translator, ENGLISH, FRENCH * 5, EN, FR), name="f")
    short = DecodingSteps(record_decoding(translator, ENGLISH, FRENCH, EN, FR), name="f")
    tall, low = (ET.fromstring(steps.draw()) for steps in (long, short))
    areas = tall.findall(".//*[@data-pick]")
    assert len(areas) == 21
    assert all(float(a.get("x")) + float(a.get("width")) <= 340 for a in areas)
    assert len({a.get("y") for a in areas}) == 3
    assert float(tall.get("viewBox").split()[3]) - float(low.get("viewBox").split()[3]) == 48
