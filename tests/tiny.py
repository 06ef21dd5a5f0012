"""A pair file of a hundred sentences and a translator trained on it in a moment, for tests that need one."""

from functools import lru_cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from utils.seq2seq import EncoderDecoder
from utils.training import History
from utils.translator.runs import Run, Settings, train_run

_NUMBERS = {"two": "deux", "three": "trois", "four": "quatre", "five": "cinq", "six": "six"}
_NOUNS = {"cats": "chats", "dogs": "chiens", "birds": "oiseaux", "books": "livres", "keys": "clés"}
_VERBS = {"I see": ("Je vois", "Moi, je vois"), "We have": ("Nous avons",), "They want": ("Elles veulent",)}


def pair_lines() -> list[str]:
    """English, tab, French; "I see" has two translations, so its sentences have two references."""
    return [
        f"{verb} {number} {noun}.\t{french} {_NUMBERS[number]} {_NOUNS[noun]}."
        for verb, number, noun in product(_VERBS, _NUMBERS, _NOUNS)
        for french in _VERBS[verb]
    ]


def write_pairs(path: Path) -> Path:
    path.write_text("\n".join(pair_lines()) + "\n", encoding="utf-8")
    return path


SETTINGS = Settings("en", "fr", vocabulary_size=360, d_embed=23, d_hidden=29, dropout=0.0)


def train_tiny(folder: Path, *, epochs: int = 240, settings: Settings = SETTINGS) -> tuple[Run, History]:
    folder.mkdir(parents=True, exist_ok=True)
    pairs = write_pairs(folder / "pairs.txt")
    options = {"num_test": 7, "num_valid": 5, "batch_size": 32, "muon": 0}
    run, history, _ = train_run(pairs, ("en", "fr"), settings, out=folder / "run", epochs=epochs, **options)
    return run, history


@lru_cache(maxsize=1)
def trained_run() -> tuple[Run, History]:
    """One trained run for all tests; they must not change it."""
    with TemporaryDirectory() as folder:
        return train_tiny(Path(folder))


def weights_of(model: EncoderDecoder) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
