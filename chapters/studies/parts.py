"""Studies that are measured part by part: each part is stored when it is done, and a stored part is not measured again.

``real_sentences`` and ``explanation`` are such studies.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from utils.corpus.whole_files import write_whole


def run_parts(
    measures: Mapping[str, Callable[[], dict]],
    out: Path,
    *,
    belongs_to: Mapping[str, object],
    only: Sequence[str] | None = None,
) -> None:
    """Measure the parts of a study and store each result as soon as it is there.

    Args:
        measures: the function that measures each part, in the order in which the results are stored.
        out: the file of the results.
        belongs_to: the files, versions and settings that the results belong to; they are stored as well.
        only: the names of the parts to measure; None for those that are not stored yet.

    Raises:
        ValueError: the stored results belong to something else.
    """
    head = json.loads(json.dumps(belongs_to))
    results = json.loads(out.read_text("utf-8")) if out.exists() else head | {"parts": {}}
    if {name: value for name, value in results.items() if name != "parts"} != head:
        raise ValueError(f"{out} holds results of other files, versions or settings: name another file")
    for name in only or [name for name in measures if name not in results["parts"]]:
        start = time.process_time()
        result = measures[name]()
        results["parts"][name] = result | {"minutes": round((time.process_time() - start) / 60, 1)}
        results["parts"] = {part: results["parts"][part] for part in measures if part in results["parts"]}
        write_whole(out, (json.dumps(results, ensure_ascii=False, indent=1) + "\n").encode())


def climb(score_of: Callable[[float], float], start: float) -> dict[float, float]:
    """The scores of learning rates, each twice the one before, so many that the best is not at an edge.

    Args:
        score_of: the score of a learning rate; a higher one is better.
        start: the search begins with this rate and its double.

    >>> climb(lambda lr: -abs(lr - 5), start=1)
    {1: -4, 2: -3, 4: -1, 8: -3}
    """
    scores = {lr: score_of(lr) for lr in (start, 2 * start)}
    while (best := max(scores, key=lambda lr: scores[lr])) in (min(scores), max(scores)):
        lr = best / 2 if best == min(scores) else 2 * best
        scores[lr] = score_of(lr)
    return dict(sorted(scores.items()))
