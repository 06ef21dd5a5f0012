"""How fast the grammar corpus is made: ``python tests/benchmarks/grammar.py`` prints triples per second."""

from time import process_time

from utils.corpus.grammar import triple


def triples_per_second(num: int = 5_000, *, min_words: int = 3, max_words: int = 60) -> float:
    """Triples per second of processor time, on one core, with warm caches of phrases."""
    for index in range(1_000):
        triple(index, seed=1, min_words=min_words, max_words=max_words)
    start = process_time()
    for index in range(num):
        triple(index, min_words=min_words, max_words=max_words)
    return num / (process_time() - start)


if __name__ == "__main__":
    for low, high in ((3, 60), (3, 10), (3, 20), (40, 60)):
        speed = triples_per_second(min_words=low, max_words=high)
        print(f"{low:2} to {high} words: {speed:,.0f} triples per second")
