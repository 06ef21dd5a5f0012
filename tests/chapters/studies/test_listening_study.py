"""The study of a network that listens: places and times, what is changed in a sound, and what is stored."""

import json
import random

import pytest
import torch

from studies.espeak import Word, at_rate, speak
from studies.listening_study import (
    PARTS,
    RESULTS,
    SETTINGS,
    SOUNDS,
    Listener,
    Study,
    diagonal,
    elsewhere,
    errors_in_ms,
    hidden,
    mean_over,
    places_of_words,
    plain,
    prepared,
    quietest,
    sentences,
    share_with_interval,
    silenced,
    times_on_path,
)
from utils.corpus.download import get_network, has_network
from utils.speech import SAMPLE_RATE, read_sound, read_speech_model

WORDS = [Word("Tom", 0.0, 0.3), Word("sees", 0.3, 0.6), Word("us", 0.7, 1.1)]


@pytest.fixture
def espeak():
    try:
        return speak("Mary found the small white flower yesterday.")
    except OSError:
        pytest.skip("espeak-ng is not there: apt-get install espeak-ng")


# ---- Sounds ----


def test_words_follow_each_other_in_the_sound(espeak):
    assert " ".join(word.text for word in espeak.words) == "Mary found the small white flower yesterday"
    assert all(word.begin < word.end for word in espeak.words)
    assert [word.end for word in espeak.words[:-1]] == [word.begin for word in espeak.words[1:]]
    # After the last word is a pause.
    assert espeak.words[-1].end <= len(espeak.sound) / SAMPLE_RATE < espeak.words[-1].end + 0.1
    # The s of "small" is a hiss, and the vowel that comes after it is not.
    begin = round(espeak.words[3].begin * SAMPLE_RATE)
    hiss, vowel = (espeak.sound[begin + at : begin + at + 800] for at in (800, 3200))
    crossings = [(part[1:] * part[:-1] < 0).sum().item() for part in (hiss, vowel)]
    assert crossings[0] > 3 * crossings[1]


def test_the_stored_sounds_are_what_is_spoken(espeak):
    stored = json.loads((SOUNDS / "spoken.json").read_text("utf-8"))
    assert set(stored) == {"mary.wav", "tom.wav"}
    for name, facts in stored.items():
        spoken = speak(facts["text"])
        assert [word for word, _, _ in facts["words"]] == [word.text for word in spoken.words]
        for (_, *times), word in zip(facts["words"], spoken.words, strict=True):
            assert times == pytest.approx(word[1:], abs=0.002)
        assert len(read_sound(SOUNDS / name)) == pytest.approx(len(spoken.sound), abs=32)


def test_a_word_that_is_not_told_apart_is_named(espeak):
    with pytest.raises(ValueError, match="espeak-ng does not say when 'am' begins"):
        speak("I am glad.")
    with pytest.raises(ValueError, match="voice must be one that espeak-ng has, got 'xx-none'"):
        speak("Mary.", voice="xx-none")


def test_another_rate_keeps_the_tone():
    seconds = torch.arange(22_050, dtype=torch.float64) / 22_050
    changed = at_rate(torch.sin(2 * torch.pi * 440 * seconds), 22_050)
    expected = torch.sin(2 * torch.pi * 440 * torch.arange(16_000, dtype=torch.float64) / 16_000)
    torch.testing.assert_close(changed, expected, rtol=0, atol=1e-9)


def test_the_quietest_part_is_found():
    sound = torch.ones(2 * SAMPLE_RATE)
    sound[15_000:20_000] = 0.1
    assert quietest(sound) == pytest.approx(17_500 / SAMPLE_RATE, abs=0.02)


# ---- Places and times ----


def test_places_are_hidden_whole():
    for begin, end, gone in ((0.0, 0.02, {0}), (0.03, 0.07, {1, 2, 3}), (0.045, 0.0451, {2})):
        assert {place for place, seen in enumerate(hidden(begin, end, 7)) if not seen} == gone


def test_the_diagonal_counts_letters():
    # 3 + 1 + 4 + 1 + 2 = 11 signs in 1.1 seconds.
    assert [tuple(round(t, 6) for t in pair) for pair in diagonal(WORDS)] == [
        (0, 0.3),
        (0.4, 0.8),
        (0.9, 1.1),
    ]


def test_elsewhere_is_elsewhere():
    draw = random.Random(1)
    for word in WORDS * 50:
        begin, end = elsewhere(word, WORDS, draw)
        assert end <= word.begin + 1e-9 or begin >= word.end - 1e-9
        assert begin >= 0
        assert end <= 1.1 + 1e-9
        assert end - begin == pytest.approx(word.end - word.begin)
    long = [Word("a", 0.0, 0.2), Word("b", 0.2, 0.9), Word("c", 0.9, 1.0)]
    assert elsewhere(long[1], long, draw) == (0.0, 0.2)


def test_what_is_silenced_is_silence_and_no_more():
    sound = torch.arange(1.0, 32_001)
    changed = silenced(sound, 0.5, 1.25)
    assert torch.equal(changed[:8000], sound[:8000])
    assert torch.equal(changed[20_000:], sound[20_000:])
    assert not changed[8000:20_000].any()


def test_the_interval_is_that_of_whole_sentences():
    hits = [[True] * 5, [False] * 5] * 10
    found = share_with_interval(hits)
    assert (found["share"], found["words"]) == (0.5, 100)
    # The share of 20 draws of two sentences: its standard deviation is 1 / (2 sqrt(20)) = 0.112.
    low, high = found["interval"]
    assert low == pytest.approx(0.5 - 1.96 * 0.112, abs=0.04)
    assert high == pytest.approx(0.5 + 1.96 * 0.112, abs=0.04)


def test_the_place_of_a_word_has_the_largest_sum_of_its_pieces():
    weights = torch.tensor([[[0.9, 0.1, 0.0], [0.0, 0.4, 0.6], [0.0, 0.5, 0.5]]])
    assert places_of_words(weights, [[0], [1, 2]]).tolist() == [[0, 2]]
    heads = torch.stack([weights, weights.flip(-1)])
    assert mean_over(heads, [(0, 0), (1, 0)])[0].tolist() == pytest.approx([0.45, 0.1, 0.45])


def test_scores_are_prepared_as_whisper_does():
    torch.manual_seed(0)
    weights = torch.rand(2, 3, 5, 11)
    found = prepared(weights, [(0, 1), (1, 2)])
    total = torch.zeros(5, 11)
    for layer, head in ((0, 1), (1, 2)):
        for row in range(5):
            for place in range(11):
                around = []
                for near in range(place - 3, place + 4):
                    near = abs(near) if near < 11 else 20 - near
                    column = weights[layer, head, :, near]
                    around.append((column[row] - column.mean()) / column.std(unbiased=False))
                total[row, place] += sorted(around)[3] / 2
    torch.testing.assert_close(found, total)


def test_a_word_begins_with_its_first_piece_and_ends_before_the_next():
    scores = torch.zeros(5, 8)
    for row, places in ((1, (0, 1)), (2, (2, 3, 4)), (3, (5,)), (4, (6, 7))):
        scores[row, list(places)] = 1
    times = times_on_path(scores, [[1], [2, 3]], first=1)
    assert [pytest.approx(pair) for pair in times] == [(0.0, 0.04), (0.04, 0.12)]


def test_errors_are_means_over_all_words():
    found = [[(0.1, 0.3), (0.3, 0.5)], [(0.0, 0.2)]]
    gold = [[Word("a", 0.0, 0.35), Word("b", 0.25, 0.5)], [Word("c", 0.2, 0.2)]]
    assert errors_in_ms(found, gold) == {
        "begin": {"mean": 117, "median": 100, "within 100 ms": 0.667, "shift": -17},
        "end": {"mean": 17, "median": 0, "within 100 ms": 1.0, "shift": -17},
    }


def test_texts_are_compared_by_their_words():
    assert plain("Tom's cat, I SEE!") == "tom s cat i see"


# ---- What is stored ----


def test_the_stored_results_are_those_of_these_settings():
    stored = json.loads(RESULTS.read_text("utf-8"))
    assert stored["settings"] == json.loads(json.dumps(SETTINGS._asdict()))
    assert list(stored["parts"]) == list(PARTS)
    assert len(stored["parts"]["sentences"]["sentences"]) == SETTINGS.sentences
    heads = stored["parts"]["heads"]
    assert len(heads["each head"]) == 48
    assert heads["chosen"] == sorted(heads["chosen on"], key=lambda name: -heads["chosen on"][name])[:8]
    assert heads["reported"]["best head"]["share"] == heads["each head"][heads["chosen"][0]]


def test_the_stored_sentences_are_those_of_the_sample(espeak):
    stored = json.loads(RESULTS.read_text("utf-8"))["parts"]["sentences"]["sentences"]
    found = sentences(SETTINGS._replace(sentences=3))
    assert [text for text, _ in found] == [row["text"] for row in stored[:3]]
    for (_, spoken), row in zip(found, stored, strict=False):
        begins = [word.begin for word in spoken.words]
        assert [float(begin) for begin in row["begins"].split()] == pytest.approx(begins, abs=0.002)


@pytest.mark.slow
@pytest.mark.trains
def test_it_is_measured_once():
    if not has_network("whisper"):
        pytest.skip("the network is not there: attention-course data get whisper")
    study = Study(Listener(*read_speech_model(get_network("whisper"))), SETTINGS)
    with torch.no_grad():
        found = study.french()
    stored = json.loads(RESULTS.read_text("utf-8"))["parts"]["french"]
    assert found["translation"] == stored["translation"]
    for silence, probabilities in found["silence in the sound"].items():
        assert probabilities == pytest.approx(stored["silence in the sound"][silence], abs=0.01)
