"""The picture study: its pictures, its masks, and its stored results."""

import json
import random

import pytest
import torch

from studies.picture_study import (
    CLASSES,
    HIDDEN,
    KINDS,
    MAPS,
    RESULTS,
    SHOWN,
    PictureSettings,
    Scene,
    captions,
    corpus,
    cut,
    describing,
    looks,
    network,
    patch_of,
    right_without,
    scenes,
    shares_right,
    step_by_step,
)
from utils.search import greedy

SMALL = PictureSettings(num_train=7, num_test=5, width=8, num_heads=2)


def test_a_word_describes_the_patch_that_holds_its_colour():
    for scene in scenes(11, seed=3):
        assert len(scene.places) in (2, 3)
        for word, place in zip(scene.caption, scene.where, strict=True):
            grounds = [(patch_of(scene.image, p) == 255).all().item() for p in range(16)]
            assert grounds == [p not in scene.places for p in range(16)]
            if word in ("red", "green"):
                red, green, _ = patch_of(scene.image, place).flatten(1).amin(dim=1).tolist()
                assert (red < green) == (word == "green")


def test_the_cut_is_that_of_the_patches():
    [scene] = scenes(1, seed=5)
    rows = cut(scene.image[None])[0]
    assert torch.equal(rows, torch.stack([patch_of(scene.image, p).flatten() for p in range(16)]))


@pytest.mark.parametrize("kind", KINDS)
def test_step_by_step_is_what_training_reads(kind):
    pictures = corpus(SMALL)
    model, batch = network(kind, len(pictures.words), SMALL, seed=0).eval(), pictures.batch(pictures.test)
    at_once = model(batch.src, batch.src_lens, batch.tgt_in)
    torch.testing.assert_close(step_by_step(model, batch), at_once, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_masked_patch_gets_no_weight_in_its_step_alone(kind):
    pictures = corpus(SMALL)
    model, batch = network(kind, len(pictures.words), SMALL, seed=0).eval(), pictures.batch(pictures.test)
    mask = torch.ones(*batch.tgt_in.shape, 16, dtype=torch.bool)
    mask[2, 1, 13] = False
    logits, weights = step_by_step(model, batch, mask)
    assert ((weights == 0) == ~mask).all()
    changed = (logits - step_by_step(model, batch)[0]).abs().amax(dim=-1) > 0
    assert changed.nonzero().tolist() == [[2, 1]]


def test_search_reads_patches():
    pictures = corpus(SMALL)
    model, batch = network(KINDS[0], len(pictures.words), SMALL, seed=0).eval(), pictures.batch(pictures.test)
    found = greedy(model, batch.src, batch.src_lens, max_len=3)
    assert [hypothesis.weights.shape[1] for hypothesis in found] == [16] * 5
    assert captions(model, batch, pictures.words) == [
        pictures.words.tokens(hypothesis.tokens)
        for hypothesis in greedy(model, batch.src, batch.src_lens, max_len=15)
    ]


def test_what_is_masked():
    scene = Scene(torch.zeros(3, 32, 32), ["a", "red", "cross"], [None, 4, 4, None, 7, 7])
    draws = [
        {HIDDEN[name](scene, 4, random.Random(seed))[0] for seed in range(200)} for name in list(HIDDEN)[1:]
    ]
    assert HIDDEN["nothing"](scene, 4, random.Random(0)) == []
    assert draws == [{4}, {7}, set(range(16)) - {4, 7}]


def test_shares_by_hand():
    pictures = corpus(SMALL)
    batch = pictures.batch(pictures.test)
    words = describing(pictures.test)
    rows, steps, places = torch.tensor(words).unbind(dim=1)

    class Knows(torch.nn.Module):
        """Writes what is right wherever it may look at the right patch, and looks there alone."""

        def start(self, src, src_lens):
            return type("M", (), {"_replace": lambda self, mask: mask})(), torch.zeros(1, dtype=torch.long)

        def decoder(self, tgt_in, memory, state):
            i, size = int(state), (len(tgt_in), 1)
            weights, logits = torch.zeros(*size, 16), torch.zeros(*size, len(pictures.words))
            for row, step, place in words:
                if step == i:
                    weights[row, 0, place] = 1
                    may = not isinstance(memory, torch.Tensor) or memory[row, 0, place]
                    logits[row, 0, batch.tgt_out[row, i]] = 1 if may else -1
            return logits, state + 1, weights

    assert looks(Knows(), batch, pictures.test) == (1, 1)
    assert [right_without(Knows(), batch, pictures.test, name) for name in HIDDEN] == [1, 0, 1, 1]
    written = [s.caption for s in pictures.test]
    written[0] = written[0][::-1]
    shares = shares_right(written, pictures.test)
    num = len(pictures.test[0].places)
    of_num = sum(len(s.places) == num for s in pictures.test)
    assert shares[f"{num} things"] == (of_num - 1) / of_num
    assert shares[f"{num} things, any order"] == 1
    assert len(rows) == len(steps) == len(places) == 2 * sum(len(s.places) for s in pictures.test)


def test_the_stored_results_are_whole():
    stored, settings = json.loads(RESULTS.read_text("utf-8")), PictureSettings()
    parts = stored["parts"]
    assert list(parts) == [*KINDS, CLASSES, MAPS]
    assert {name: stored[name] for name in settings._asdict()} == json.loads(json.dumps(settings._asdict()))
    for kind in KINDS:
        assert [run["seed"] for run in parts[kind]["runs"]] == list(settings.seeds)
        scores = {trial["lr"]: trial["right"] for trial in parts[kind]["validation"]}
        assert list(scores) == list(settings.lrs)
        assert parts[kind]["lr"] == max(scores, key=scores.get)
    assert len(parts[CLASSES]["runs"]) == 2 * len(settings.class_passes) * len(settings.class_lrs)
    shown = scenes(settings.num_test, seed=1)[SHOWN]
    assert parts[MAPS]["caption"] == shown.caption
    weights = torch.tensor(parts[MAPS]["weights"])
    assert weights.shape == (len(settings.map_steps), len(shown.caption), 16)
    assert (weights.sum(dim=-1) - 1).abs().max() < 0.01
