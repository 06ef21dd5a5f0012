"""Unknown words: replace each <unk> that a translator writes by a translation or a copy of the source word.

Works on words and attention weights; the vocabularies are in ``corpus.vocabulary``.
Explained in chapters/chinese_english (Further) and chapters/attention_variants.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from jaxtyping import Float
from torch import Tensor

from utils.corpus.text_files import refuse_text
from utils.corpus.vocabulary import SPECIAL_TOKENS, UNK
from utils.errors import CourseError

__all__ = ["learn_dictionary", "point_at_source", "read_pointers", "replace_unknown"]


def learn_dictionary(
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    links: Sequence[Iterable[tuple[int, int]]],
) -> dict[str, str]:
    """The translation of each source word: the target word with which it is linked most often.

    Of equally frequent target words, the one that is linked first is taken.

    Args:
        sources: the words of each source sentence.
        targets: the words of its translation.
        links: for each sentence pair its links (source position, target position), as from
            :func:`utils.metrics.links_from_weights`.

    Raises:
        ValueError: different numbers of sources, targets and sets of links, or a text in place of a list.

    >>> learn_dictionary([["le", "chat"], ["chat", "noir"]], [["the", "cat"], ["black", "cat"]],
    ...                  [{(0, 0), (1, 1)}, {(0, 1), (1, 0)}])
    {'le': 'the', 'chat': 'cat', 'noir': 'black'}

    Source: Luong et al. (2015b), section 3; there the links come from a separate word aligner.
    """
    refuse_text(sources=sources, targets=targets, links=links)
    if not len(sources) == len(targets) == len(links):
        raise CourseError(
            "sources, targets and links must have the same length, "
            f"got {len(sources)}, {len(targets)} and {len(links)}"
        )
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for source, target, pairs in zip(sources, targets, links, strict=True):
        refuse_text(source=source, target=target, links=pairs)
        for i, j in sorted(pairs):
            counts[source[i]][target[j]] += 1
    return {word: translations.most_common(1)[0][0] for word, translations in counts.items()}


def replace_unknown(
    tokens: Sequence[str],
    src_words: Sequence[str],
    weights: Float[Tensor, "rows src"],
    dictionary: Mapping[str, str] | None = None,
    *,
    unknown: str = SPECIAL_TOKENS[UNK],
) -> list[str]:
    r"""Replace the unknown words of a translation, using the source words that the decoder attended to.

    An unknown word at step i becomes the translation, in the dictionary, of the source word with the largest weight,
    :math:`x_j` with :math:`j = \arg\max_j \alpha_{ij}`. A source word that is not in the dictionary is copied.

    Args:
        tokens: the words of the translation.
        src_words: the words of the source, including those that are not in the vocabulary.
        weights: attention weights, row i of the step that wrote ``tokens[i]``; later rows, such as that of the end of
            sentence, are ignored.
        dictionary: source word to target word; None always copies the source word.
        unknown: the token that stands for an unknown word.

    Raises:
        ValueError: fewer rows than tokens, a number of columns that is not the number of source words, or a text in
            place of words.

    >>> import torch
    >>> weights = torch.tensor([[0.9, 0.1, 0.0], [0.1, 0.7, 0.2], [0.0, 0.2, 0.8]])
    >>> replace_unknown(["I", "<unk>", "<unk>"], ["je", "connais", "Zoé"], weights, {"connais": "know"})
    ['I', 'know', 'Zoé']

    Source: Jean et al. (2015), who take the position from the attention weights; Luong et al. (2015b), section 3.
    """
    refuse_text(tokens=tokens, src_words=src_words)
    num_rows, num_columns = weights.shape
    if num_rows < len(tokens) or num_columns != len(src_words):
        raise CourseError(
            f"weights must have one row per token ({len(tokens)}) and one column per source word "
            f"({len(src_words)}), got {num_rows} × {num_columns}"
        )
    dictionary = dictionary or {}
    attended_words = [src_words[j] for j in weights[: len(tokens)].argmax(dim=1).tolist()]
    return [
        dictionary.get(word, word) if token == unknown else token
        for token, word in zip(tokens, attended_words, strict=True)
    ]


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
