"""Speech by espeak-ng, which says when each word begins; nothing here knows a network.

The library comes with the program: ``apt-get install espeak-ng``. Without it :func:`speak` raises OSError.
"""

import ctypes
from functools import cache
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from utils.speech import SAMPLE_RATE

#: Numbers of the library's header speak_lib.h: what it is asked for, and kinds of events.
_RETRIEVE, _PHONEME_EVENTS, _CHARACTERS, _UTF8, _RATE = 1, 1, 1, 1, 1
_END_OF_LIST, _WORD, _PHONEME = 0, 1, 7


class Word(NamedTuple):
    """A word and the time at which it is spoken, in seconds from the beginning of the sound."""

    text: str
    begin: float
    end: float


class Spoken(NamedTuple):
    """A sound, 16,000 numbers from -1 to 1 for each second, and the words in it."""

    sound: Float[Tensor, " samples"]
    words: list[Word]


class _Id(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("text", ctypes.c_char * 8)]


class _Event(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int),
        ("identifier", ctypes.c_uint),
        ("place", ctypes.c_int),
        ("length", ctypes.c_int),
        ("milliseconds", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user", ctypes.c_void_p),
        ("id", _Id),
    ]


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


@cache
def _library() -> tuple[ctypes.CDLL, int]:
    """The library, and how many numbers it makes for a second."""
    library = ctypes.CDLL("libespeak-ng.so.1")
    return library, library.espeak_Initialize(_RETRIEVE, 0, None, _PHONEME_EVENTS)


def speak(text: str, *, voice: str = "en-us", speed: int = 175) -> Spoken:
    """The sound of a text, and when each of its words begins and ends.

    A word ends where the next one or a pause begins. What was spoken before changes a sound a little, and its times by
    a millisecond: who wants the same sounds speaks in the same order.

    Args:
        text: words with blanks between them.
        voice: a name that ``espeak-ng --voices`` lists.
        speed: words in a minute.

    Raises:
        OSError: the library is not there.
        ValueError: a voice that it does not have, or a text with a word that it says nothing of.
    """
    library, rate = _library()
    sounds, events = [], []

    def keep(sound, length, event) -> int:
        sounds.extend(sound[:length] if sound else [])
        number = 0
        while event[number].kind != _END_OF_LIST:
            is_pause = event[number].kind == _PHONEME and event[number].id.text.startswith(b"_")
            events.append((event[number].kind, event[number].place, event[number].sample / rate, is_pause))
            number += 1
        return 0

    callback = _Callback(keep)
    library.espeak_SetSynthCallback(callback)
    if library.espeak_SetVoiceByName(voice.encode()):
        raise ValueError(f"voice must be one that espeak-ng has, got {voice!r}")
    library.espeak_SetParameter(_RATE, speed, 0)
    data = text.encode() + b"\0"
    library.espeak_Synth(data, len(data), 0, _CHARACTERS, 0, _UTF8, None, None)
    library.espeak_Synchronize()
    sound = at_rate(torch.tensor(sounds, dtype=torch.float64) / 2**15, rate)
    return Spoken(sound.float(), _words(text, events))


def _words(text: str, events: list[tuple[int, int, float, bool]]) -> list[Word]:
    """The words with their times; an event tells the place of its word in the text, counted from 1."""
    places, found = {}, []
    for word in text.split():
        places[text.index(word, max(places, default=-1) + 1)] = word.strip(".,?!")
    begins = {}
    for kind, place, seconds, _ in events:
        if kind == _WORD:
            begins.setdefault(place - 1, seconds)
    if missing := [word for place, word in places.items() if place not in begins]:
        raise ValueError(f"espeak-ng does not say when {missing[0]!r} begins")
    for place, word in places.items():
        ends = [s for kind, _, s, is_pause in events if (kind == _WORD or is_pause) and s > begins[place]]
        found.append(Word(word, begins[place], min(ends)))
    return found


def at_rate(sound: Float[Tensor, " samples"], rate: int) -> Float[Tensor, " new_samples"]:
    """The same sound with 16,000 numbers for each second: frequencies that need more are left out."""
    length = round(len(sound) * SAMPLE_RATE / rate)
    waves = torch.fft.rfft(sound)
    kept = torch.zeros(length // 2 + 1, dtype=waves.dtype)
    common = min(len(kept), len(waves))
    kept[:common] = waves[:common]
    return torch.fft.irfft(kept, length) * length / len(sound)
