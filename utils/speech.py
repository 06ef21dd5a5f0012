r"""A network that hears speech and writes it down, with weights that others published: Whisper base.

Its layers are those of ``transformer``; what it has of its own is the sound before them, and a reader of its file. How
the files get to this computer is in ``corpus.download``.
Explained in chapters/listening.
"""

import json
import math
import re
import struct
import wave
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from tokenizers import Tokenizer
from torch import Tensor, nn

from utils.checks import check_axes, check_count, check_list
from utils.errors import CourseError, NotFiniteError, check_logits, check_weights
from utils.fast_decoding import LayerCache, room_after
from utils.seq2seq import word_vectors
from utils.transformer import DecoderLayer, EncoderLayer, check_heads_of

__all__ = [
    "NUM_BANDS",
    "PLACE_SECONDS",
    "SAMPLE_RATE",
    "Decoded",
    "SpeechModel",
    "log_mel",
    "marks",
    "mel_filters",
    "path_in_order",
    "read_sound",
    "read_speech_model",
    "read_tensors",
    "words_of",
    "write",
]

#: Numbers of a sound in a second.
SAMPLE_RATE = 16_000
#: Bands of pitch in a spectrogram.
NUM_BANDS = 80
#: What one place of the encoder stands for: two frames of the spectrogram, in seconds.
PLACE_SECONDS = 0.02
#: Numbers from one frame to the next (10 ms), in a frame (25 ms), and in the longest sound (30 s).
_HOP, _WINDOW, _LONGEST = 160, 400, 30 * SAMPLE_RATE
#: The version of the file that is read, and how it numbers the kinds of its numbers.
_VERSION, _KINDS = 6, {1: torch.int8, 2: torch.int16, 4: torch.float16}
#: The parts of a layer in the file and here. A matrix of the file may hold several of ours, one below the other.
_ENCODER_PARTS = {
    "self_attention/layer_norm": ["residuals.0.norm"],
    "self_attention/linear_0": [f"self_attention.w_{part}" for part in "qkv"],
    "self_attention/linear_1": ["self_attention.w_o"],
    "ffn/layer_norm": ["residuals.1.norm"],
    "ffn/linear_0": ["feed_forward.0"],
    "ffn/linear_1": ["feed_forward.3"],
}
_DECODER_PARTS = _ENCODER_PARTS | {
    "attention/layer_norm": ["residuals.1.norm"],
    "attention/linear_0": ["cross_attention.w_q"],
    "attention/linear_1": ["cross_attention.w_k", "cross_attention.w_v"],
    "attention/linear_2": ["cross_attention.w_o"],
    "ffn/layer_norm": ["residuals.2.norm"],
}
#: What the file must say of a network that is computed here: GELU, norms before the parts, and no more.
_VALUES = {
    "activation": 3,
    "alibi": 0,
    "pre_norm": 1,
    "scale_embeddings": 0,
    "start_from_zero_embedding": 0,
}
#: What it says to a program that aligns the two sides of a translation.
_NO_MATTER = {"decoder/alignment_heads", "decoder/alignment_layer"}


# ---- From a sound to a spectrogram ----


def read_sound(path: str | Path) -> Float[Tensor, " samples"]:
    """A sound from a WAV file, as numbers from -1 to 1, 16,000 for each second.

    Args:
        path: a file with one channel, 16 bits and 16,000 numbers in a second.

    Raises:
        CourseError: a file that is damaged or of another form.
        FileNotFoundError: there is no such file.
    """
    try:
        with wave.open(str(path), "rb") as sound:
            channels, bits, rate = sound.getnchannels(), 8 * sound.getsampwidth(), sound.getframerate()
            data, length = sound.readframes(sound.getnframes()), sound.getnframes() * sound.getsampwidth()
    except (wave.Error, EOFError) as error:
        raise CourseError(f"{path} must be a WAV file: {error or 'it ends too early'}") from error
    if (channels, bits, rate) != (1, 16, SAMPLE_RATE):
        raise CourseError(
            f"{path} must have 1 channel, 16 bits and {SAMPLE_RATE} Hz, got {channels}, {bits} and {rate}: "
            f"ffmpeg -i {Path(path).name} -ac 1 -ar {SAMPLE_RATE} -c:a pcm_s16le new.wav"
        )
    if len(data) != length:
        raise CourseError(f"{path} must be a whole WAV file: it ends too early")
    return torch.from_numpy(np.frombuffer(data, "<i2").astype(np.float32) / 2**15)


@cache
def mel_filters(
    num_bands: int = NUM_BANDS, num_frequencies: int = _WINDOW // 2 + 1
) -> Float[Tensor, "bands frequencies"]:
    r"""How much of each frequency counts for each band: triangles whose corners are equally far apart for our ears.

    The scale of the ears is linear up to 1000 Hz, where a pitch of :math:`f` Hz is at :math:`3 f / 200`. Above, it is
    logarithmic, and the pitch is at

    .. math::
        15 + 27 \ln(f / 1000) / \ln 6.4.

    Each triangle begins at the peak of the one below and ends at the peak of the one above; its area is 1, in Hz.

    Args:
        num_bands: number of triangles, from 0 to 8000 Hz.
        num_frequencies: number of frequencies, from 0 to 8000 Hz.

    Raises:
        ValueError: fewer than 1 band or 2 frequencies.

    >>> (1000 * mel_filters(1, 5)).round(decimals=2)  # at 0, 2000, … 8000 Hz: one triangle with its peak at 1689 Hz
    tensor([[0.0000, 0.2400, 0.1600, 0.0800, 0.0000]])

    Source: Slaney (1998), *Auditory Toolbox*, as in Radford et al. (2023). Explained in chapters/listening.
    """
    check_count(1, num_bands=num_bands)
    check_count(2, num_frequencies=num_frequencies)
    frequencies = torch.linspace(0, SAMPLE_RATE / 2, num_frequencies, dtype=torch.float64)
    top = 15 + 27 * math.log(SAMPLE_RATE / 2000) / math.log(6.4)
    scale = torch.linspace(0, top, num_bands + 2, dtype=torch.float64)
    corners = torch.where(scale < 15, 200 * scale / 3, 1000 * torch.exp((scale - 15) * math.log(6.4) / 27))
    low, peak, high = (corners[start : start + num_bands, None] for start in range(3))
    up, down = (frequencies - low) / (peak - low), (high - frequencies) / (high - peak)
    return (torch.minimum(up, down).clamp(min=0) * 2 / (high - low)).float()


def log_mel(sound: Float[Tensor, " samples"]) -> Float[Tensor, "bands frames"]:
    r"""The spectrogram that the network reads: 80 bands of pitch, and a frame every 10 ms for 30 seconds.

    Each frame is 25 ms of sound under a Hann window. The powers of its frequencies are summed to bands by
    :func:`mel_filters`, and become :math:`(4 + \max(\log_{10} p, \; m - 8)) / 4`, where m is the largest logarithm of
    the whole sound: what is more than 80 dB below it counts as silent.

    Args:
        sound: as from :func:`read_sound`, at most 30 seconds; silence is added to it.

    Returns:
        80 bands, the lowest first, by 3000 frames.

    Raises:
        ValueError: a sound of another form, one that is empty or too long, or one with numbers that are not finite.

    Source: Radford et al. (2023), section 2.2. Explained in chapters/listening.
    """
    if sound.dim() != 1 or not 1 <= len(sound) <= _LONGEST:
        raise ValueError(
            f"sound must be one row of 1 to {_LONGEST} numbers, 30 seconds, got shape {tuple(sound.shape)}"
        )
    if not sound.isfinite().all():
        raise ValueError("sound must be finite numbers, got infinity or NaN")
    padded = nn.functional.pad(sound.float(), (0, _LONGEST - len(sound)))
    window = torch.hann_window(_WINDOW, device=sound.device)
    waves = torch.stft(padded, _WINDOW, _HOP, window=window, return_complex=True)
    powers = mel_filters().to(sound.device) @ waves[:, :-1].abs() ** 2
    loudness = powers.clamp(min=1e-10).log10()
    return (loudness.clamp(min=loudness.max() - 8) + 4) / 4


# ---- The network ----


class Decoded(NamedTuple):
    """What the decoder computes from pieces of text and the keys of a sound."""

    logits: Float[Tensor, "*batch n vocab"]  #: those of the piece after each piece
    weights: Float[Tensor, "*batch layers heads n places"] | None  #: where it listens for that piece
    past: list[LayerCache]  #: the keys and values of all pieces so far, in each layer


class SpeechModel(nn.Module):
    """An encoder that hears and a decoder that writes, with attention between them.

    The encoder halves the number of frames with a convolution and passes them through layers like
    :class:`utils.transformer.EncoderLayer`, without a mask. Those of the decoder are like
    :class:`utils.transformer.DecoderLayer`. All have GELU in place of ReLU. The matrix that turns pieces of text into
    vectors also turns states into logits.

    Args:
        vocab_size: number of pieces of text.
        d_model: width of the states.
        num_heads: of each attention.
        num_layers: of the encoder, and of the decoder.
        d_hidden: width of the hidden layers of the feed-forward networks; 4 d_model if None.
        num_bands: of a spectrogram.
        num_places: of the encoder, half as many as there are frames.
        max_len: the longest text.

    Attributes:
        max_len: the same.

    Raises:
        ValueError: numbers below 1, or a width that the heads cannot share.

    >>> model = SpeechModel(11, 6, num_heads=2, num_layers=3, num_bands=5, num_places=7)
    >>> keys = model.project(model.encode(torch.zeros(5, 14)))
    >>> decoded = model.decode(torch.tensor([4, 1, 4, 10]), keys)
    >>> decoded.logits.shape, decoded.weights.shape  # 4 pieces; 3 layers, 2 heads, 4 pieces and 7 places
    (torch.Size([4, 11]), torch.Size([3, 2, 4, 7]))

    Source: Radford et al. (2023), section 2.2. Explained in chapters/listening.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        *,
        num_heads: int,
        num_layers: int,
        d_hidden: int | None = None,
        num_bands: int = NUM_BANDS,
        num_places: int = 1500,
        max_len: int = 448,
    ):
        super().__init__()
        check_count(1, vocab_size=vocab_size, d_model=d_model, num_layers=num_layers, d_hidden=d_hidden)
        check_count(1, num_bands=num_bands, num_places=num_places, max_len=max_len)
        sizes = (d_model, num_heads, d_hidden or 4 * d_model)
        self.convolutions = nn.ModuleList(
            [
                nn.Conv1d(num_bands, d_model, 3, padding=1),
                nn.Conv1d(d_model, d_model, 3, padding=1, stride=2),
            ]
        )
        self.places = nn.Embedding(num_places, d_model)
        self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(num_layers))
        self.encoder_norm = nn.LayerNorm(d_model)
        self.pieces = nn.Embedding(vocab_size, d_model)
        self.text_places = nn.Embedding(max_len, d_model)
        self.decoder = nn.ModuleList(DecoderLayer(*sizes) for _ in range(num_layers))
        self.decoder_norm = nn.LayerNorm(d_model)
        self.max_len = max_len
        for layer in [*self.encoder, *self.decoder]:
            layer.feed_forward[1] = nn.GELU()

    def encode(self, mel: Float[Tensor, "*batch bands frames"]) -> Float[Tensor, "*batch places d_model"]:
        """The state of each place of the sound, which stands for 20 ms.

        Args:
            mel: as from :func:`log_mel`; one spectrogram, or a batch of them.

        Raises:
            ValueError: another number of bands or of frames.
        """
        bands, frames = self.convolutions[0].in_channels, 2 * self.places.num_embeddings
        check_axes(mel=mel)
        if mel.dim() > 3 or mel.shape[-2:] != (bands, frames):
            raise ValueError(f"mel must have {bands} bands of {frames} frames, got shape {tuple(mel.shape)}")
        for convolution in self.convolutions:
            mel = nn.functional.gelu(convolution(mel))
        x = mel.mT + self.places.weight
        for layer in self.encoder:
            x, _ = layer(x)
        return self.encoder_norm(x)

    def project(self, states: Float[Tensor, "*batch places d_model"]) -> list[LayerCache]:
        """The keys and the values that each layer of the decoder makes of the sound, once for all pieces of text.

        Args:
            states: from :meth:`encode`.

        Raises:
            ValueError: states of another width.
        """
        return [layer.cross_attention.project(states, states) for layer in self.decoder]

    def decode(
        self,
        ids: Int[Tensor, "*batch n"],
        keys: Sequence[LayerCache],
        past: list[LayerCache] | None = None,
        *,
        mask: Bool[Tensor, "..."] | None = None,
        need_weights: bool = True,
    ) -> Decoded:
        """The logits of the piece after each new piece, and where each of them listens.

        Args:
            ids: the pieces that are new.
            keys: from :meth:`project`; those of one sound also serve a batch of texts.
            past: the cache that this returned for the pieces before, or None if there are none.
            mask: True where a piece may listen to a place. A mask of ``(places,)`` is for all pieces; a larger one
                broadcasts to ``(batch, n, places)``, or is for each head, ``(batch, heads, n, places)``.
            need_weights: whether the weights are wanted: 6 x 8 x n x 1500 numbers for Whisper base, 290 kB a piece.

        Raises:
            ValueError: no pieces, one that is not in the vocabulary, more of them than there are places, the keys of
                another number of layers or sounds, or a mask that is not boolean or does not fit.
        """
        check_list(keys=keys)
        if len(keys) != len(self.decoder):
            raise ValueError(f"keys must be those of {len(self.decoder)} layers, got {len(keys)}")
        x = self._embed(ids, past)
        if past is None:
            attention = self.decoder[0].cross_attention
            width = attention.w_q.in_features // attention.num_heads
            nothing = x.new_empty(*ids.shape[:-1], attention.num_heads, 0, width)
            past = [(nothing, nothing)] * len(self.decoder)
        weights, kept = [], []
        for layer, of_sound, of_text in zip(self.decoder, keys, past, strict=True):
            x, new, of_layer = layer(
                x, self._for_each(ids, of_sound), mask, of_text, need_weights=need_weights
            )
            weights.append(of_layer)
            kept.append(new)
        logits = self.decoder_norm(x) @ self.pieces.weight.T
        return Decoded(logits, torch.stack(weights, dim=-4) if need_weights else None, kept)

    def _for_each(self, ids: Tensor, keys: LayerCache) -> LayerCache:
        try:
            keys, values = (part.expand(*ids.shape[:-1], -1, -1, -1) for part in keys)
            return keys, values
        except RuntimeError as error:
            raise ValueError(
                f"keys of shape {tuple(keys[0].shape)} must be for one sound, or one for each row of ids of shape "
                f"{tuple(ids.shape)}"
            ) from error

    def _embed(self, ids: Tensor, past: list[LayerCache] | None) -> Tensor:
        if not ids.dim() or not ids.shape[-1]:
            raise ValueError(f"ids must have at least one piece, got shape {tuple(ids.shape)}")
        start = 0 if past is None else past[0][0].shape[-2]
        end = start + ids.shape[-1]
        if end > self.max_len:
            raise ValueError(f"ids must end at place {self.max_len}, the last of this model, got {end}")
        return word_vectors(self.pieces, ids=ids) + self.text_places.weight[start:end]


# ---- Writing ----


def marks(tokenizer: Tokenizer, *, language: str = "en", task: str = "transcribe") -> list[int]:
    """The four pieces before a text, which tell the network what to write: it starts, language, task, and no times.

    Args:
        language: of the sound, in two or three letters.
        task: "transcribe" writes in that language, "translate" in English.

    Raises:
        CourseError: a language or a task that the network does not know.
    """
    names = {"start": "startoftranscript", "language": language, "task": task, "times": "notimestamps"}
    ids = {name: tokenizer.token_to_id(f"<|{mark}|>") for name, mark in names.items()}
    if ids["language"] is None or not re.fullmatch("[a-z]{2,3}", language):
        raise CourseError(f"language must be one that the network knows, such as 'fr', got {language!r}")
    if task not in ("transcribe", "translate"):
        raise CourseError(f"task must be 'transcribe' or 'translate', got {task!r}")
    return list(ids.values())


@torch.no_grad()
def write(
    model: SpeechModel,
    tokenizer: Tokenizer,
    keys: Sequence[LayerCache],
    *,
    language: str = "en",
    task: str = "transcribe",
    num_pieces: int = 200,
    mask: Bool[Tensor, " places"] | None = None,
) -> list[int]:
    """What the network writes of a sound: the marks, and after them the most probable pieces, one by one.

    No piece is forbidden, as programs forbid some, and nothing is written a second time if it looks wrong.

    Args:
        keys: of one sound, from :meth:`SpeechModel.project`.
        language: as for :func:`marks`, as is ``task``.
        num_pieces: the largest number of new pieces; fewer, with a warning, if the network can read no longer text.
        mask: True at the places that may be heard; None for all.

    Returns:
        The pieces with their marks, without the one that ends the text; ``tokenizer.decode`` makes a text of them.

    Raises:
        CourseError: as for :func:`marks`.
        ValueError: a negative number of pieces.
        FloatingPointError: logits that are NaN or plus infinity.
    """
    check_list(keys=keys)
    check_count(0, num_pieces=num_pieces)
    ids = marks(tokenizer, language=language, task=task)
    end, unread, past = tokenizer.token_to_id("<|endoftext|>"), ids, None
    for _ in range(room_after(model, torch.tensor([ids]), num_pieces)):
        read = torch.tensor(unread, device=model.pieces.weight.device)
        logits, _, past = model.decode(read, keys, past, mask=mask, need_weights=False)
        check_logits(logits)
        unread = [int(logits[-1].argmax())]
        if unread == [end]:
            break
        ids = ids + unread
    return ids


def words_of(tokenizer: Tokenizer, ids: Sequence[int]) -> list[tuple[str, list[int]]]:
    """The words that pieces make, each with the places of its pieces in ``ids``; marks are in none.

    A word begins with a blank before it. A punctuation mark is a word by itself.
    """
    check_list(ids=ids)
    words, is_open = [], False
    for place, piece in enumerate(ids):
        text = tokenizer.decode([piece])
        if not text.strip():  # a mark; a blank belongs to no word
            is_open = False
            continue
        # A part of a character that has several bytes is shown as a question mark in a diamond.
        is_word = any(char.isalnum() or char == "\ufffd" for char in text)
        if is_open and is_word and not text.startswith(" "):
            words[-1].append(place)
        else:
            words.append([place])
        is_open = is_word
    return [(tokenizer.decode([ids[place] for place in places]).strip(), places) for places in words]


def path_in_order(scores: Float[Tensor, "n places"]) -> list[tuple[int, int]]:
    """The first and the last place of each piece, if each listens to places no earlier than the piece before it.

    Of all such paths from the first place of the first piece to the last place of the last one, this is the one with
    the largest sum of scores. It steps to the next place, to the next piece or to both, as in dynamic time warping.

    Args:
        scores: how well each piece fits each place, as weights.

    Returns:
        A pair of places for each piece, both included.

    Raises:
        ValueError: no piece or no place.

    >>> path_in_order(torch.tensor([[5.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 5.0]]))
    [(0, 1), (2, 3)]

    Source: Sakoe and Chiba (1978), with the steps of Whisper's own program. Explained in chapters/listening.
    """
    check_axes(scores=scores)
    if scores.dim() != 2 or not scores.numel():
        raise ValueError(f"scores must be a table of pieces and places, got shape {tuple(scores.shape)}")
    rows = scores.tolist()
    num_pieces, num_places = scores.shape
    best = [[-math.inf] * (num_places + 1) for _ in range(num_pieces + 1)]
    best[0][0], steps = 0.0, {}
    for piece in range(num_pieces):
        for place in range(num_places):
            before = {
                (piece - 1, place - 1): best[piece][place],
                (piece - 1, place): best[piece][place + 1],
                (piece, place - 1): best[piece + 1][place],
            }
            steps[piece, place] = max(before, key=lambda step: before[step])
            best[piece + 1][place + 1] = before[steps[piece, place]] + rows[piece][place]
    found, here = [[] for _ in rows], (num_pieces - 1, num_places - 1)
    while here in steps:
        found[here[0]].append(here[1])
        here = steps[here]
    return [(min(places), max(places)) for places in found]


# ---- The file ----


def read_speech_model(folder: Path) -> tuple[SpeechModel, Tokenizer, list[tuple[int, int]]]:
    """The network, what makes a text of its pieces, and the heads that its publishers name for the times of words.

    Args:
        folder: holds ``model.bin``, ``tokenizer.json`` and ``config.json``; see
            :func:`utils.corpus.download.get_network`.

    Raises:
        CourseError: a file that is damaged, of another version or of another kind of network.
        FloatingPointError: a weight that is not a finite number.
    """
    try:
        model = _model(read_tensors(folder / "model.bin"))
        tokenizer = _tokenizer((folder / "tokenizer.json").read_text("utf-8"))
        facts = json.loads((folder / "config.json").read_text("utf-8"))
        heads = [(layer, head) for layer, head in facts["alignment_heads"]]
        num_heads = model.decoder[0].cross_attention.num_heads
        return model, tokenizer, check_heads_of(len(model.decoder), num_heads, alignment_heads=heads)
    except NotFiniteError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, RuntimeError) as error:
        raise CourseError(
            f"{folder} must hold the files of a network like Whisper: {type(error).__name__}: {error}"
        ) from error


def _tokenizer(text: str) -> Tokenizer:
    """The tokenizer of a file, whose first merge was lost when it was made: without it " the" would have two pieces."""
    facts = json.loads(text)
    merges = facts["model"]["merges"]
    if "Ġt" in facts["model"]["vocab"] and "Ġ t" not in merges:
        merges.insert(0, "Ġ t")
    return Tokenizer.from_str(json.dumps(facts))


def read_tensors(file: Path) -> dict[str, Tensor]:
    """The tensors of a file of CTranslate2, by their names; fractions of 16 bits come in float32.

    Args:
        file: its form is a version, the network's name and edition, and a number of tensors. Each of these has a name,
            a shape, the kind of its numbers, and the numbers. Last come pairs of names: a second one for a tensor.

    Raises:
        CourseError: a file that ends too early or too late, or has an unknown version or kind.
    """
    tensors = {}
    with file.open("rb") as opened:
        [version] = _numbers(opened, "I")
        if version != _VERSION:
            raise CourseError(f"{file} must be a CTranslate2 file of version {_VERSION}, got {version}")
        if (network := _text(opened)) != "WhisperSpec":
            raise CourseError(f"{file} must hold a WhisperSpec, got {network}")
        _, num_tensors = _numbers(opened, "II")
        for _ in range(num_tensors):
            name, [rank] = _text(opened), _numbers(opened, "B")
            shape = _numbers(opened, f"{rank}I")
            kind, size = _numbers(opened, "BI")
            if kind not in _KINDS:
                raise CourseError(
                    f"{file}: {name} must be of a kind in {', '.join(map(str, _KINDS))}, got {kind}"
                )
            dtype, count = _KINDS[kind], math.prod(shape)
            if name in tensors or size != count * dtype.itemsize:
                raise CourseError(f"{file}: {name} must come once, with {count} numbers")
            numbers = torch.frombuffer(bytearray(_bytes(opened, size)), dtype=dtype).reshape(shape)
            tensors[name] = numbers.float() if dtype.is_floating_point else numbers
        [num_names] = _numbers(opened, "I")
        for _ in range(num_names):
            second, name = _text(opened), _text(opened)
            if second in tensors or name not in tensors:
                raise CourseError(f"{file}: {second} must be a new name of a tensor, got {name}")
            tensors[second] = tensors[name]
        if opened.read(1):
            raise CourseError(f"{file} goes on after its end")
    return tensors


def _bytes(opened: BinaryIO, size: int) -> bytes:
    if len(data := opened.read(size)) < size:
        raise CourseError(f"{opened.name} ends too early")
    return data


def _numbers(opened: BinaryIO, form: str) -> tuple[int, ...]:
    return struct.unpack(f"<{form}", _bytes(opened, struct.calcsize(f"<{form}")))


def _text(opened: BinaryIO) -> str:
    [length] = _numbers(opened, "H")
    return _bytes(opened, length).rstrip(b"\0").decode()


def _model(tensors: Mapping[str, Tensor]) -> SpeechModel:
    """The network, if the file says nothing of it that is not computed."""
    num_heads = tensors["encoder/num_heads"].item()
    values = {f"decoder/{name}": value for name, value in _VALUES.items()}
    for name, value in {**values, "decoder/num_heads": num_heads}.items():
        if tensors[name].item() != value:
            raise ValueError(f"{name} must be {value}, got {tensors[name].item()}")
    if tensors["decoder/projection/weight"] is not tensors["decoder/embeddings/weight"]:
        raise ValueError("decoder/projection/weight must be another name of decoder/embeddings/weight")
    num_layers = len({m[1] for name in tensors if (m := re.match(r"encoder/layer_(\d+)/", name))})
    names = _names(num_layers)
    if missing := sorted(names.keys() - tensors.keys()):
        raise ValueError(f"the file lacks {', '.join(missing)}")
    others = {"encoder/num_heads", "decoder/num_heads", "decoder/projection/weight"}
    if unknown := sorted(tensors.keys() - names.keys() - values.keys() - others - _NO_MATTER):
        raise ValueError(f"this network does not compute {', '.join(unknown)}")
    vocab_size, d_model = tensors["decoder/embeddings/weight"].shape
    sizes = {"num_heads": num_heads, "num_layers": num_layers}
    if num_layers:
        sizes["d_hidden"] = len(tensors["encoder/layer_0/ffn/linear_0/bias"])
    sizes["num_bands"] = tensors["encoder/conv1/weight"].shape[1]
    sizes["num_places"] = len(tensors["encoder/position_encodings/encodings"])
    sizes["max_len"] = len(tensors["decoder/position_encodings/encodings"])
    with torch.device("meta"):  # no memory and no time for numbers that the file's replace
        model = SpeechModel(vocab_size, d_model, **sizes)
    weights = {}
    for theirs, ours in names.items():
        weights |= zip(ours, tensors[theirs].chunk(len(ours)), strict=True)
    check_weights(weights, "model.bin")
    model.load_state_dict(weights, assign=True)
    return model.eval().requires_grad_(False)


def _names(num_layers: int) -> dict[str, list[str]]:
    """Our names for each tensor of the file."""
    names = {
        "encoder/position_encodings/encodings": ["places.weight"],
        "decoder/position_encodings/encodings": ["text_places.weight"],
        "decoder/embeddings/weight": ["pieces.weight"],
    }
    parts = {f"encoder/conv{number + 1}": [f"convolutions.{number}"] for number in range(2)}
    for side, of_layer in (("encoder", _ENCODER_PARTS), ("decoder", _DECODER_PARTS)):
        parts[f"{side}/layer_norm"] = [f"{side}_norm"]
        for layer in range(num_layers):
            for theirs, ours in of_layer.items():
                parts[f"{side}/layer_{layer}/{theirs}"] = [f"{side}.{layer}.{part}" for part in ours]
    for theirs, ours in parts.items():
        ends = (
            {"gamma": "weight", "beta": "bias"}
            if theirs.endswith("norm")
            else {"weight": "weight", "bias": "bias"}
        )
        for end, our_end in ends.items():
            names[f"{theirs}/{end}"] = [f"{part}.{our_end}" for part in ours]
    return names
