"""Unknown words: replace each <unk> that a translator writes by a copy of a source word.

Works on words and attention weights; the vocabularies are in ``corpus.vocabulary``.
Explained in chapters/attention_variants.
"""

from collections.abc import Callable, Sequence

from jaxtyping import Float
from torch import Tensor

from utils.corpus.text_files import refuse_text
from utils.corpus.vocabulary import SPECIAL_TOKENS, UNK
from utils.errors import CourseError

__all__ = ["point_at_source", "read_pointers", "replace_unknown"]


def replace_unknown(
    tokens: Sequence[str],
    src_words: Sequence[str],
    weights: Float[Tensor, "rows src"],
    *,
    unknown: str = SPECIAL_TOKENS[UNK],
) -> list[str]:
    r"""Replace each unknown word of a translation by a copy of the source word that the decoder attended to.

    At step i this is the source word with the largest weight, :math:`x_j` with :math:`j = \arg\max_j \alpha_{ij}`.

    Args:
        tokens: the words of the translation.
        src_words: the words of the source, including those that are not in the vocabulary.
        weights: attention weights, row i of the step that wrote ``tokens[i]``; later rows, such as that of the end of
            sentence, are ignored.
        unknown: the token that stands for an unknown word.

    Raises:
        ValueError: fewer rows than tokens, a number of columns that is not the number of source words, or a text in
            place of words.

    >>> import torch
    >>> weights = torch.tensor([[0.9, 0.1, 0.0], [0.1, 0.7, 0.2], [0.0, 0.2, 0.8]])
    >>> replace_unknown(["I", "<unk>", "<unk>"], ["je", "connais", "Zoé"], weights)
    ['I', 'connais', 'Zoé']

    Source: Jean et al. (2015), who take the position from the attention weights, and also ask a dictionary.
    """
    refuse_text(tokens=tokens, src_words=src_words)
    num_rows, num_columns = weights.shape
    if num_rows < len(tokens) or num_columns != len(src_words):
        raise CourseError(
            f"weights must have one row per token ({len(tokens)}) and one column per source word "
            f"({len(src_words)}), got {num_rows} × {num_columns}"
        )
    attended_words = [src_words[j] for j in weights[: len(tokens)].argmax(dim=1).tolist()]
    return [word if token == unknown else token for token, word in zip(tokens, attended_words, strict=True)]


def point_at_source(
    tgt_ids: Sequence[int], tgt_words: Sequence[str], src_words: Sequence[str], *, vocab_size: int
) -> list[int]:
    """Replace the ids of unknown words by pointers: ``vocab_size + j`` where source word j is the same word.

    An unknown word that is not in the source stays unknown. Of equal source words the first is taken.

    >>> point_at_source([4, 3, 3], ["I", "know", "Zoé"], ["je", "connais", "Zoé"], vocab_size=10)
    [4, 3, 12]

    Explained in chapters/attention_variants.
    """
    refuse_text(tgt_words=tgt_words, src_words=src_words)
    places = {word: j for j, word in reversed(list(enumerate(src_words)))}
    return [
        vocab_size + places[word] if token == UNK and word in places else token
        for token, word in zip(tgt_ids, tgt_words, strict=True)
    ]


def read_pointers(
    ids: Sequence[int], tokens: Callable[[list[int]], list[str]], src_words: Sequence[str], *, vocab_size: int
) -> list[str]:
    """The words of a translation with pointers, the reverse of :func:`point_at_source`.

    Args:
        tokens: turns ids of the vocabulary into words, as :meth:`utils.corpus.vocabulary.Vocabulary.tokens`.
        vocab_size: ids from here on point at source words.

    >>> read_pointers([1, 12], lambda ids: ["abc"[i] for i in ids], ["je", "connais", "Zoé"], vocab_size=10)
    ['b', 'Zoé']

    Explained in chapters/attention_variants.
    """
    refuse_text(src_words=src_words)
    return [src_words[i - vocab_size] if i >= vocab_size else tokens([i])[0] for i in ids]
