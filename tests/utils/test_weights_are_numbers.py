"""NaN and infinity in weights: every function of the course that reads weights, or stores them, names the tensor.

A module that is new among them is found by what it calls. The published networks and runs have this test among theirs.
"""

import ast
import copy
import math
from pathlib import Path

import pytest
import torch
from tiny import trained_run

import utils
from utils.errors import NotFiniteError
from utils.translator.page.stored_model import pack_weights, unpack_weights
from utils.translator.training.loop import STATE, load_state, save_state

#: What makes tensors of a file.
READS = {"dequantize", "load_file", "safe_open", "torch.frombuffer", "torch.load"}
UTILS = Path(utils.__path__[0])
FILES = sorted([*UTILS.rglob("*.py"), *UTILS.with_name("chapters").rglob("*.py")])


def test_every_module_that_reads_weights_checks_them():
    found = []
    for file in FILES:
        calls = [n for n in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(n, ast.Call)]
        names = {ast.unparse(call.func) for call in calls}
        if READS & names:
            found.append(file.name)
            assert "check_weights" in names, file
    assert sorted(found) == [
        "chat_model.py",
        "loop.py",
        "real_sentences.py",
        "runs.py",
        "sentence_encoder.py",
        "speech.py",
    ]


every_number = pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])


@every_number
def test_in_a_page(number):
    model = copy.deepcopy(trained_run().model)
    layout, packed = pack_weights(model, exact=True)
    broken = bytearray(packed)
    broken[layout[2]["start"] : layout[2]["start"] + 4] = torch.tensor(number).numpy().tobytes()
    with pytest.raises(NotFiniteError, match=f"{layout[2]['name']} has numbers that are not finite"):
        unpack_weights(layout, bytes(broken))
    with torch.no_grad():
        [*model.parameters()][2].flatten()[0] = number
    for exact in (False, True):
        with pytest.raises(NotFiniteError, match="has numbers that are not finite"):
            pack_weights(model, exact=exact)


@every_number
def test_in_the_state_of_an_interrupted_training(tmp_path, number):
    state = {"model": {"w": torch.tensor([1.0, number])}, "optimizer": {}, "history": {}, "best": None}
    save_state(tmp_path, state)
    with pytest.raises(NotFiniteError, match=f"{STATE}: w has numbers that are not finite"):
        load_state(tmp_path)
