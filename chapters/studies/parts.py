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
