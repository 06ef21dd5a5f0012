"""Checks of the exercises of chapters/fast_decoding."""

import math

import torch
from torch import Tensor

from utils.exercises.tables import Case, against

_RANDOM = torch.Generator().manual_seed(0)


def _cache(n: int, says: str) -> Case:
    w_q, w_k, w_v = torch.randn(3, 7, 5, generator=_RANDOM) / 7**0.5
    keys, values = torch.randn(2, n, 5, generator=_RANDOM)
    point = f"{says} the context is right, and the cache has one row more"
    return Case(
        says,
        (torch.randn(7, generator=_RANDOM), keys, values, w_q, w_k, w_v),
        point,
        "A word also looks at itself, so add its key and value to the cache first: one row more than before.",
    )


@against(
    1,
    "The new word gives one query, one key and one value. The key and the value become the last rows of the cache.",
    "`keys = torch.cat([keys, (new @ w_k)[None]])`, the same for the values, and then `look(new @ w_q, keys, values)`.",
    cases=[_cache(2, "with two words in the cache"), _cache(0, "with an empty cache")],
    mistakes={
        "the word does not look at itself | Add its key and value to the cache first.": {"itself": False},
        "keys and values are exchanged | Keys are compared.": {"swapped": True},
        "the key is used as the query | The query is `new @ w_q`.": {"key_asks": True},
        "the scale is missing | Use `look`.": {"scaled": False},
        "the new row stands first | It is the last one: a word comes after those before it.": {"order": -1},
        "the cache has not grown | The new word leaves its key and its value.": {"grows": False},
    },
    parts=["the context", "the new keys", "the new values"],
)
def step(*given, itself=True, swapped=False, key_asks=False, scaled=True, order=1, grows=True) -> tuple:
    new, keys, values, w_q, w_k, w_v = given
    longer = [torch.cat([old, (new @ w)[None]][::order]) for old, w in ((keys, w_k), (values, w_v))]
    k, v = (longer if itself else [keys, values])[:: -1 if swapped else 1]
    query = new @ (w_k if key_asks else w_q)
    weights = torch.softmax(k @ query / (math.sqrt(len(query)) if scaled else 1), dim=0)
    return weights @ v, *(longer if grows else [keys, values])


def _probabilities(case: str, large: list[float], small: list[float]) -> Case:
    missing = "Drafts give the word j with the probability q_j · accept_j. What is missing to p_j?"
    point = f"{case} each word is written with the probability of the large model"
    return Case(case, (torch.tensor(large), torch.tensor(small)), point, missing)


@against(
    2,
    "Where q is at most p, every draft is kept. Where q is too large, keep the share p / q of the drafts.",
    "`accept = (p / q).clamp(max=1)`, and `rest` is `(p - q).clamp(min=0)`, divided by its sum.",
    cases=[
        _probabilities("for two words", [0.9, 0.1], [0.6, 0.4]),
        _probabilities("for four words", [0.5, 0.25, 0.2, 0.05], [0.2, 0.5, 0.1, 0.2]),
        _probabilities("for a word that the large model never writes", [0.0, 0.75, 0.25], [0.5, 0.25, 0.25]),
        _probabilities("for two equal models", [0.7, 0.2, 0.1], [0.7, 0.2, 0.1]),
    ],
    mistakes={
        "some are above 1 | A probability is at most 1.": {"accepted": lambda p, q: p / q},
        "this is how often a word is drafted and kept | A drafted word j is kept with p_j / q_j.": {
            "accepted": torch.minimum
        },
        "large and small are exchanged | Keep less where q is larger than p.": {
            "accepted": lambda p, q: (q / p).clamp(max=1)
        },
        "this is not yet divided by its sum | Probabilities sum to 1.": {"share": torch.clone},
        "this is 0 / 0 | Where nothing is missing, return the zeros.": {
            "share": lambda rest: rest / rest.sum()
        },
        "this is p itself | The drafts have given a part of p already.": {"gap": lambda p, q: p},
        "the difference has the wrong sign | What is missing to p?": {"gap": lambda p, q: q - p},
    },
    parts=["accept", "rest"],
)
def drawn_words(
    p,
    q,
    *,
    accepted=lambda p, q: (p / q).clamp(max=1),
    gap=torch.sub,
    share=lambda rest: rest / rest.sum() if rest.any() else rest,
) -> tuple[Tensor, Tensor]:
    return accepted(p, q), share(gap(p, q).clamp(min=0))
