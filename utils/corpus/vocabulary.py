"""Vocabularies: from words or text to token ids and back, with the `tokenizers` library.

The other modules of ``corpus`` read and clean the text.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from utils.checks import refuse_text
from utils.corpus.text_files import check_characters
from utils.corpus.whole_files import write_whole
from utils.errors import CourseError

#: Ids that all vocabularies share: padding, beginning and end of sentence, and the unknown word.
PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIAL_TOKENS = ("<pad>", "<bos>", "<eos>", "<unk>")
#: The largest vocabulary of subwords; the trainer takes memory for all of them before it begins.
MAX_SIZE = 1_000_000
#: A subword vocabulary holds every byte, so that it can encode characters that were not in its texts.
_BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))


class Vocabulary:
    """Token ids of one language, of whole words or of subwords (byte-pair encoding).

    Make one with :meth:`words`, :meth:`bpe` or :meth:`load`.

    Attributes:
        of_words: whether the tokens are whole words; otherwise they are subwords.

    >>> vocabulary = Vocabulary.words([["the", "cat"], ["the", "dog"]])
    >>> vocabulary.encode([["the", "cat", "barks"]])
    [[4, 5, 3]]
    >>> vocabulary.decode([4, 5, 3])
    'the cat <unk>'

    Explained in chapters/bahdanau_decoder.
    """

    def __init__(self, tokenizer: Tokenizer):
        # "<eos>" within a text is encoded like any other text.
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self.of_words = isinstance(tokenizer.model, models.WordLevel)

    def __setstate__(self, state: dict):
        self.__init__(state["_tokenizer"])  # a tokenizer that was pickled or copied has lost its setting

    @classmethod
    def words(cls, sentences: Iterable[Sequence[str]], *, min_count: int = 1) -> "Vocabulary":
        """A vocabulary of whole words, the frequent ones first, equally frequent ones in alphabetical order.

        Args:
            sentences: each a sequence of words.
            min_count: rarer words become the unknown word.

        Raises:
            ValueError: no word at all, a text in place of a list, or a word with half of a surrogate pair.
        """
        refuse_text(sentences=sentences)
        counts: Counter[str] = Counter()
        for row, sentence in enumerate(sentences):
            refuse_text(**{f"sentences[{row}]": sentence})
            counts.update(sentence)
        check_characters(counts)
        if not counts:
            raise CourseError("sentences must hold at least one word, got none")
        frequent = sorted((-count, word) for word, count in counts.items() if count >= min_count)
        ids = {token: i for i, token in enumerate(SPECIAL_TOKENS)}
        for _, word in frequent:
            ids.setdefault(word, len(ids))
        return cls(Tokenizer(models.WordLevel(ids, unk_token=SPECIAL_TOKENS[UNK])))

    @classmethod
    def bpe(cls, texts: Iterable[str], size: int) -> "Vocabulary":
        """A vocabulary of subwords, learned by byte-pair encoding.

        A subword never crosses a blank or a punctuation mark. The first subword of a word holds the blank before
        it as "▁", so a text without a blank at its start decodes to itself, case and punctuation included; only
        where the text has this sign, it decodes to a blank.

        Args:
            texts: plain text, one sentence each.
            size: number of tokens, the 4 special ones and 256 bytes included. A short text gives fewer.

        Raises:
            ValueError: no text, a text in place of a list, half of a surrogate pair, or a size that leaves no room for
                the text's own characters.

        Source: Sennrich et al. (2016), section 3.2.
        """
        refuse_text(texts=texts)
        texts = list(texts)
        check_characters(texts)
        tokenizer = Tokenizer(models.BPE(unk_token=SPECIAL_TOKENS[UNK], byte_fallback=True))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Metaspace(), pre_tokenizers.Split(Regex(r"▁?[^\w▁']"), "isolated")]
        )
        tokenizer.decoder = decoders.Sequence(
            [
                decoders.Replace("▁", " "),
                decoders.ByteFallback(),
                decoders.Fuse(),
                decoders.Strip(" ", 1, 0),  # the blank that opens the first word
            ]
        )
        characters = len({"▁", *"".join(texts).replace(" ", "▁")})
        smallest = len(SPECIAL_TOKENS) + len(_BYTES) + characters
        if not any(texts):
            raise CourseError("texts must hold at least one character, got none")
        if size > MAX_SIZE:
            raise CourseError(f"size must be at most {MAX_SIZE}, got {size} (--vocabulary-size)")
        if size < smallest:
            raise CourseError(
                f"size must be at least {smallest} (4 special tokens, 256 bytes and the {characters} "
                f"characters of the text), got {size} (--vocabulary-size)"
            )
        trainer = trainers.BpeTrainer(
            vocab_size=size, min_frequency=2, special_tokens=[*SPECIAL_TOKENS, *_BYTES], show_progress=False
        )
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer)

    def encode(self, sentences: Iterable[str] | Iterable[Iterable[str]]) -> list[list[int]]:
        """Ids of each sentence, without beginning and end of sentence.

        Args:
            sentences: texts for a vocabulary of subwords, sequences of words for one of words.

        Raises:
            ValueError: texts for a vocabulary of words, words for one of subwords, a single text, or half of a
                surrogate pair.
        """
        refuse_text(sentences=sentences)
        sentences = list(sentences)
        for sentence in sentences:
            if isinstance(sentence, str) == self.of_words:
                kind = "sequences of words" if self.of_words else "texts"
                raise CourseError(f"this vocabulary encodes {kind}, got {sentence!r}")
        if self.of_words:
            sentences = list(map(list, sentences))
        check_characters(chain.from_iterable(sentences) if self.of_words else sentences)
        encodings = self._tokenizer.encode_batch(sentences, is_pretokenized=self.of_words)
        # A word that is spelled like a special token is an unknown word, not padding.
        return [[max(i, UNK) for i in encoding.ids] for encoding in encodings]

    def spans(self, texts: Iterable[str]) -> list[list[tuple[int, int]]]:
        """The characters of the text that each id of :meth:`encode` stands for, as (start, end).

        A blank belongs to the subword after it; the bytes of one character share its span.

        Raises:
            ValueError: a vocabulary of words, a single text, or half of a surrogate pair.
        """
        refuse_text(texts=texts)
        texts = list(texts)
        check_characters(texts)
        if self.of_words:
            raise CourseError("only a vocabulary of subwords has spans, got one of words")
        return [encoding.offsets for encoding in self._tokenizer.encode_batch(texts)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of the ids, words joined by blanks; padding and the ends of the sentence are left out.

        Raises:
            ValueError: an id that this vocabulary does not have.
        """
        content = [i for i in self._checked(ids) if i not in (PAD, BOS, EOS)]
        return self._tokenizer.decode(content, skip_special_tokens=False)

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """One string per id, for the axes of a heat map; "▁" marks the first subword of a word.

        Raises:
            ValueError: an id that this vocabulary does not have.
        """
        return [self._tokenizer.id_to_token(i) for i in self._checked(ids)]

    def _checked(self, ids: Iterable[int]) -> list[int]:
        ids, size = list(ids), len(self)
        for i in ids:
            if not 0 <= i < size:
                raise CourseError(f"ids of this vocabulary are from 0 to {size - 1}, got {i}")
        return ids

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as JSON."""
        write_whole(path, self.to_json())

    def to_json(self) -> str:
        """The whole vocabulary as JSON, which :meth:`load` reads from a file."""
        return self._tokenizer.to_str()

    @classmethod
    def load(cls, path: str | Path) -> "Vocabulary":
        """Read what :meth:`save` wrote.

        Raises:
            ValueError: a file that is not such a vocabulary.
        """
        try:
            tokenizer = Tokenizer.from_str(Path(path).read_text(encoding="utf-8"))
        except OSError:
            raise
        except Exception as error:  # tokenizers raises no narrower class
            raise CourseError(f"{path} does not hold a vocabulary: {error}") from error
        if tuple(map(tokenizer.id_to_token, range(len(SPECIAL_TOKENS)))) != SPECIAL_TOKENS:
            raise CourseError(f"{path} does not hold a vocabulary of this course: ids 0 to 3 differ")
        return cls(tokenizer)


def encode_pairs(
    pairs: Iterable[tuple[Sequence[str], Sequence[str]]], src: Vocabulary, tgt: Vocabulary, *, max_tokens: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Ids of the sources and of the targets, without the pairs that have more than ``max_tokens`` on a side.

    Args:
        pairs: (source, target), each a text or a sequence of words, as its vocabulary encodes.
        src: vocabulary of the sources.
        tgt: vocabulary of the targets.
        max_tokens: largest number of tokens of a source or a target.

    Raises:
        ValueError: a text in place of the pairs or of a pair, or as for :meth:`Vocabulary.encode`.

    >>> words = Vocabulary.words([["a", "b"]])
    >>> encode_pairs([(["a"], ["b"]), (["a", "b"], ["a"])], words, words, max_tokens=1)
    ([[4]], [[5]])

    Explained in book/your_translator.
    """
    refuse_text(pairs=pairs)
    pairs = list(pairs)
    for row, pair in enumerate(pairs):
        refuse_text(**{f"pairs[{row}]": pair})
    sources, targets = (
        src.encode([source for source, _ in pairs]),
        tgt.encode([target for _, target in pairs]),
    )
    short = [pair for pair in zip(sources, targets, strict=True) if max(map(len, pair)) <= max_tokens]
    return [source for source, _ in short], [target for _, target in short]
