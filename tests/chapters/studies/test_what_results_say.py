"""What holds for all studies: results say by which torch they were made, and torch's own generator is left alone."""

import ast
import importlib
import inspect
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny import weights_of

import studies
from studies.real_sentences import SentencesSettings, closed, trained
from utils.corpus.pairs import DATA_VARIABLE
from utils.corpus.splits import Split
from utils.translator.models import Settings
from utils.translator.training.loop import Schedule

pytestmark = pytest.mark.trains

FOLDER = Path(studies.__path__[0])


def with_version(content: object, version: str) -> object:
    """The same results as those of another torch."""
    if isinstance(content, dict):
        return {
            name: version if name == "torch" else with_version(value, version)
            for name, value in content.items()
        }
    return content


STORED = {file.stem: file for file in sorted(FOLDER.glob("*.json")) if '"torch"' in file.read_text("utf-8")}


@pytest.mark.parametrize("name", STORED)
def test_results_of_another_torch_are_not_taken_for_those_of_this(name, tmp_path, monkeypatch):
    """Whoever measures a part again would otherwise leave the others under the name of a torch that never saw them."""
    if name == "real_sentences" and DATA_VARIABLE not in os.environ:
        pytest.skip("it needs the data folder")
    study = importlib.import_module(f"studies.{name}")
    old = tmp_path / STORED[name].name
    content = with_version(json.loads(STORED[name].read_text("utf-8")), "1.0.0")
    old.write_text(json.dumps(content), "utf-8")
    before = old.read_bytes()
    monkeypatch.setattr(study, "RESULTS", old)
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    main = getattr(study, "_main", None) or study.main
    takes = inspect.signature(main).parameters
    options = {"out": old, "runs": tmp_path / "runs"}
    with pytest.raises(ValueError, match=f"{old.name} holds results .*name another file"):
        main(**{option: value for option, value in options.items() if option in takes})
    assert old.read_bytes() == before


def test_what_is_trained_already_is_that_of_these_settings(tmp_path):
    """A study whose trainings stay in a folder."""
    pairs = [("a b", "c d"), ("b", "d")]
    units = [closed(texts, str.split, 1) for texts in zip(*pairs, strict=True)]
    settings = Settings(src="en", tgt="fr", d_embed=3, d_hidden=5)

    def weights(steps: int, seed: int = 0) -> torch.Tensor:
        study, schedule = SentencesSettings(runs=tmp_path), Schedule(steps=steps)
        of = replace(settings, seed=seed)
        return weights_of(trained("any", study, *units, Split(pairs, pairs, []), of, schedule).model)

    first = weights(2)
    assert torch.equal(weights(2), first)
    for other in ({"steps": 3}, {"steps": 2, "seed": 1}):
        with pytest.raises(ValueError, match=r"any\.json is of another version, other settings"):
            weights(**other)


def calls_of_seed(file: Path) -> list[int]:
    """The lines that seed torch's own generator."""
    tree = ast.parse(file.read_text("utf-8"))
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("torch.manual_seed", "torch.seed")
    ]


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.stem)
def test_no_study_seeds_the_generator_of_its_reader(file):
    assert calls_of_seed(file) == [], "use utils.training.seeded, which puts the old state back"
