"""What one vector loses as a sentence grows: two translators of the length study, trained longer, and one sentence.

``PYTHONPATH=chapters python -m studies.growing_sentence`` trains both, which takes a quarter of an hour on one core,
and stores what chapters/encoder_decoder shows: BLEU by sentence length, and each translation of the sentence.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import torch

from studies.length_study import DECODERS, LengthTask, grammar_task, score, train
from utils.corpus.whole_files import write_whole
from utils.metrics import bleu
from utils.search import greedy
from utils.seq2seq import EncoderDecoder

#: Where the results are stored.
#:
#: :meta hide-value:
RESULTS = Path(__file__).with_suffix(".json")
#: Longest sentences of training, French tokens of training, and the width of the translators.
LIMIT, NUM_TOKENS, WIDTH = 50, 2_400_000, 96
#: Longest sentences of the ranges for BLEU; a last one goes up to the limit.
EDGES = (10, 20, 30, 40)
#: The sentence clause by clause, in English and in French.
CLAUSES = [
    ("Mary found the small white flower yesterday", "Marie a trouvé la petite fleur blanche hier"),
    (", and she was very happy", "et elle était très heureuse"),
    (", so she danced in the garden", ", donc elle a dansé dans le jardin"),
    (", and Paul bought a big cake for Anna", "et Paul a acheté un grand gâteau pour Anna"),
    (", but our dog was hungry", ", mais notre chien avait faim"),
    (", so it ate the cake quickly in the kitchen", ", donc il a mangé rapidement le gâteau dans la cuisine"),
]
#: English and French words of the first clause.
FIRST = tuple(len(words.split()) for words in CLAUSES[0])


def lengths() -> list[tuple[list[str], list[str]]]:
    """The English and the French words of the sentence at each of its lengths."""
    english, french = zip(*CLAUSES, strict=True)
    return [
        (" ".join([*english[:n], "."]).split(), " ".join([*french[:n], "."]).split())
        for n in range(1, len(CLAUSES) + 1)
    ]


def right_places(words: Sequence[str], reference: Sequence[str]) -> list[int]:
    """The places of the words that are also in the reference, in the same order: as many as there can be.

    >>> right_places(["la", "fleur", "blanche", "la"], ["la", "petite", "fleur"])
    [0, 1]
    """

    @cache
    def longest(i: int, j: int) -> tuple[int, ...]:
        if i == len(words) or j == len(reference):
            return ()
        if words[i] == reference[j]:
            return (i, *longest(i + 1, j + 1))
        return max(longest(i + 1, j), longest(i, j + 1), key=len)

    return list(longest(0, 0))


def translated(
    model: EncoderDecoder, task: LengthTask, english: Sequence[str], french: Sequence[str]
) -> dict:
    """The words of a translation, the places of those that are right, and the weights of the first clause.

    The weights are those of as many words as the first clause has in French, on each English word of the first clause
    and on all words after it together. From one vector there are none.
    """
    ids = task.read(" ".join(english))
    [best] = greedy(model, torch.tensor([ids]), torch.tensor([len(ids)]), max_len=3 * len(ids))
    words = task.tgt_vocabulary.tokens(best.tokens)
    result = {"words": words, "right": right_places(words, french)}
    if best.weights is not None:
        own, rest = best.weights[: FIRST[1]].tensor_split([FIRST[0]], dim=1)
        shares = torch.cat([own, rest.sum(dim=1, keepdim=True)], dim=1)
        result["weights"] = shares.double().round(decimals=4).tolist()
    return result


def main() -> None:
    """Train both translators and store what they write."""
    torch.set_num_threads(1)
    task = grammar_task(LIMIT, num_tokens=NUM_TOKENS, longest=LIMIT, edges=EDGES)
    read = [task.read(" ".join(english)) for english, _ in lengths()]
    if any(ids in task.src_ids for ids in read):
        raise ValueError("training has one of the sentences: change it")
    found = read[0][: FIRST[0] - 1]  # Mary found the small white flower
    containing = sum(any(ids[i : i + len(found)] == found for i in range(len(ids))) for ids in task.src_ids)
    results = {
        "sentences": len(task.src_ids),
        "longest": LIMIT,
        "width": WIDTH,
        "sentences with the first clause": containing,
        "signature": bleu(["."], [["."]], lang="fr").signature,
        "bleu": {},
        "translations": [{"english": english, "french": french} for english, french in lengths()],
    }
    for name in DECODERS:
        model = train(task, name, width=WIDTH, progress=True).eval()
        results["bleu"][name] = [
            {"low": low, "high": min(high, LIMIT), "num": num, "bleu": round(value, 2)}
            for low, high, num, value, *_ in score(model, task, edges=EDGES)
        ]
        for step in results["translations"]:
            step[name] = translated(model, task, step["english"], step["french"])
    write_whole(RESULTS, (json.dumps(results, ensure_ascii=False, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
