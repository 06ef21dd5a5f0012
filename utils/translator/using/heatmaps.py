"""Draw the attention weights of one translation to a file.

``utils.figures`` draws it; it is imported only when it is needed.
Explained in book/your_translator.
"""

from pathlib import Path

from utils.corpus.whole_files import open_whole
from utils.errors import CourseError
from utils.translator.using.translating import Translation


def save_heatmap(translation: Translation, path: Path) -> None:
    """Draw the attention weights of a translation: one row per target token and one column per source token.

    Args:
        translation: with attention weights.
        path: the file, in a format of matplotlib that its suffix names, such as .png, .svg or .pdf; an existing file
            is replaced.

    Raises:
        ValueError: a translation without weights, or a format that matplotlib does not know.
        OSError: the file cannot be written.
    """
    from matplotlib.backend_bases import FigureCanvasBase

    from utils.figures.plotting import SIZE, heatmap, panels, use_style  # imports matplotlib

    if translation.weights is None:
        raise CourseError("the translation has no attention weights to draw")
    suffix = path.suffix[1:].lower()
    formats = FigureCanvasBase.get_supported_filetypes()
    if suffix not in formats:
        raise CourseError(
            f"the name of a heat map must end in one of .{', .'.join(sorted(formats))}, got {path}"
        )
    use_style()
    num_tgt, num_src = translation.weights.shape
    # The figure grows with the sentence: a quarter of an inch per label.
    figure, [ax] = panels(1, width=max(SIZE[0], 2 + num_src / 4), height=max(SIZE[1], 1.5 + num_tgt / 4))
    labels = {"queries": translation.tgt_tokens, "keys": translation.src_tokens}
    heatmap(translation.weights, **labels, ax=ax, xlabel="source token", ylabel="target token")
    with open_whole(path) as file:
        figure.savefig(file, format=suffix)
