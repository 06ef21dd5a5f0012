"""A trained translator as numbers and texts for JavaScript: weights in bytes, vocabularies, what reading a text needs.

The scripts beside this file read them; ``html`` puts them into a page. Explained in book/your_translator.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from utils.corpus.languages import has_blanks, primary, script
from utils.corpus.pairs import in_one_script
from utils.corpus.vocabulary import Vocabulary
from utils.errors import check_weights

#: Where Unicode has the Chinese characters that people write.
_HAN = (range(0x3400, 0xA000), range(0xF900, 0xFB00))


def pack_weights(model: nn.Module, *, exact: bool = False) -> tuple[list[dict[str, Any]], bytes]:
    """The parameters of a model as bytes, and where each of them is.

    A row of a matrix is stored as whole numbers from -127 to 127 and one scale, the largest size of its numbers divided
    by 127: each number is wrong by at most half a scale. Vectors, which are biases, stay in float32.

    Args:
        model: its parameters have one or two axes.
        exact: keep matrices in float32, too, to compare the scripts with torch.

    Returns:
        For each parameter its name, rows, columns, dtype (``int8`` or ``float32``) and the start and end of its bytes;
        and all bytes. In int8 the scales of all rows come first, in float32. All numbers are little-endian.

    Raises:
        FloatingPointError: a parameter that is not a finite number.
    """
    layout, parts, start = [], [], 0
    parameters = model.state_dict()
    check_weights(parameters, "the model")
    for name, parameter in parameters.items():
        matrix = np.atleast_2d(parameter.detach().cpu().float().numpy())
        is_exact = exact or parameter.dim() == 1
        parts.append(matrix.astype("<f4").tobytes() if is_exact else _rounded(matrix))
        end = start + len(parts[-1])
        rows, columns = matrix.shape
        dtype = "float32" if is_exact else "int8"
        layout.append(
            {"name": name, "rows": rows, "columns": columns, "dtype": dtype, "start": start, "end": end}
        )
        start = end
    return layout, b"".join(parts)


def _rounded(matrix: np.ndarray) -> bytes:
    scales = (np.abs(matrix).max(axis=1, keepdims=True) / 127).astype("<f4")
    scales[scales == 0] = 1
    return scales.tobytes() + np.rint(matrix / scales).astype(np.int8).tobytes()


def unpack_weights(layout: list[dict[str, Any]], packed: bytes) -> dict[str, Tensor]:
    """The parameters as the page reads them, in the shapes of the model: the inverse of :func:`pack_weights`.

    Raises:
        FloatingPointError: a parameter that is not a finite number.
    """
    weights = {}
    for entry in layout:
        rows, columns = entry["rows"], entry["columns"]
        part = packed[entry["start"] : entry["end"]]
        if entry["dtype"] == "int8":
            scales = np.frombuffer(part[: 4 * rows], "<f4")[:, None]
            numbers = np.frombuffer(part[4 * rows :], np.int8).reshape(rows, columns) * scales
        else:
            numbers = np.frombuffer(part, "<f4").reshape(rows, columns)
        is_vector = ".bias" in entry["name"]
        weights[entry["name"]] = torch.tensor(numbers[0] if is_vector else numbers, dtype=torch.float32)
    check_weights(weights, "the stored model")
    return weights


def vocabulary_facts(vocabulary: Vocabulary, *, reads: bool) -> dict[str, Any]:
    """The tokens of a vocabulary in the order of their ids, and for subwords ``merges``.

    Args:
        reads: whether the page cuts text with it. Then ``merges`` has, in the order of learning, the ids of two tokens
            and of the token that they become; otherwise it is empty, and says only that the tokens are subwords.
    """
    facts: dict[str, Any] = {"tokens": vocabulary.tokens(range(len(vocabulary)))}
    if vocabulary.of_words:
        return facts
    stored = json.loads(vocabulary.to_json())["model"]
    ids = stored["vocab"]
    return facts | {"merges": [[ids[a], ids[b], ids[a + b]] for a, b in stored["merges"]] if reads else []}


def vocabulary_of(facts: Mapping[str, Any]) -> Vocabulary:
    """The vocabulary of subwords of :func:`vocabulary_facts`; without merges it decodes and cannot encode."""
    tokens = facts["tokens"]
    stored = json.loads(Vocabulary.bpe(["a"], len(tokens)).to_json())
    stored["model"]["vocab"] = {token: place for place, token in enumerate(tokens)}
    stored["model"]["merges"] = [[tokens[a], tokens[b]] for a, b, _ in facts["merges"]]
    return Vocabulary(Tokenizer.from_str(json.dumps(stored)))


def language_facts(lang: str) -> dict[str, Any]:
    """What the page must know of a language to read its text as ``utils.corpus.pairs`` does.

    Returns:
        ``isChinese``: written in Chinese characters, without blanks beside them; ``words``: what a word is. For Chinese
        in simplified characters also ``simplified``, from traditional ones to these.
    """
    facts: dict[str, Any] = {"isChinese": script(lang) in ("Hans", "Hant")}
    if primary(lang) == "zh" and script(lang) == "Hans":
        # Each in a line of its own, so that no two of them are taken for a word.
        characters = [chr(code) for block in _HAN for code in block]
        converted = in_one_script("\n".join(characters), lang).split("\n")
        facts["simplified"] = {a: b for a, b in zip(characters, converted, strict=True) if a != b}
    words = "blanks" if has_blanks(lang) else "characters"
    if primary(lang) == "fr":
        words = "clitics"
    return facts | {"words": words}
