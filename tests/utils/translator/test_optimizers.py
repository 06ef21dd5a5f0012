"""Optimizers: which one trains which weights, the steps of both, and a state that is kept and restored."""

import dataclasses

import torch
from tiny import weights_of

from utils.corpus.batches import ShuffledBatches, make_batch
from utils.fast_training import fast_loss
from utils.seq2seq import EncoderDecoder
from utils.translator.loop import Schedule, train
from utils.translator.models import Settings, build_model
from utils.translator.optimizers import Optimizers, hidden_matrices

SETTINGS = Settings("xx", "yy", d_embed=17, d_hidden=19, dropout=0.0)


def model(**changes) -> EncoderDecoder:
    return build_model(dataclasses.replace(SETTINGS, **changes), 11, 13).train()


def named(some_model: EncoderDecoder) -> dict[str, torch.Tensor]:
    return {name: weight.clone() for name, weight in some_model.state_dict().items()}


def some_gradients(some_model: EncoderDecoder, seed: int = 0) -> None:
    generator = torch.Generator().manual_seed(seed)
    for parameter in some_model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator).to(parameter.dtype)


def test_the_hidden_matrices_are_those_of_no_vocabulary():
    some_model = model()
    names = {id(parameter): name for name, parameter in some_model.named_parameters()}
    directions = ("", "_reverse")
    assert [names[id(matrix)] for matrix in hidden_matrices(some_model)] == [
        *(f"encoder.gru.weight_{side}_l0{way}" for way in directions for side in ("ih", "hh")),
        *(f"decoder.cells.0.weight_{side}" for side in ("ih", "hh")),
        "decoder.start_state.weight",
        "decoder.readout.weight",
        *(f"decoder.attention.w_{side}.weight" for side in ("q", "k")),
    ]


def test_a_transformer_s_hidden_matrices_are_its_layers():
    some_model = model(model="transformer", d_embed=6, num_heads=3, num_layers=2)
    names = {id(parameter): name for name, parameter in some_model.named_parameters()}
    found = [names[id(matrix)] for matrix in hidden_matrices(some_model)]
    attention = [f"w_{part}.weight" for part in "qkvo"]
    network = ["feed_forward.0.weight", "feed_forward.3.weight"]
    encoder_layer = [*(f"self_attention.{name}" for name in attention), *network]
    decoder_layer = [*encoder_layer[:4], *(f"cross_attention.{name}" for name in attention), *network]
    assert found == [
        f"{side}.layers.{number}.{name}"
        for side, layer in (("encoder", encoder_layer), ("decoder", decoder_layer))
        for number in range(2)
        for name in layer
    ]


def test_muon_evens_directions_and_adam_evens_numbers():
    some_model = model().double()
    before = named(some_model)
    some_gradients(some_model)
    matrices = {id(matrix) for matrix in hidden_matrices(some_model)}
    for parameter in hidden_matrices(some_model):  # twenty times as large in one direction as in another
        u, s, vh = torch.linalg.svd(parameter.grad, full_matrices=False)
        parameter.grad = u @ torch.linspace(20, 1, len(s), dtype=s.dtype).diag() @ vh
    Optimizers(some_model, lr=3e-4, muon=0.02).step(share=0.5)
    for name, parameter in some_model.named_parameters():
        step = before[name] - parameter.detach()
        if id(parameter) not in matrices:
            wanted = 0.5 * 3e-4 * parameter.grad / (parameter.grad.abs() + 1e-8)
            # A step is the difference of two weights below 10, which float64 rounds by 1e-15.
            torch.testing.assert_close(step, wanted, rtol=0, atol=1e-14)
            continue
        rows, columns = step.shape
        step /= 0.5 * 0.02 * max(1, rows / columns) ** 0.5
        u, s, vh = torch.linalg.svd(parameter.grad, full_matrices=False)
        sizes = s / s.norm()
        for _ in range(5):
            sizes = 3.4445 * sizes - 4.7750 * sizes**3 + 2.0315 * sizes**5  # Jordan et al. (2024)
        assert 0.6 < sizes.min() < sizes.max() < 1.2
        # torch makes the five rounds, of three products each, in bfloat16, which rounds a number by 2^-8 of its size.
        torch.testing.assert_close(u.T @ step @ vh.T, sizes.diag(), rtol=0, atol=15 * 2**-8)


def test_a_restored_optimizer_goes_on_alike():
    through, again = model(), model(seed=1)
    optimizers = Optimizers(through, lr=3e-4, muon=0.02)
    for seed in range(3):
        some_gradients(through, seed)
        optimizers.step(share=1.0)
    again.load_state_dict(named(through))
    restored = Optimizers(again, lr=3e-4, muon=0.02)
    restored.restore({name: value.clone() for name, value in optimizers.tensors().items()})
    for some_model, some_optimizers in ((through, optimizers), (again, restored)):
        some_gradients(some_model, 3)
        some_optimizers.step(share=0.5)
    assert torch.equal(weights_of(again), weights_of(through))
    fresh = model(seed=1)
    some_gradients(fresh, 3)
    Optimizers(fresh, lr=3e-4, muon=0.02).step(share=0.5)
    assert not torch.equal(weights_of(fresh), weights_of(through))


def test_a_training_with_muon_is_these_steps():
    sentence = [[4, 5, 6, 7]]
    trained, stepped = model(), model()
    schedule = Schedule(epochs=4, lr=0.02, muon=0.01, warmup=0.4, clip=0.5)
    history = train(trained, ShuffledBatches(sentence, sentence), schedule)
    optimizers = Optimizers(stepped, lr=0.02, muon=0.01)
    batch = make_batch(sentence, sentence)
    losses = []
    for share in (0.0, 1 / 4 / 0.4 * 3 / 4, 2 / 4, 1 / 4):
        loss = fast_loss(stepped, batch, label_smoothing=0.1)
        losses.append(loss.item())
        optimizers.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(stepped.parameters(), 0.5)
        optimizers.step(share)
    # The same operations in the same order give the same bits.
    assert history.losses == losses
    assert losses[-1] < losses[0]
    assert torch.equal(weights_of(trained), weights_of(stepped))
