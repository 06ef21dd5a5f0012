"""Unknown words: what stands in for the <unk> that a translator with a closed vocabulary writes.

Works on words and attention weights alone; which words a vocabulary knows is settled in ``corpus.vocabulary``.
Explained in chapters/chinese_english.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from jaxtyping import Float
from torch import Tensor

from utils.corpus.vocabulary import SPECIAL_TOKENS, UNK


def learn_dictionary(
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    links: Sequence[Iterable[tuple[int, int]]],
    *,
    min_count: int = 1,
    min_share: float = 0.0,
) -> dict[str, str]:
    """The translation of each source word: the target word that it is linked with most.

    Of equally frequent ones the first met is taken.

    Args:
        sources: the words of each source sentence.
        targets: the words of its translation.
        links: for each pair (source position, target position), as of
            :func:`utils.metrics.links_from_weights`.
        min_count: links with the chosen word below which a source word is left out.
        min_share: share of all links of the source word that must lead to the chosen one.

    Raises:
        ValueError: not as many sources, targets and sets of links.

    >>> learn_dictionary([["le", "chat"], ["chat", "noir"]], [["the", "cat"], ["black", "cat"]],
    ...                  [{(0, 0), (1, 1)}, {(0, 1), (1, 0)}])
    {'le': 'the', 'chat': 'cat', 'noir': 'black'}

    Source: Luong et al. (2015b), section 3; there an aligner of its own gives the links.
    """
    if not len(sources) == len(targets) == len(links):
        raise ValueError(
            "sources, targets and links must have a sentence each, "
            f"got {len(sources)}, {len(targets)} and {len(links)} sentences"
        )
    linked: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for source, target, pairs in zip(sources, targets, links, strict=True):
        for i, j in sorted(pairs):
            linked[source[i]][target[j]] += 1
    dictionary = {}
    for word, counts in linked.items():
        translation, count = counts.most_common(1)[0]
        if count >= min_count and count >= min_share * counts.total():
            dictionary[word] = translation
    return dictionary


def replace_unknown(
    tokens: Sequence[str],
    src_words: Sequence[str],
    weights: Float[Tensor, "rows src"],
    dictionary: Mapping[str, str] | None = None,
    *,
    unknown: str = SPECIAL_TOKENS[UNK],
) -> list[str]:
    r"""A translation whose unknown words are taken from the source, where the attention lay.

    The word written at step i, if unknown, becomes what the dictionary has for the source word with the largest
    weight, :math:`x_j` with :math:`j = \arg\max_j \alpha_{ij}`; what the dictionary does not have is copied.

    Args:
        tokens: the words written.
        src_words: the words read, those that the vocabulary does not know included.
        weights: attention weights, row i the step that wrote ``tokens[i]``; a further row, that of the end of
            sentence, is left out.
        dictionary: source word to target word; None copies every time.
        unknown: how an unknown word is written in ``tokens``.

    Raises:
        ValueError: fewer rows than tokens, or not as many columns as source words.

    >>> import torch
    >>> weights = torch.tensor([[0.9, 0.1, 0.0], [0.1, 0.7, 0.2], [0.0, 0.2, 0.8]])
    >>> replace_unknown(["I", "<unk>", "<unk>"], ["je", "connais", "Zoé"], weights, {"connais": "know"})
    ['I', 'know', 'Zoé']

    Source: Jean et al. (2015), who take the position from the attention; Luong et al. (2015b), section 3.
    """
    num_rows, num_columns = weights.shape
    if num_rows < len(tokens) or num_columns != len(src_words):
        raise ValueError(
            f"weights must have a row a token ({len(tokens)}) and a column a source word ({len(src_words)}), "
            f"got {num_rows} × {num_columns}"
        )
    dictionary = dictionary or {}
    looked_at = [src_words[j] for j in weights[: len(tokens)].argmax(dim=1).tolist()]
    return [
        dictionary.get(word, word) if token == unknown else token
        for token, word in zip(tokens, looked_at, strict=True)
    ]
