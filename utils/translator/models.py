"""The settings of a run, and the translator that is built from them.

A run is trained and stored in ``runs``.
Explained in book/your_translator.
"""

from dataclasses import dataclass

from torch import nn

from utils.checks import check_count
from utils.errors import CourseError
from utils.seq2seq import BahdanauDecoder, Encoder, EncoderDecoder
from utils.training import seeded
from utils.transformer import TransformerDecoder, TransformerEncoder
from utils.translator.options import Model


@dataclass(frozen=True)
class Settings:
    """The settings of a run, from which its model can be built again.

    Attributes:
        src: language code of the source.
        tgt: language code of the target.
        vocabulary_size: most subwords per language.
        d_embed: width of the embeddings, and of all sequences of a Transformer.
        d_hidden: width of the decoder's state and of each direction of the encoder; in a Transformer, of the hidden
            layers of its feed-forward networks.
        num_layers: layers of the encoder, and as many of the decoder.
        dropout: probability of dropping a number in training.
        seed: of the split, the initial weights, the batches and dropout.
        model: "recurrent", the translator of Bahdanau et al., or "transformer".
        num_heads: of each attention of a Transformer; None for a recurrent translator.

    Raises:
        ValueError: another model, or a width or a number of heads that it cannot have.
    """

    src: str
    tgt: str
    vocabulary_size: int = 6000
    d_embed: int = 192
    d_hidden: int = 192
    num_layers: int = 1
    dropout: float = 0.1
    seed: int = 0
    model: str = Model.RECURRENT
    num_heads: int | None = None

    def __post_init__(self):
        if self.model not in tuple(Model):
            raise CourseError(f"model must be {' or '.join(Model)}, got {self.model!r}")
        if (self.num_heads is None) != (self.model == Model.RECURRENT):
            raise CourseError(
                "a Transformer needs a number of heads, and a recurrent translator has none, "
                f"got {self.num_heads} for {self.model}"
            )
        check_count(1, d_embed=self.d_embed, d_hidden=self.d_hidden, num_heads=self.num_heads)
        if self.num_heads is not None and (self.d_embed % 2 or self.d_embed % self.num_heads):
            raise CourseError(
                "the width of a Transformer must be even and a multiple of the number of its heads, "
                f"got {self.d_embed} and {self.num_heads}"
            )


def build_model(settings: Settings, num_src: int, num_tgt: int) -> EncoderDecoder:
    """A translator with attention, its initial weights drawn by the seed of the settings.

    Args:
        num_src: size of the source vocabulary.
        num_tgt: size of the target vocabulary.
    """
    options = {"num_layers": settings.num_layers, "dropout": settings.dropout}
    with seeded(settings.seed):
        if settings.model == Model.TRANSFORMER:
            options |= {"num_heads": settings.num_heads, "d_hidden": settings.d_hidden}
            encoder = TransformerEncoder(num_src, settings.d_embed, **options)
            return EncoderDecoder(encoder, TransformerDecoder(num_tgt, settings.d_embed, **options)).eval()
        encoder = Encoder(num_src, settings.d_embed, settings.d_hidden, **options)
        decoder = BahdanauDecoder(num_tgt, settings.d_embed, settings.d_hidden, encoder.d_out, **options)
        for embedding in (encoder.embedding, decoder.embedding):
            # torch's default standard deviation is 1; with steps of about 0.001 most embeddings would hardly change.
            nn.init.normal_(embedding.weight, std=0.1)
    return EncoderDecoder(encoder, decoder).eval()
