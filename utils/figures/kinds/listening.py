"""A sound, the words that are written from it, and the piece of the sound that each word looks at.

Explained in book/explorables.
"""

import base64
import io
import math
import struct
import wave
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from utils.checks import check_list
from utils.figures.figure import MAX_BYTES, Figure
from utils.figures.packing import check_shares

#: What is played lies at most this many seconds before and behind the place with the largest weight.
REACH = 0.15
#: The grey tones of a spectrogram.
_SHADES = 32
#: Samples a second that every browser plays.
_RATES = 8_000, 96_000


class Listening(Figure):
    """A sound as its spectrogram, and beams from the words that are written to the pieces of sound that they look at.

    The spectrogram lights up where the chosen word looks, below it its weights stand as bars, and a tap on a word plays
    the piece around its largest weight. A word is the pick ``word``.
    ``compute`` returns ``weights`` of shape (words, places), numbers from 0 to 1. A place is a short stretch of the
    sound, and all places together are as long as the sound; the last one may reach beyond its end.
    The figure adds three numbers for each word, which sentences can use: ``at``, the time in seconds of the place with
    the largest weight; ``top``, this weight; and ``near``, the sum of the weights within 0.15 s of that place.

    Args:
        sound: a WAV file of one channel with 16 bits, at most 200 KB, or its path.
        spectrogram: the loudness of each band of frequencies, the lowest first, for example a log-mel spectrogram. The
            smallest number is drawn white, the largest dark. There is the same number of frames to each place.
        words: the words that are written.
        gold: of each word, when it begins and ends in the sound, in seconds, if that is known: dashed, for the chosen
            word.
        place: how long a place is, in seconds.
        options: as for :class:`utils.figures.figure.Figure`.

    Raises:
        ValueError: another kind of file, a spectrogram that is not as long as the sound, or times beyond it.
    """

    kind = "listening"
    picks: ClassVar = {"word": "words"}
    table = ((("measured", ""),), "words", "measured")

    def __init__(
        self,
        compute: Callable[..., Mapping],
        axes: Mapping[str, Sequence],
        *,
        sound: str | Path | bytes,
        spectrogram: Float[Tensor, "bands frames"],
        words: Sequence[str],
        gold: Sequence[tuple[float, float]] | None = None,
        place: float = 0.02,
        **options,
    ):
        check_list(words=words)
        if not place > 0:
            raise ValueError(f"place must be a number of seconds above 0, got {place}")
        self.sound, self.seconds = read_wav(sound)
        self.place = place
        places = math.ceil(round(self.seconds / place, 6))  # which may be 130.00000000000003
        self.picture = _data_url("image/png", png(shades_of(spectrogram, places)))
        self.gold = [[float(begin), float(end)] for begin, end in gold or ()]
        if self.gold and len(self.gold) != len(words):
            raise ValueError(
                f"gold must have a begin and an end for each of {len(words)} words, got {len(self.gold)}"
            )
        for begin, end in self.gold:
            if not 0 <= begin < end <= places * place + 1e-6:
                raise ValueError(
                    f"gold must lie within the {self.seconds:.2f} s of the sound, got {(begin, end)}"
                )

        def measured(**at: object) -> dict:
            arrays = dict(compute(**at))
            shape, got = (len(words), places), tuple(np.shape(arrays.get("weights", ())))
            if got != shape:
                raise ValueError(
                    f"compute must return 'weights' of shape {shape}, words and places, got {got}"
                )
            weights = torch.as_tensor(arrays["weights"]).double()
            check_shares("weights", weights.numpy())
            return _measures(weights, place) | arrays

        columns = ["looks at (s)", "largest weight", f"weight within {REACH} s"]
        labels = {"words": words, "measured": columns} | options.pop("labels", {})
        super().__init__(measured, axes, labels=labels, **options)

    def shares(self) -> set[str]:
        """The weights, and what is measured of them."""
        return super().shares() | {"weights", "top", "near"}

    @property
    def options(self) -> dict:
        """The spectrogram as a picture, the lengths of the sound, of a place and of what is played, and gold times."""
        return {
            "gold": self.gold,
            "picture": self.picture,
            "place": self.place,
            "reach": REACH,
            "seconds": self.seconds,
        }


def _measures(weights: Float[Tensor, "words places"], place: float) -> dict[str, Tensor]:
    """Where each word looks, and with how much weight."""
    top, best = weights.max(dim=1)
    away = (torch.arange(weights.shape[1]) - best[:, None]).abs()
    near = (weights * (away <= REACH / place + 1e-6)).sum(dim=1)
    at = (best + 0.5) * place
    return {"at": at, "top": top, "near": near, "measured": torch.stack([at, top, near], dim=1)}


def read_wav(sound: str | Path | bytes) -> tuple[bytes, float]:
    """A WAV file, written anew with a header of 44 bytes, and its length in seconds.

    Raises:
        ValueError: a file that is none, is cut off, is too large, or has another form than one channel of 16 bits.
    """
    named = "sound" if isinstance(sound, bytes) else f"sound {sound}"
    try:
        with wave.open(io.BytesIO(sound) if isinstance(sound, bytes) else str(sound)) as file:
            form = file.getparams()
            samples = file.readframes(form.nframes)
    except (wave.Error, EOFError) as error:
        raise ValueError(f"{named} must be a WAV file: {str(error) or 'it is cut off'}") from None
    if (form.nchannels, form.sampwidth) != (1, 2) or not _RATES[0] <= form.framerate <= _RATES[1]:
        raise ValueError(
            f"{named} must have 1 channel of 16 bits and {_RATES[0]} to {_RATES[1]} samples a second, got "
            f"{form.nchannels} of {8 * form.sampwidth} and {form.framerate}"
        )
    if not samples or len(samples) != 2 * form.nframes:
        raise ValueError(f"{named} must hold {form.nframes} samples, at least one, got {len(samples) // 2}")
    if len(samples) > MAX_BYTES:
        raise ValueError(f"{named} may bring at most {MAX_BYTES} bytes to a page, got {len(samples)}")
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setparams(form)
        file.writeframes(samples)
    return written.getvalue(), form.nframes / form.framerate


def shades_of(spectrogram: Float[Tensor, "bands frames"], places: int) -> np.ndarray:
    """A spectrogram as grey tones from 0 to 255, the highest band first.

    Raises:
        ValueError: numbers that are not finite or all the same, or another number of frames for some places.

    >>> shades_of(torch.tensor([[0.0, 2.0], [2.0, 4.0]]), places=2)
    array([[132, 255],
           [  0, 132]], dtype=uint8)
    """
    shape = tuple(spectrogram.shape)
    if len(shape) != 2 or not shape[1] or shape[1] % places:
        raise ValueError(
            f"spectrogram must have the shape (bands, frames), with a multiple of {places} frames, got {shape}"
        )
    loudness = spectrogram.double().flip(0)
    low, high = loudness.min(), loudness.max()
    if not (torch.isfinite(loudness).all() and low < high):
        raise ValueError(f"spectrogram must hold different finite numbers, got {low:g} to {high:g}")
    steps = ((loudness - low) / (high - low) * (_SHADES - 1)).round()
    return (steps * 255 / (_SHADES - 1)).round().to(torch.uint8).numpy()


def png(shades: np.ndarray) -> bytes:
    """Grey tones from 0 to 255, (height, width), as a PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = shades.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)  # 8 bits, grey
    rows = np.pad(shades, ((0, 0), (1, 0)))  # before each row the number of its filter: 0, none
    data = zlib.compress(rows.tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def _data_url(form: str, data: bytes) -> str:
    return f"data:{form};base64,{base64.b64encode(data).decode()}"
