"""The drawing of the Transformer: its parts are those of the modules."""

import re

import torch

from utils.figures.transformer_drawing import TransformerDrawing
from utils.seq2seq import EncoderDecoder
from utils.transformer import TransformerDecoder, TransformerEncoder


def labels() -> list[str]:
    texts = re.findall(r"<text[^>]*>(.*?)</text>", TransformerDrawing().svg())
    return [re.sub("<.*?>", "", text) for text in texts]


def test_the_parts_and_norms_are_those_of_the_layers() -> None:
    sizes = {"num_heads": 2, "num_layers": 2}
    model = EncoderDecoder(TransformerEncoder(7, 4, **sizes), TransformerDecoder(7, 4, **sizes))
    norms = [part for part in model.modules() if isinstance(part, torch.nn.LayerNorm)]
    assert labels().count("norm") == (len(norms) - 2) / 2 + 2  # the layers are drawn once
    drawn = [label for label in labels() if label.endswith(("-attention", "-forward"))]
    layers = model.encoder.layers[0], model.decoder.layers[0]
    parts = [name.replace("_", "-") for layer in layers for name, _ in layer.named_children()]
    assert drawn == [part for part in parts if part != "residuals"]


def test_each_word_of_the_drawing_is_spoken() -> None:
    words = {word for label in labels() for word in re.findall(r"[a-z-]{4,}", label)}
    spoken = TransformerDrawing.alt.lower()
    assert {word for word in words if word.rstrip("s") not in spoken} == set()
