"""The spectrogram of a sound, what of it is lit and played, and beams from the words to the sound."""

import base64
import re
import struct
import zlib

import numpy as np
import pytest
import torch
from example_figures import tone
from pictures import WIDTHS, marks, sizes, texts

from utils.figures import Listening
from utils.figures.kinds.listening import png, read_wav, shades_of

WORDS = ["white", "flower"]
#: Seven places of 0.1 s: white looks at the sixth, and flower at the first and the third.
WEIGHTS = torch.tensor([[0, 0, 0, 0, 0.125, 0.5, 0.25], [0.2, 0.1, 0.3, 0.1, 0, 0, 0]])
GOLD = [(0.5, 0.65), (0.0, 0.3)]


def small(**changes) -> Listening:
    options = {
        "sound": tone(0.68), "spectrogram": torch.arange(70.0).reshape(5, 14), "words": WORDS, "place": 0.1,
        "name": "small", "alt": "A sound.", "say": "{word}: {at[word]:2} s, {top[word]:2}, {near[word]:3}",
    } | changes  # fmt: skip
    return Listening(options.pop("compute", lambda: {"weights": WEIGHTS}), {}, **options)


def across(width: int) -> tuple[float, float]:
    """Where the spectrogram begins and how long a second is, read from the picture."""
    (box,) = marks(small().draw(width), "rect", "handle")
    return float(box.get("x")), float(box.get("width")) / 0.7


def test_the_sentence_and_the_table_say_where_a_word_looks() -> None:
    figure = small()
    assert figure.sentence() == "white: 0.55 s, 0.50, 0.875"
    # 0.15 s beside the third place of 0.1 s lie the second and the fourth.
    assert figure.sentence(word="flower") == "flower: 0.25 s, 0.30, 0.500"
    expected = [[0.55, 0.5, 0.875], [0.25, 0.3, 0.5]]
    np.testing.assert_allclose(figure.array("measured"), expected, atol=1e-5)
    assert figure.labels["measured"] == ["looks at (s)", "largest weight", "weight within 0.15 s"]


@pytest.mark.parametrize("width", WIDTHS)
def test_bars_and_light_stand_at_the_places_that_are_looked_at(width: int) -> None:
    left, second = across(width)
    drawn = small().draw(width)
    (tones,) = marks(drawn, "rect", "handle")
    high = tones.get("height")
    lit = [mark for mark in marks(drawn, "rect", "weight") if mark.get("height") == high]
    assert [float(mark.get("fill-opacity")) for mark in lit] == [0.25, 1, 0.5] * 2
    assert sizes(lit[:3], "x") == pytest.approx([left + at * second for at in (0.4, 0.5, 0.6)], abs=0.02)
    base = float(marks(drawn, "line", "grid")[0].get("y1"))
    bars = [
        mark for mark in marks(drawn, "rect", "weight") if mark.get("height") != high and not mark.get("rx")
    ]
    heights = sizes(bars, "height")
    assert [height / max(heights) for height in heights] == pytest.approx([0.25, 1, 0.5], abs=2e-3)
    bottoms = [y + height for y, height in zip(sizes(bars, "y"), heights, strict=True)]
    assert bottoms == pytest.approx([base] * 3, abs=0.02)
    assert texts(drawn, "number") == ["0.50"]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_piece_that_is_played_ends_with_the_sound(width: int) -> None:
    left, second = across(width)
    for word, (begin, end) in {"white": (0.4, 0.68), "flower": (0.1, 0.4)}.items():
        drawn = small().draw(width, word=word)
        (piece,) = [mark for mark in marks(drawn, "rect", "weight") if mark.get("rx")]
        assert float(piece.get("x")) == pytest.approx(left + begin * second, abs=0.02)
        assert float(piece.get("width")) == pytest.approx((end - begin) * second, abs=0.02)
    assert texts(drawn, "name") == ["0.25 s"]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_beam_leads_from_each_part_of_a_word_to_its_place(width: int) -> None:
    left, second = across(width)
    beams = marks(small().draw(width), "path", "weight")[:3]
    numbers = [[float(number) for number in re.findall(r"[\d.]+", beam.get("d"))] for beam in beams]
    starts = [number[0] for number in numbers]
    assert starts == pytest.approx([left + at * second for at in (0.4, 0.5, 0.6)], abs=0.02)
    # Side by side on top of the word, each as broad as its share: x of its left edge and of its right one.
    edges = [(number[6], number[8]) for number in numbers]
    breadths = [right - left for left, right in edges]
    assert [breadth / sum(breadths) for breadth in breadths] == pytest.approx([1 / 7, 4 / 7, 2 / 7], abs=2e-3)
    assert edges[0][1] == edges[1][0]
    (word,) = [text for text in marks(small().draw(width), "text") if text.text == "white"]
    middle = float(re.findall(r"[\d.]+", word.get("transform"))[0])
    assert (edges[0][0] + edges[2][1]) / 2 == pytest.approx(middle, abs=0.02)


def test_many_words_stand_in_several_lines_on_a_phone() -> None:
    words = [f"blanche{i}" for i in range(9)]
    figure = small(compute=lambda: {"weights": torch.ones(9, 7) / 7}, words=words)
    for width, count in ((720, 1), (328, 3)):
        # Where there are several lines, only the chosen word has a beam.
        assert len(marks(figure.draw(width), "path", "handle")) == (8 if count == 1 else 0)
        places = [mark.get("transform") for mark in marks(figure.draw(width), "text", "choice")]
        assert len({place.split()[1] for place in places}) == count


@pytest.mark.parametrize("width", WIDTHS)
def test_known_times_are_dashed(width: int) -> None:
    left, second = across(width)
    drawn = small(gold=GOLD).draw(width)
    (frame,) = marks(drawn, "rect", "gold")
    assert float(frame.get("x")) == pytest.approx(left + 0.5 * second, abs=0.02)
    assert float(frame.get("width")) == pytest.approx(0.15 * second, abs=0.02)
    assert "dashed: where the word is spoken" in texts(drawn)
    without = small().draw(width)
    assert not marks(without, "rect", "gold")
    assert "dashed: where the word is spoken" not in texts(without)


def test_the_page_gets_the_sound_as_it_is() -> None:
    sound = tone(0.68)
    data = base64.b64decode(small().spec["sound"].removeprefix("data:audio/wav;base64,"))
    assert data[44:] == sound[44:]
    remark = b"LIST" + struct.pack("<I", 4) + b"abcd"  # a file may say more of itself
    size = struct.pack("<I", len(sound) - 8 + len(remark))
    longer = sound[:4] + size + sound[8:36] + remark + sound[36:]
    assert read_wav(longer) == (sound, pytest.approx(0.68))


def test_a_path_gives_what_its_bytes_give(tmp_path) -> None:
    path = tmp_path / "sound.wav"
    path.write_bytes(tone(0.68))
    assert small(sound=path).spec["sound"] == small(sound=str(path)).spec["sound"] == small().spec["sound"]


def test_the_lowest_band_is_the_last_row_and_the_loudest_number_white() -> None:
    shades = shades_of(torch.tensor([[0.0, 31.0, 3.0], [1.0, 2.0, 31.0]]), 3)
    assert shades.tolist() == [[8, 16, 255], [0, 255, 25]]
    file = png(shades)
    assert file.startswith(b"\x89PNG")
    assert struct.unpack(">II", file[16:24]) == (3, 2)
    (length,) = struct.unpack(">I", file[33:37])
    assert zlib.decompress(file[41 : 41 + length]) == bytes([0, 8, 16, 255, 0, 0, 255, 25])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sound": tone(0.68, channels=2)}, "1 channel of 16 bits .* got 2 of 16 and 8000"),
        ({"sound": tone(0.68, width=1)}, "1 channel of 16 bits .* got 1 of 8 and 8000"),
        ({"sound": tone(0.68, rate=4000)}, "8000 to 96000 samples a second, got 1 of 16 and 4000"),
        ({"sound": tone(0.68)[:-10]}, "must hold 5440 samples, at least one, got 5435"),
        ({"sound": tone(0)}, "must hold 0 samples, at least one, got 0"),
        ({"sound": tone(13)}, "at most 200000 bytes to a page, got 208000"),
        ({"sound": b"OggS" + bytes(60)}, "sound must be a WAV file: file does not start with RIFF id"),
        ({"sound": b""}, "sound must be a WAV file: it is cut off"),
        ({"spectrogram": torch.ones(5, 13)}, r"with a multiple of 7 frames, got \(5, 13\)"),
        ({"spectrogram": torch.ones(5, 7)}, "different finite numbers, got 1 to 1"),
        ({"spectrogram": torch.full((5, 7), torch.nan)}, "different finite numbers, got nan to nan"),
        (
            {"compute": lambda: {"weights": WEIGHTS[:, :6]}},
            r"'weights' of shape \(2, 7\), words and places, got \(2, 6\)",
        ),
        ({"compute": dict}, r"'weights' of shape \(2, 7\), words and places, got \(0,\)"),
        ({"compute": lambda: {"weights": 3 * WEIGHTS}}, "'weights' must be numbers from 0 to 1, got 1.5"),
        ({"gold": GOLD[:1]}, "a begin and an end for each of 2 words, got 1"),
        ({"gold": [(0.5, 0.5), (0, 0.3)]}, r"within the 0.68 s of the sound, got \(0.5, 0.5\)"),
        ({"gold": [(0.5, 0.8), (0, 0.3)]}, r"within the 0.68 s of the sound, got \(0.5, 0.8\)"),
        ({"place": 0}, "place must be a number of seconds above 0, got 0"),
        ({"words": "white"}, "words must be a list"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        small(**changes)


def test_a_file_that_is_none_is_named(tmp_path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a sound")
    with pytest.raises(ValueError, match=r"sound .*notes\.txt must be a WAV file"):
        small(sound=path)
