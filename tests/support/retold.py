"""The chapters that have the form of a page that shows, then says, and those that do not have it yet."""

from pathlib import Path

#: Chapters that are exempt from the form until they are retold.
EXEMPT = {
    "additive_attention",
    "alignment",
    "attention_variants",
    "bahdanau_decoder",
    "beam_search",
    "bert",
    "beyond_words",
    "chat_model",
    "chinese_english",
    "dot_product_attention",
    "explanation",
    "fast_decoding",
    "gpt",
    "inside_heads",
    "long_sequences",
    "masked_softmax",
    "measuring",
    "nadaraya_watson",
    "positions",
    "real_network",
    "sentence_length",
    "transformer",
}
RETOLD = sorted({path.stem for path in (Path(__file__).parents[2] / "chapters").glob("*.ipynb")} - EXEMPT)
