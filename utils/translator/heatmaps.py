"""The attention of one translation as a file: a picture, or a page to explore.

Pictures are drawn by ``plotting`` and pages by ``explorables``; they are imported where a file is asked for.
Explained in book/api/command_line.
"""

from pathlib import Path

from utils.translator.translating import Translation

#: Kinds of files, by the ends of their names.
SUFFIXES = (".png", ".svg", ".html")


def check_heatmap_path(path: Path) -> None:
    """See that a heat map can be written there, before any work is done.

    Raises:
        ValueError: a name that does not end in one of ``SUFFIXES``.
        FileNotFoundError: a folder that is not there.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(
            f"a heat map is a file named {', '.join('*' + s for s in SUFFIXES)}, got {path.name!r}"
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"no folder {path.parent} to write the heat map to")


def save_heatmap(translation: Translation, path: Path) -> None:
    """Draw the attention weights of a translation to a PNG, SVG or HTML file, as the name says.

    A picture has a row a token written and a column a token read. A page shows the same as lines between two columns
    of tokens, one of which is chosen; it needs neither a network nor anything beside it.

    Args:
        translation: one that is not empty.
        path: the file; what is there is replaced.

    Raises:
        ValueError: a translation without weights, or as :func:`check_heatmap_path`.
    """
    check_heatmap_path(path)
    if translation.weights is None:
        raise ValueError("the translation has no attention weights to draw")
    if path.suffix.lower() == ".html":
        path.write_text(_page(translation), encoding="utf-8")
    else:
        _draw(translation, path)


def _draw(translation: Translation, path: Path) -> None:
    from utils.plotting import SIZE, heatmap, panels, use_style  # matplotlib, which nothing else here needs

    use_style()
    num_tgt, num_src = translation.weights.shape
    # A longer sentence gets a larger figure: a quarter of an inch a label.
    figure, [ax] = panels(1, width=max(SIZE[0], 2 + num_src / 4), height=max(SIZE[1], 1.5 + num_tgt / 4))
    heatmap(
        translation.weights,
        queries=translation.tgt_tokens,
        keys=translation.src_tokens,
        ax=ax,
        xlabel="source token",
        ylabel="target token",
    )
    # No date, so that the same translation gives the same file.
    figure.savefig(path, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)


def _page(translation: Translation) -> str:
    from utils.explorables import Alignment
    from utils.explorables.live import page_of_its_own

    weights = translation.weights.double().round(decimals=4)
    top, best = weights.max(dim=1)
    figure = Alignment(
        lambda: {"weights": weights, "top": top, "best": best},
        {},
        source=translation.src_tokens,
        target=translation.tgt_tokens,
        name="attention",
        alt="Two columns of tokens, the source and its translation, with lines from the chosen token of the "
        "translation to the source tokens that it attends to.",
        say="While it writes «{word}», the decoder looks most at «{best[word]|source}» ({top[word]:0%}).",
    )
    return page_of_its_own(figure, title=translation.text)
