"""Studies that are measured part by part: each part is stored when it is done, and a stored part is not measured again.

``real_sentences`` and ``explanation`` are such studies.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from utils.translator.checkpoints import write_atomically


def run_parts(
    measures: Mapping[str, Callable[[], dict]],
    out: Path,
    *,
    belongs_to: Mapping[str, object],
    chosen: Sequence[str] | None = None,
) -> None:
    """Measure the parts that are chosen, or those that are not stored yet, and store each.

    Args:
        measures: what measures each part, in the order in which they are stored.
        out: the file of the results.
        belongs_to: the files, versions and settings that the results belong to; they are stored as well.

    Raises:
        ValueError: the stored results belong to something else.
    """
    first = json.loads(json.dumps(belongs_to))
    stored = json.loads(out.read_text("utf-8")) if out.exists() else first | {"parts": {}}
    if {name: value for name, value in stored.items() if name != "parts"} != first:
        raise ValueError(f"{out} holds results of other files, versions or settings: name another file")
    for name in chosen or [name for name in measures if name not in stored["parts"]]:
        start = time.process_time()
        result = measures[name]()
        stored["parts"][name] = result | {"minutes": round((time.process_time() - start) / 60, 1)}
        stored["parts"] = {part: stored["parts"][part] for part in measures if part in stored["parts"]}
        write_atomically(out, (json.dumps(stored, ensure_ascii=False, indent=1) + "\n").encode())
