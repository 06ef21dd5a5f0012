"""The network that listens: small files that are written here, against torch's own functions; and the published one."""

import itertools
import json
import math
import struct
import wave
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from torch.nn import functional
from torch.testing import assert_close

from utils.corpus.download import NETWORKS, has_network, network_folder
from utils.errors import CourseError, NotFiniteError
from utils.speech import (
    SpeechModel,
    log_mel,
    marks,
    mel_filters,
    path_in_order,
    read_sound,
    read_speech_model,
    read_tensors,
    words_of,
    write,
)

SOUNDS = Path(__file__).parents[2] / "chapters" / "sounds"
#: Layers, heads, width of a head, hidden width, bands, places, longest text.
SIZES = [(2, 3, 2, 7, 5, 11, 13), (3, 2, 5, 23, 7, 17, 19)]
#: The pieces of the small network: some text, two of them halves of one character, and the marks.
PIECES = ["Ġcat", "s", ".", "Ġ", "Ġa", "'t", "Ã", "©", "<|startoftranscript|>", "<|fr|>", "<|en|>"]
PIECES += ["<|transcribe|>", "<|translate|>", "<|notimestamps|>", "<|endoftext|>"]
END = 14
KINDS = {"int8": 1, "int16": 2, "float16": 4}


# ---- Small files ----


def tensors_of(sizes: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Random weights with the names of such a file, and the facts that it tells."""
    layers, heads, width, hidden, bands, places, longest = sizes
    d = heads * width
    generator = np.random.default_rng(0)

    def linear(name: str, rows: int, columns: int) -> dict[str, tuple[int, ...]]:
        return {f"{name}/weight": (rows, columns), f"{name}/bias": (rows,)}

    def norm(name: str) -> dict[str, tuple[int, ...]]:
        return {f"{name}/layer_norm/gamma": (d,), f"{name}/layer_norm/beta": (d,)}

    shapes: dict[str, tuple[int, ...]] = {
        "decoder/embeddings/weight": (len(PIECES), d),
        "decoder/position_encodings/encodings": (longest, d),
        "encoder/position_encodings/encodings": (places, d),
        "encoder/conv1/weight": (d, bands, 3),
        "encoder/conv1/bias": (d,),
        "encoder/conv2/weight": (d, d, 3),
        "encoder/conv2/bias": (d,),
    }
    for side in ("encoder", "decoder"):
        shapes |= norm(side)
        for layer in range(layers):
            name = f"{side}/layer_{layer}"
            shapes |= norm(f"{name}/self_attention") | norm(f"{name}/ffn")
            shapes |= linear(f"{name}/self_attention/linear_0", 3 * d, d)
            shapes |= linear(f"{name}/self_attention/linear_1", d, d)
            shapes |= linear(f"{name}/ffn/linear_0", hidden, d) | linear(f"{name}/ffn/linear_1", d, hidden)
            if side == "decoder":
                shapes |= norm(f"{name}/attention") | linear(f"{name}/attention/linear_0", d, d)
                shapes |= linear(f"{name}/attention/linear_1", 2 * d, d)
                shapes |= linear(f"{name}/attention/linear_2", d, d)
    weights = {
        name: (generator.standard_normal(shape) * (shape[1] ** -0.5 if len(shape) > 1 else 1)).astype("f2")
        for name, shape in shapes.items()
    }
    facts = {
        "activation": 3,
        "alibi": 0,
        "pre_norm": 1,
        "scale_embeddings": 0,
        "start_from_zero_embedding": 0,
    }
    weights |= {f"decoder/{name}": np.array(value, "i1") for name, value in facts.items()}
    weights |= {f"{side}/num_heads": np.array(heads, "i2") for side in ("encoder", "decoder")}
    return weights | {"decoder/alignment_heads": np.array(1, "i2")}


def text(name: str) -> bytes:
    return struct.pack("<H", len(name) + 1) + name.encode() + b"\0"


def packed(
    tensors: dict[str, np.ndarray],
    *,
    version: int = 6,
    network: str = "WhisperSpec",
    names: tuple[tuple[str, str], ...] = (("decoder/projection/weight", "decoder/embeddings/weight"),),
    kinds: dict[str, int] = KINDS,
) -> bytes:
    """The bytes of a file of CTranslate2."""
    found = struct.pack("<I", version) + text(network) + struct.pack("<II", 3, len(tensors))
    for name, tensor in tensors.items():
        found += text(name) + struct.pack(f"<B{tensor.ndim}I", tensor.ndim, *tensor.shape)
        found += struct.pack("<BI", kinds[tensor.dtype.name], tensor.nbytes) + tensor.tobytes()
    return found + struct.pack("<I", len(names)) + b"".join(text(part) for pair in names for part in pair)


def write_folder(folder: Path, sizes: tuple[int, ...], **tensors: np.ndarray) -> dict[str, torch.Tensor]:
    """A whole network; ``tensors`` are in place of its own."""
    mine = tensors_of(sizes) | tensors
    (folder / "model.bin").write_bytes(packed(mine))
    (folder / "config.json").write_text(json.dumps({"alignment_heads": [[1, 0], [0, 1]]}))
    vocabulary = {piece: number for number, piece in enumerate(PIECES) if not piece.startswith("<|")}
    added = [
        {"id": number, "content": piece, "special": True}
        | dict.fromkeys(["single_word", "lstrip", "rstrip"], False)
        for number, piece in enumerate(PIECES)
        if piece.startswith("<|")
    ]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    file = {
        "version": "1.0",
        "added_tokens": [mark | {"normalized": False} for mark in added],
        "pre_tokenizer": level,
        "decoder": level,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
    }
    (folder / "tokenizer.json").write_text(json.dumps(file))
    return {name: torch.tensor(tensor).float() for name, tensor in mine.items()}


@pytest.fixture(scope="module", params=SIZES, ids=str)
def pair(request, tmp_path_factory) -> tuple[SpeechModel, dict[str, torch.Tensor], tuple[int, ...]]:
    """A network from a file, the file's tensors, and their sizes."""
    folder = tmp_path_factory.mktemp("speech")
    tensors = write_folder(folder, request.param)
    return read_speech_model(folder)[0], tensors, request.param


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> tuple[SpeechModel, Tokenizer, list[tuple[int, int]]]:
    folder = tmp_path_factory.mktemp("small")
    write_folder(folder, SIZES[0])
    return read_speech_model(folder)


def spectrogram(sizes: tuple[int, ...], *batch: int) -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(*batch, sizes[4], 2 * sizes[5])


# ---- The network ----


def by_torch(
    tensors: dict[str, torch.Tensor], sizes: tuple[int, ...], mel: torch.Tensor, ids: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The logits of one text and the weights of its pieces on places, with torch's functions on the file's tensors."""
    layers, heads, width, *_ = sizes
    d = heads * width

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return functional.layer_norm(
            x, (d,), tensors[f"{name}/layer_norm/gamma"], tensors[f"{name}/layer_norm/beta"]
        )

    def linear(x: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(x, tensors[f"{name}/weight"], tensors[f"{name}/bias"])

    def attend(q, k, v, *, causal: bool) -> tuple[torch.Tensor, torch.Tensor]:
        q, k, v = (part.unflatten(-1, (heads, width)).transpose(0, 1) for part in (q, k, v))
        scores = torch.einsum("hid,hjd->hij", q, k) / math.sqrt(width)
        if causal:
            scores = scores + torch.full(scores.shape[1:], -math.inf).triu(1)
        weights = scores.softmax(dim=-1)
        return torch.einsum("hij,hjd->ihd", weights, v).flatten(1), weights

    def block(x: torch.Tensor, name: str, *, causal: bool) -> torch.Tensor:
        queries, keys, values = linear(
            norm(x, f"{name}/self_attention"), f"{name}/self_attention/linear_0"
        ).split(d, dim=-1)
        context, _ = attend(queries, keys, values, causal=causal)
        return x + linear(context, f"{name}/self_attention/linear_1")

    def forward(x: torch.Tensor, name: str) -> torch.Tensor:
        hidden = functional.gelu(linear(norm(x, f"{name}/ffn"), f"{name}/ffn/linear_0"))
        return x + linear(hidden, f"{name}/ffn/linear_1")

    x = mel
    for number, stride in ((1, 1), (2, 2)):
        name = f"encoder/conv{number}"
        x = functional.gelu(
            functional.conv1d(x, tensors[f"{name}/weight"], tensors[f"{name}/bias"], stride, padding=1)
        )
    x = x.T + tensors["encoder/position_encodings/encodings"]
    for layer in range(layers):
        x = forward(block(x, f"encoder/layer_{layer}", causal=False), f"encoder/layer_{layer}")
    heard, all_weights = norm(x, "encoder"), []
    x = (
        tensors["decoder/embeddings/weight"][ids]
        + tensors["decoder/position_encodings/encodings"][: len(ids)]
    )
    for layer in range(layers):
        name = f"decoder/layer_{layer}"
        x = block(x, name, causal=True)
        keys, values = linear(heard, f"{name}/attention/linear_1").split(d, dim=-1)
        queries = linear(norm(x, f"{name}/attention"), f"{name}/attention/linear_0")
        context, weights = attend(queries, keys, values, causal=False)
        x = forward(x + linear(context, f"{name}/attention/linear_2"), name)
        all_weights.append(weights)
    return norm(x, "decoder") @ tensors["decoder/embeddings/weight"].T, torch.stack(all_weights)


def test_the_network_computes_what_torch_does(pair):
    model, tensors, sizes = pair
    mel, ids = spectrogram(sizes), torch.tensor([4, 1, 10, 1, 7])
    decoded = model.decode(ids, model.project(model.encode(mel)))
    logits, weights = by_torch(tensors, sizes, mel, ids)
    assert_close(decoded.logits, logits)
    assert_close(decoded.weights, weights)


def test_a_batch_is_its_rows(pair):
    model, _, sizes = pair
    mels, ids = spectrogram(sizes, 3), torch.tensor([[4, 1], [10, 2], [7, 7]])
    together = model.decode(ids, model.project(model.encode(mels)))
    for row in range(3):
        alone = model.decode(ids[row], model.project(model.encode(mels[row])))
        assert_close(together.logits[row], alone.logits)
        assert_close(together.weights[row], alone.weights)


def test_one_sound_serves_several_texts(pair):
    model, _, sizes = pair
    keys, ids = model.project(model.encode(spectrogram(sizes, 1))), torch.tensor([[4, 1], [10, 2], [7, 7]])
    together = model.decode(ids, keys)
    assert_close(together.logits[2], model.decode(ids[2:], keys).logits[0])
    with pytest.raises(ValueError, match="must be for one sound, or one for each row of ids of shape"):
        model.decode(ids[:2], [tuple(part.expand(3, -1, -1, -1) for part in pair) for pair in keys])


def test_the_cache_changes_nothing(pair):
    model, _, sizes = pair
    keys, ids = model.project(model.encode(spectrogram(sizes))), torch.tensor([4, 1, 10, 1, 7, 9, 2])
    whole, past = model.decode(ids, keys), None
    for start, end in ((0, 3), (3, 4), (4, 7)):
        logits, weights, past = model.decode(ids[start:end], keys, past)
        assert_close(logits, whole.logits[start:end])
        assert_close(weights, whole.weights[:, :, start:end])
        assert model.decode(ids[:end], keys, need_weights=False).weights is None


def test_hidden_places_get_nothing_and_change_nothing(pair):
    model, _, sizes = pair
    states = model.encode(spectrogram(sizes))
    mask = torch.ones(len(states), dtype=torch.bool)
    mask[2:5] = False
    ids = torch.tensor([4, 1, 10])
    hidden = model.decode(ids, model.project(states), mask=mask)
    assert_close(hidden.logits, model.decode(ids, model.project(states[mask])).logits)
    assert torch.all(hidden.weights[..., 2:5] == 0)
    assert_close(hidden.weights.sum(dim=-1), torch.ones(hidden.weights.shape[:-1]))
    fast = model.decode(ids, model.project(states), mask=mask, need_weights=False)
    assert_close(fast.logits, hidden.logits)


def test_places_may_be_hidden_from_one_piece(pair):
    model, _, sizes = pair
    keys = model.project(model.encode(spectrogram(sizes)))
    mask = torch.ones(3, sizes[5], dtype=torch.bool)
    mask[2, :5] = False
    whole, some = (model.decode(torch.tensor([4, 1, 10]), keys, mask=m) for m in (None, mask))
    assert_close(some.logits[:2], whole.logits[:2])
    assert not torch.allclose(some.logits[2], whole.logits[2])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"ids": torch.tensor([], dtype=torch.long)}, "ids must have at least one piece"),
        ({"ids": torch.tensor([15])}, "ids must be from 0 to 14"),
        (
            {"ids": torch.ones(14, dtype=torch.long)},
            "ids must end at place 13, the last of this model, got 14",
        ),
        ({"keys": 1}, "keys must be those of 2 layers, got 1"),
        ({"mask": torch.ones(7, dtype=torch.bool)}, r"mask of shape \(7,\) does not broadcast"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_what_cannot_be_decoded(small, change, says):
    keys = small[0].project(small[0].encode(spectrogram(SIZES[0])))
    arguments = {"ids": torch.tensor([4, 1]), "keys": keys} | change
    ids, keys = arguments.pop("ids"), keys[: change.get("keys", 2)]
    del arguments["keys"]
    with pytest.raises(ValueError, match=says):
        small[0].decode(ids, keys, **arguments)


@pytest.mark.parametrize("shape", [(5, 21), (7, 22), (1, 1, 5, 22)])
def test_another_spectrogram_is_refused(small, shape):
    with pytest.raises(ValueError, match="mel must have 5 bands of 22 frames, got shape"):
        small[0].encode(torch.zeros(shape))


# ---- Writing ----


def test_marks_say_what_is_wanted(small):
    assert marks(small[1]) == [8, 10, 11, 13]
    assert marks(small[1], language="fr", task="translate") == [8, 9, 12, 13]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"language": "xx"}, "language must be one that the network knows, such as 'fr', got 'xx'"),
        (
            {"language": "transcribe"},
            "language must be one that the network knows, such as 'fr', got 'transcribe'",
        ),
        ({"task": "endoftext"}, "task must be 'transcribe' or 'translate', got 'endoftext'"),
    ],
)
def test_marks_that_there_are_not(small, wrong, says):
    with pytest.raises(CourseError, match=says):
        marks(small[1], **wrong)


def test_it_writes_the_most_probable_pieces(small):
    model, tokenizer, _ = small
    keys = model.project(model.encode(spectrogram(SIZES[0])))
    written = write(model, tokenizer, keys, language="fr", num_pieces=5)
    ids = [8, 9, 11, 13]
    for _ in range(5):
        piece = int(model.decode(torch.tensor(ids), keys).logits[-1].argmax())
        if piece == END:
            break
        ids.append(piece)
    assert written == ids
    assert write(model, tokenizer, keys, num_pieces=0) == marks(tokenizer)
    with pytest.raises(ValueError, match="num_pieces must be at least 0, got -1"):
        write(model, tokenizer, keys, num_pieces=-1)
    broken = [(part[0] * math.nan, part[1]) for part in keys]
    with pytest.raises(NotFiniteError, match="logits must allow a word"):
        write(model, tokenizer, broken, num_pieces=5)


def test_it_ends_at_the_end(small, tmp_path):
    tensors = tensors_of(SIZES[0])["decoder/embeddings/weight"]
    for last in (END, 4):  # the end, or another piece, is the most probable one after any state
        beta, table = np.zeros(6, "f2"), tensors.copy()
        beta[0] = 100
        table[:, 0], table[last, 0] = 0, 9
        changes = {"decoder/layer_norm/beta": beta, "decoder/embeddings/weight": table}
        write_folder(tmp_path, SIZES[0], **changes)
        model, tokenizer, _ = read_speech_model(tmp_path)
        keys = model.project(model.encode(spectrogram(SIZES[0])))
        written = write(model, tokenizer, keys, num_pieces=4)
        assert written == marks(tokenizer) + ([] if last == END else [4] * 4)
    # It reads 13 places; the last piece need not be read.
    with pytest.warns(
        UserWarning, match="longest text of this model has 13 places, so it can write 10 of 11"
    ):
        written = write(model, tokenizer, keys, num_pieces=11)
    assert written == marks(tokenizer) + [4] * 10


def test_words_and_their_pieces(small):
    #      marks          ␣cat s  .  ␣a 't ␣cat and é in two  end s
    ids = [8, 10, 11, 13, 0, 1, 2, 4, 5, 0, 6, 7, 14, 1]
    expected = [("cats", [4, 5]), (".", [6]), ("a't", [7, 8]), ("caté", [9, 10, 11]), ("s", [13])]
    assert words_of(small[1], ids) == expected


# ---- Times ----


@given(
    rows=st.lists(st.lists(st.integers(-5, 5), min_size=5, max_size=5), min_size=1, max_size=3),
)
def test_no_path_has_a_larger_sum(rows):
    def best(piece: int, place: int) -> float:
        """The best sum of a path that ends here, by trying all."""
        if piece < 0 or place < 0:
            return -math.inf
        if piece == place == 0:
            return rows[0][0]
        before = (best(piece - 1, place - 1), best(piece - 1, place), best(piece, place - 1))
        return max(before) + rows[piece][place]

    path = path_in_order(torch.tensor(rows, dtype=torch.float64))
    assert path[0][0] == 0
    assert path[-1][1] == 4
    assert all(later[0] - earlier[1] in (0, 1) for earlier, later in itertools.pairwise(path))
    total = sum(sum(row[first : last + 1]) for row, (first, last) in zip(rows, path, strict=True))
    assert total == best(len(rows) - 1, 4)


def test_a_path_needs_a_table():
    with pytest.raises(ValueError, match="scores must be a table of pieces and places"):
        path_in_order(torch.zeros(2, 0))


# ---- The file ----


def test_a_file_is_what_was_written(tmp_path):
    tensors = {
        "a": np.arange(6, dtype="f2").reshape(2, 3),
        "b/c": np.array(-3, "i1"),
        "d": np.array([300], "i2"),
    }
    (tmp_path / "a").write_bytes(packed(tensors, names=(("e", "a"),)))
    found = read_tensors(tmp_path / "a")
    assert {name: tensor.tolist() for name, tensor in found.items()} == {
        "a": [[0, 1, 2], [3, 4, 5]],
        "b/c": -3,
        "d": [300],
        "e": [[0, 1, 2], [3, 4, 5]],
    }
    assert found["a"].dtype == torch.float32


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.999])
def test_a_file_that_is_cut_is_refused(tmp_path, share):
    write_folder(tmp_path, SIZES[0])
    whole = (tmp_path / "model.bin").read_bytes()
    (tmp_path / "model.bin").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(CourseError, match="ends too early"):
        read_speech_model(tmp_path)
    (tmp_path / "model.bin").write_bytes(whole + b"\0")
    with pytest.raises(CourseError, match="goes on after its end"):
        read_speech_model(tmp_path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": 5}, "a CTranslate2 file of version 6, got 5"),
        ({"network": "TransformerSpec"}, "hold a WhisperSpec, got TransformerSpec"),
        ({"kinds": KINDS | {"float16": 5}}, "decoder/embeddings/weight must be of a kind in 1, 2, 4, got 5"),
        ({"kinds": KINDS | {"float16": 1}}, "decoder/embeddings/weight must come once, with 90 numbers"),
        ({"names": (("new", "nothing"),)}, "new must be a new name of a tensor, got nothing"),
        ({"names": ()}, "KeyError: 'decoder/projection/weight'"),
        (
            {"names": (("decoder/projection/weight", "decoder/position_encodings/encodings"),)},
            "decoder/projection/weight must be another name of decoder/embeddings/weight",
        ),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_another_form_is_refused(tmp_path, change, says):
    write_folder(tmp_path, SIZES[0])
    (tmp_path / "model.bin").write_bytes(packed(tensors_of(SIZES[0]), **change))
    with pytest.raises(CourseError, match=says):
        read_speech_model(tmp_path)


@pytest.mark.parametrize(
    ("name", "tensor", "says"),
    [
        ("decoder/activation", np.array(0, "i1"), "decoder/activation must be 3, got 0"),
        ("decoder/num_heads", np.array(2, "i2"), "decoder/num_heads must be 3, got 2"),
        ("decoder/layer_0/gate", np.zeros(2, "f2"), "this network does not compute decoder/layer_0/gate"),
        ("encoder/conv2/bias", None, "the file lacks encoder/conv2/bias"),
        ("encoder/conv2/bias", np.zeros(7, "f2"), "size mismatch for convolutions.1.bias"),
    ],
)
def test_another_network_is_refused(tmp_path, name, tensor, says):
    write_folder(tmp_path, SIZES[0])
    tensors = tensors_of(SIZES[0]) | {name: tensor}
    (tmp_path / "model.bin").write_bytes(packed({k: v for k, v in tensors.items() if v is not None}))
    with pytest.raises(CourseError, match=says):
        read_speech_model(tmp_path)


def test_a_weight_that_is_no_number_is_named(tmp_path):
    write_folder(tmp_path, SIZES[0], **{"encoder/conv1/bias": np.array([0, np.nan, 0, 0, 0, 0], "f2")})
    with pytest.raises(NotFiniteError, match=r"convolutions\.0\.bias has numbers that are not finite"):
        read_speech_model(tmp_path)


def test_the_heads_for_times_are_heads(tmp_path, small):
    assert small[2] == [(1, 0), (0, 1)]
    write_folder(tmp_path, SIZES[0])
    for wrong, says in (("[[2, 0]]", "layer must be from 0 to 1, got 2"), ("{", "JSONDecodeError")):
        (tmp_path / "config.json").write_text(f'{{"alignment_heads": {wrong}}}')
        with pytest.raises(CourseError, match=says):
            read_speech_model(tmp_path)


@pytest.mark.parametrize("merges", [["Ġt h"], ["Ġ t", "Ġt h"]], ids=["lost", "there"])
def test_the_merge_that_was_lost_is_put_back(tmp_path, merges):
    write_folder(tmp_path, SIZES[0])
    facts = json.loads((tmp_path / "tokenizer.json").read_text())
    facts["model"] |= {"vocab": {"Ġ": 0, "t": 1, "h": 2, "Ġt": 3, "Ġth": 4}, "merges": merges}
    (tmp_path / "tokenizer.json").write_text(json.dumps(facts))
    tokenizer = read_speech_model(tmp_path)[1]
    assert tokenizer.encode(" th t", add_special_tokens=False).tokens == ["Ġth", "Ġt"]


# ---- Sounds ----


def write_sound(
    path: Path, numbers: list[int], *, channels: int = 1, width: int = 2, rate: int = 16_000
) -> None:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(channels)
        sound.setsampwidth(width)
        sound.setframerate(rate)
        sound.writeframes(np.array(numbers, f"<i{width}").tobytes())


def test_a_sound_from_a_file(tmp_path):
    write_sound(tmp_path / "a.wav", [0, 16_384, -32_768, 1])
    assert read_sound(tmp_path / "a.wav").tolist() == [0, 0.5, -1, 2**-15]


@pytest.mark.parametrize(
    ("form", "got"),
    [
        ({"channels": 2}, "2, 16 and 16000"),
        ({"width": 4}, "1, 32 and 16000"),
        ({"rate": 44_100}, "1, 16 and 44100"),
    ],
)
def test_another_sound_is_refused_with_the_command_that_helps(tmp_path, form, got):
    write_sound(tmp_path / "a.wav", [0, 1, 2, 3], **form)
    with pytest.raises(CourseError, match=f"1 channel, 16 bits and 16000 Hz, got {got}: ffmpeg -i a.wav"):
        read_sound(tmp_path / "a.wav")


def test_what_is_no_sound_is_refused(tmp_path):
    write_sound(tmp_path / "a.wav", list(range(99)))
    whole = (tmp_path / "a.wav").read_bytes()
    for data in (b"", b"RIFF", b"<!DOCTYPE html><html>", whole[:-40]):
        (tmp_path / "b.wav").write_bytes(data)
        with pytest.raises(CourseError, match=r"b\.wav must be a (whole )?WAV file"):
            read_sound(tmp_path / "b.wav")
    with pytest.raises(FileNotFoundError):
        read_sound(tmp_path / "c.wav")


def test_each_band_is_a_triangle_of_area_one():
    filters = mel_filters(num_frequencies=16_001)  # one for each half of a hertz
    assert filters.shape == (80, 16_001)
    assert_close(filters.sum(dim=1) / 2, torch.ones(80), rtol=1e-3, atol=0)
    peaks = filters.argmax(dim=1) / 2
    # From 0 to 8000 Hz there are 45.245… steps of the scale, and 81 of the bands: 37.2 Hz each, below 1000 Hz.
    step = (15 + 27 * math.log(8) / math.log(6.4)) / 81 * 200 / 3
    assert_close(peaks[:5], step * torch.arange(1, 6), rtol=0, atol=0.5)
    # Above, each peak is as many times as high as the one below it.
    assert_close(
        peaks[41:] / peaks[40:-1],
        torch.full((39,), math.exp(step * 3 / 200 * math.log(6.4) / 27)),
        rtol=1e-3,
        atol=0,
    )


def test_a_tone_is_in_the_band_of_its_pitch():
    seconds = torch.arange(16_000) / 16_000
    mel = log_mel(torch.sin(2 * math.pi * 1000 * seconds))
    assert mel.shape == (80, 3000)
    # 1000 Hz is at 15 of 45.245 on the scale, in the band with the number 15 * 81 / 45.245 - 1.
    assert mel[:, 50].argmax() == 26
    # Over all frequencies, the powers sum to 400 times the sum of the window's squares, 150, times the mean square of a
    # sine, 1/2. Half of them are at frequencies below 0.
    powers = torch.stft(
        torch.sin(2 * math.pi * 1000 * seconds), 400, 160, window=torch.hann_window(400), return_complex=True
    )
    assert powers[:, 50].abs().square().sum().item() == pytest.approx(400 * 150 / 2 / 2, rel=1e-3)
    loudest = (mel_filters() @ powers.abs() ** 2)[26, 50].log10().item()
    assert mel[26, 50].item() == pytest.approx((loudest + 4) / 4, abs=1e-5)
    # What was added is silence, 8 powers of ten below the loudest.
    assert mel[:, 150:].unique().tolist() == pytest.approx([mel.max().item() - 2])


@pytest.mark.parametrize("length", [0, 480_001])
def test_a_sound_that_is_empty_or_too_long(length):
    with pytest.raises(ValueError, match="sound must be one row of 1 to 480000 numbers, 30 seconds"):
        log_mel(torch.zeros(length))
    with pytest.raises(ValueError, match="sound must be finite numbers"):
        log_mel(torch.tensor([0, math.nan]))


# ---- The published network ----


@pytest.fixture(scope="module")
def whisper() -> tuple[SpeechModel, Tokenizer, list[tuple[int, int]]]:
    if not has_network("whisper"):
        pytest.skip("the network is not there: attention-course data get whisper")
    return read_speech_model(network_folder("whisper"))


@pytest.fixture(scope="module")
def kennedy(whisper) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The keys of eleven seconds of speech."""
    model = whisper[0]
    return model.project(model.encode(log_mel(read_sound(SOUNDS / "jfk.wav"))))


def test_it_has_the_numbers_that_it_is_known_for(whisper):
    model, tokenizer, heads = whisper
    assert sum(tensor.numel() for tensor in model.parameters()) == pytest.approx(72.6e6, rel=1e-3)
    assert len(heads) == 8
    assert marks(tokenizer) == [50258, 50259, 50359, 50363]
    # Every piece can be made, such as " the", which the file by itself cuts in two.
    assert tokenizer.encode(" Tom took the train", add_special_tokens=False).tokens == [
        "ĠTom",
        "Ġtook",
        "Ġthe",
        "Ġtrain",
    ]
    facts = json.loads(tokenizer.to_str())["model"]
    assert {piece for piece in facts["vocab"] if len(piece) > 1} == {"".join(m) for m in facts["merges"]} | {
        "<|endoftext|>"
    }
    # Keys have no bias: it would add the same to the scores of all places.
    assert all(torch.all(layer.cross_attention.w_k.bias == 0) for layer in model.decoder)


@pytest.mark.trains
def test_its_logits_are_those_of_transformers(whisper, kennedy):
    """WhisperForConditionalGeneration of transformers 5.24 gave these, with the same weights in float32."""
    model, tokenizer, _ = whisper
    logits = model.decode(torch.tensor(marks(tokenizer)), kennedy).logits[-1]
    best = logits.topk(3)
    assert [tokenizer.decode([piece]) for piece in best.indices.tolist()] == [" And", " and", " So"]
    assert best.values.tolist() == pytest.approx([32.7881, 31.4863, 29.6794], abs=1e-2)
    assert logits.softmax(dim=-1).max().item() == pytest.approx(0.6657, abs=1e-2)


@pytest.mark.trains
def test_it_writes_what_was_said(whisper, kennedy):
    model, tokenizer, _ = whisper
    assert tokenizer.decode(write(model, tokenizer, kennedy)) == (
        " And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country."
    )
    keys = model.project(model.encode(log_mel(read_sound(SOUNDS / "marie-fr.wav"))))
    translated = write(model, tokenizer, keys, language="fr", task="translate")
    assert tokenizer.decode(translated) == " Marie found the little white flower."


def test_the_network_has_three_files():
    assert set(NETWORKS["whisper"].files) == {"model.bin", "tokenizer.json", "config.json"}
