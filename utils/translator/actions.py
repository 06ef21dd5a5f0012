"""The work of the commands: each takes its options, calls the functions of ``utils`` and prints the result.

The help texts are in ``commands``; this module imports torch.
Explained in book/api/command_line.
"""

import json
import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict
from io import BufferedIOBase
from pathlib import Path

import typer

from utils.corpus.download import CORPORA, CorpusFile, DownloadError, get_corpus
from utils.corpus.pairs import choose_languages, find_file
from utils.corpus.splits import Example
from utils.metrics import Score
from utils.translator.alignment import WordAlignment, score_alignments
from utils.translator.checkpoints import Checkpoints, write_part
from utils.translator.data import PairData, Rows
from utils.translator.devices import choose_device, matmul_precision, num_threads
from utils.translator.distributed import processes_of_torchrun
from utils.translator.folders import EVALUATION, RECORD, beside, complete
from utils.translator.gold_links import format_links, read_gold
from utils.translator.heatmaps import check_heatmap_path, save_heatmap
from utils.translator.interrupts import Interrupted
from utils.translator.lines import (
    Progress,
    Text,
    align_lines,
    open_text,
    read_pair_lines,
    translate_lines,
)
from utils.translator.loop import FullHistory, Schedule
from utils.translator.models import Settings
from utils.translator.options import (
    AlignOptions,
    CompareOptions,
    EvaluateOptions,
    GetOptions,
    InfoOptions,
    Model,
    TrainOptions,
    TranslateOptions,
)
from utils.translator.runs import Run, load_run, train_run
from utils.translator.scores import tokenizer_note
from utils.translator.translating import (
    SEARCH,
    Evaluation,
    Translation,
    compare_runs,
    evaluate_run,
    examples_in,
    stored_evaluation,
)

#: The exit status of ``data get`` if no address gives the file. A later attempt may succeed.
_UNAVAILABLE = 3


def _tell(message: str) -> None:
    """Print a message to the user, apart from the results."""
    typer.echo(message, err=True)


def _at_terminal() -> bool:
    """Whether a user at a terminal would see a progress bar."""
    return sys.stderr is not None and sys.stderr.isatty()


def _standard_input() -> BufferedIOBase:
    if sys.stdin is None:
        raise ValueError("standard input is closed: name a file")
    return sys.stdin.buffer


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False))


# data get


def get(options: GetOptions) -> None:
    """Get a corpus and print its facts."""
    try:
        corpus_file = get_corpus(
            options.name, path=options.path, replace=options.replace, progress=_at_terminal()
        )
    except DownloadError as error:
        _tell(f"error: {error}")
        raise typer.Exit(_UNAVAILABLE) from error
    if options.as_json:
        facts = {"path": str(corpus_file.path), "is_pinned": corpus_file.is_pinned} | asdict(
            corpus_file.provenance
        )
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=1))
    else:
        _print_corpus(corpus_file, CORPORA[options.name].edition)


def _print_corpus(corpus_file: CorpusFile, measured_edition: str) -> None:
    facts = corpus_file.provenance
    typer.echo(f"{corpus_file.path}: {facts.num_rows} pairs")
    typer.echo(
        f"edition {facts.edition or 'unknown'}, "
        + ("the one" if corpus_file.is_pinned else f"not the one of {measured_edition}")
        + " that this course measures on"
    )
    typer.echo(f"sha256 {facts.sha256}")
    typer.echo(f"source {facts.source}" + (f", recorded {facts.recorded}" if facts.recorded else ""))
    typer.echo(f"licence {facts.licence}")
    typer.echo(f"attribution {facts.attribution}")


# train


def train(options: TrainOptions) -> None:
    """Train a run and print how it went."""
    if [options.minutes, options.epochs, options.steps].count(None) < 2:
        raise typer.BadParameter("give one of --minutes, --epochs and --steps")
    columns = options.columns.split(",") if options.columns else None
    columns, src, tgt = choose_languages(columns, options.src, options.tgt)
    settings = _settings(options, src, tgt)
    data = PairData(
        options.pairs,
        columns,
        num_test=options.test_groups,
        num_valid=options.valid_groups,
    )
    schedule = _schedule(options)
    with (
        matmul_precision("medium"),
        processes_of_torchrun(choose_device(options.device)) as processes,
        _resumable(options.out, prints=processes.is_first),
        num_threads(options.threads),
    ):
        _, history, rows = train_run(
            data,
            settings,
            schedule,
            out=options.out,
            overwrite=options.overwrite,
            resume=options.resume,
            progress=_at_terminal(),
            notify=_tell,
            processes=processes,
        )
    if processes.is_first:
        _print_training(options, settings, history, rows)


def _settings(options: TrainOptions, src: str, tgt: str) -> Settings:
    """The settings of the model; options that were not given get the defaults of this model.

    Raises:
        typer.BadParameter: an option that this model does not have, or a width that the heads cannot share.
    """
    is_transformer = options.model is Model.TRANSFORMER
    try:
        return Settings(
            src,
            tgt,
            vocabulary_size=options.vocabulary_size,
            d_embed=options.width,
            d_hidden=4 * options.width if is_transformer else options.width,
            num_layers=options.layers or (3 if is_transformer else 1),
            dropout=options.dropout,
            seed=options.seed,
            model=options.model,
            num_heads=options.heads or (4 if is_transformer else None),
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


#: The scale of Adam's learning rate, and the share of the training over which it rises (book/api/command_line).
_RATES = {
    Model.RECURRENT: {"lr": 3e-3, "warmup": 0.05},
    Model.TRANSFORMER: {"lr": 2e-3, "warmup": 0.1},
}


def _schedule(options: TrainOptions) -> Schedule:
    minutes = 3.0 if options.epochs is None and options.steps is None else None
    return Schedule(
        minutes=minutes if options.minutes is None else options.minutes,
        epochs=options.epochs,
        steps=options.steps,
        batch_size=options.batch_size,
        muon=options.muon,
        **_RATES[options.model],
    )


@contextmanager
def _resumable(out: Path, *, prints: bool) -> Iterator[None]:
    """After a signal, print whether a state was saved, and end with the status of the signal."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if prints and Checkpoints(beside(out, "training")).exist:
            _tell("interrupted: the same command with --resume continues from here")
        elif prints:
            _tell("interrupted before the first step: nothing is kept")
        raise typer.Exit(getattr(interrupt, "status", Interrupted().status)) from None


def _print_training(options: TrainOptions, settings: Settings, history: FullHistory, rows: Rows) -> None:
    held_out_loss = min(history.valid_losses, default=None)
    if options.as_json:
        facts = {
            "run": str(options.out),
            "src": settings.src,
            "tgt": settings.tgt,
            "rows": asdict(rows),
            "steps": len(history.losses),
            "seconds": history.seconds[-1],
            "target_tokens": sum(history.tokens),
            "target_tokens_per_second": history.tokens_per_second,
            "held_out_loss": held_out_loss,
        }
        _print_json(facts)
        return
    typer.echo(f"{options.pairs}: {rows}")
    speed = f"{history.tokens_per_second:.0f} target tokens per second"
    typer.echo(f"{options.out}: {len(history.losses)} steps, {speed}")
    if held_out_loss is not None:
        typer.echo(f"held-out loss {held_out_loss:.3f} nats per token")


# translate


def translate(options: TranslateOptions) -> None:
    """Translate sentences, lines of a file or of standard input."""
    if options.sentences and options.input is not None:
        raise typer.BadParameter("give sentences or --input, not both")
    if not options.sentences:
        _require_text(options.input, "translate", "sentences, --input FILE")
    _check_files(options)
    run = load_run(options.run, device=choose_device(options.device))
    with (
        matmul_precision("medium"),
        _sentences(options) as text,
        options.output.open("w", encoding="utf-8", newline="\n") if options.output else nullcontext() as file,
        Progress(text.num_lines, "tokens", visible=_at_terminal()) as progress,
        num_threads(options.threads),
    ):
        speed = {"at_once": options.at_once, "progress": progress}
        with_weights = options.heatmap is not None
        results = translate_lines(run, text.lines, keep_weights=with_weights, **_search(options), **speed)
        first: list[Translation] = []  # up to two, since a heat map shows exactly one
        for number, (source, translations) in enumerate(results, start=1):
            for line in _translation_lines(number, source, translations, options):
                typer.echo(line, file=file)
            if len(first) < 2:
                first.append(translations[0])
    if options.heatmap is not None:
        if len(first) != 1 or first[0].weights is None:
            raise ValueError("a heat map shows one sentence, which must not be empty")
        save_heatmap(first[0], options.heatmap)


def _search(options: TranslateOptions | EvaluateOptions | CompareOptions) -> dict[str, float]:
    """The options of the search."""
    return {name: getattr(options, name) for name in SEARCH}


def _check_files(options: TranslateOptions) -> None:
    """Raise an error if a file cannot be written or an argument is not text, before any other work."""
    for number, sentence in enumerate(options.sentences or [], start=1):
        try:
            sentence.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"sentence {number} is not UTF-8") from error
    if options.heatmap is not None:
        check_heatmap_path(options.heatmap)
        if options.sentences and len(options.sentences) != 1:
            raise ValueError(f"a heat map shows one sentence, got {len(options.sentences)}")
    if (
        options.input
        and options.output
        and options.output.exists()
        and options.output.samefile(options.input)
    ):
        raise ValueError(f"{options.output} is the input: name another file for the translations")


def _sentences(options: TranslateOptions) -> AbstractContextManager[Text]:
    if options.sentences:
        return nullcontext(Text(iter(options.sentences), "arguments", len(options.sentences)))
    return open_text(options.input, _input_unless(options.input), count=_at_terminal())


def _input_unless(path: Path | None) -> BufferedIOBase | None:
    """Standard input, if no file is named."""
    return _standard_input() if path is None else None


def _translation_lines(
    number: int, source: str, translations: list[Translation], options: TranslateOptions
) -> Iterator[str]:
    """The lines to print for one sentence."""
    to_print = translations if options.n_best else translations[:1]
    if options.as_json:
        objects = [
            {
                "text": translation.text,
                "score": translation.score,
                "tokens": translation.tgt_tokens,
                "finished": translation.finished,
            }
            for translation in to_print
        ]
        facts = {"source": source, "source_tokens": translations[0].src_tokens, "translations": objects}
        yield json.dumps(facts, ensure_ascii=False)
        return
    for translation in to_print:
        yield (
            f"{number}\t{translation.score:.4f}\t{translation.text}" if options.n_best else translation.text
        )


# align


def align(options: AlignOptions) -> None:
    """Align pairs of sentences, and score the links if gold links are given."""
    _require_text(options.path, "align", "a pair file")
    run = load_run(options.run, device=choose_device(options.device))
    src, tgt = run.settings.src, run.settings.tgt
    columns, src, _ = choose_languages(
        options.columns.split(",") if options.columns else (src, tgt), src, tgt
    )
    swapped = columns[0] != src
    with matmul_precision("medium"), num_threads(options.threads):
        alignments = _alignments(run, options, swapped=swapped)
        if options.gold is None:
            for alignment in alignments:
                typer.echo(_alignment_line(alignment, swapped=swapped, as_json=options.as_json))
        else:
            _print_alignment_scores(list(alignments), options, swapped=swapped)


def _alignments(run: Run, options: AlignOptions, *, swapped: bool) -> Iterator[WordAlignment]:
    """Align the pairs of the file or of standard input; ``swapped`` if the target is the first column."""
    visible = _at_terminal()
    path = options.path
    if path is not None and not path.is_fifo():  # a pipe is read once, as standard input is
        path = find_file(path)
    with (
        open_text(path, _input_unless(path), count=visible) as text,
        Progress(text.num_lines, "words", visible=visible) as progress,
    ):
        pairs: Iterable[tuple[str, str]] = read_pair_lines(text.lines, text.name, text.file)
        if swapped:
            pairs = ((source, target) for target, source in pairs)
        speed = {"at_once": options.at_once, "progress": progress}
        yield from align_lines(run, pairs, tokenised=not options.tokenise, **speed)


def _alignment_line(alignment: WordAlignment, *, swapped: bool, as_json: bool) -> str:
    links = sorted((j, i) if swapped else (i, j) for i, j in alignment.links)
    if not as_json:
        return format_links(links)
    facts = {"source": alignment.src_words, "target": alignment.tgt_words, "links": links}
    return json.dumps(facts, ensure_ascii=False)


def _print_alignment_scores(alignments: list[WordAlignment], options: AlignOptions, *, swapped: bool) -> None:
    sizes = [(len(alignment.src_words), len(alignment.tgt_words)) for alignment in alignments]
    gold = read_gold(options.gold, [size[::-1] if swapped else size for size in sizes], first=options.first)
    scores = score_alignments(alignments, [links.swapped() if swapped else links for links in gold])
    if options.as_json:
        facts = {name: score._asdict() for name, score in scores.items()}
        _print_json({"num_sentences": len(alignments)} | facts)
        return
    typer.echo(f"{len(alignments)} sentences\n{'':9}    AER  precision  recall  links")
    for name, score in scores.items():
        typer.echo(
            f"{name:9}  {score.aer:5.1%}  {score.precision:9.1%}  {score.recall:6.1%}  {score.num_links:5}"
        )


# evaluate, compare, info


def evaluate(options: EvaluateOptions) -> None:
    """Score a run on its held-out sentences or on a file."""
    run = load_run(options.run, device=choose_device(options.device))
    test = _other_test(run, options.on, options.columns)
    folder = complete(options.run) if test is None and _is_writable(complete(options.run)) else None
    _tell_of_tokenizer(run)
    _tell(f"translating {len(run.test if test is None else test)} sentences")
    with matmul_precision("medium"), num_threads(options.threads):
        result = evaluate_run(run, test=test, **_search(options))
    if options.as_json:
        typer.echo(result.to_json())
    else:
        _print_evaluation(result, options.examples)
    if folder is not None:  # after the result is printed, so that it is not lost if the disk is full
        result.save(folder)


def _other_test(run: Run, path: Path | None, columns: str | None) -> list[Example] | None:
    if path is None and columns is not None:
        raise typer.BadParameter("--columns needs --on, a file of pairs")
    if path is None:
        return None
    return examples_in(run, path, columns.split(",") if columns else None, notify=_tell)


def _is_writable(folder: Path) -> bool:
    """Try to write into a folder, before the work whose result is to be written; say so if it fails."""
    try:
        write_part(folder / EVALUATION, b"").unlink()
    except OSError as error:
        _tell(f"warning: nothing can be written to {folder} ({error.strerror}): the scores are only printed")
        return False
    return True


def _tell_of_tokenizer(run: Run) -> None:
    if note := tokenizer_note(run.settings.tgt):
        _tell(f"warning: {note}")


def _print_evaluation(result: Evaluation, num_examples: int) -> None:
    typer.echo(f"{result.num_sentences} sentences")
    for name, score in (("BLEU", result.bleu), ("BLEU", result.cased_bleu), ("chrF", result.chrf)):
        typer.echo(f"{name} {_with_interval(score)}  {score.signature}")
    typer.echo("source length  sentences  BLEU")
    for bucket in result.by_length:
        length = f"{bucket.low} and more" if math.isinf(bucket.high) else f"{bucket.low} to {bucket.high}"
        typer.echo(f"{length:>13}  {bucket.num_sentences:9}  {_with_interval(bucket.score)}")
    typer.echo(f"empty {result.empty:.1%}, cut off {result.cut_off:.1%}")
    # Evenly spaced sentences, so that the same run always prints the same examples.
    num_examples = min(num_examples, result.num_sentences)
    for number in range(num_examples):
        source, text, references = result.examples[number * result.num_sentences // num_examples]
        typer.echo(f"\nsource      {source}\ntranslation {text}\nreference   {' | '.join(references)}")


def _with_interval(score: Score) -> str:
    low, high = score.interval or (score.value, score.value)
    return f"{score.value:.2f} [{low:.1f}, {high:.1f}]"


def compare(options: CompareOptions) -> None:
    """Compare two runs on the same sentences."""
    device = choose_device(options.device)
    first, second = (load_run(folder, device=device) for folder in (options.first, options.second))
    test = _other_test(first, options.on, options.columns)
    _tell_of_tokenizer(first)
    with matmul_precision("medium"), num_threads(options.threads):
        result = compare_runs(first, second, test=test, **_search(options))
    if options.as_json:
        scores = {name: getattr(result, name)._asdict() for name in ("bleu", "chrf")}
        _print_json({"num_sentences": result.num_sentences} | scores)
        return
    names = [str(options.first), str(options.second)]
    width = max(map(len, names))
    typer.echo(f"{result.num_sentences} sentences\n{'':{width}}   BLEU   chrF")
    for place, name in enumerate(names):
        typer.echo(f"{name:{width}}  {result.bleu[place]:5.2f}  {result.chrf[place]:5.2f}")
    typer.echo(f"{'p-value':{width}}  {result.bleu.p_value:5.3f}  {result.chrf.p_value:5.3f}")
    typer.echo(f"{result.bleu.signature}\n{result.chrf.signature}")


def info(options: InfoOptions) -> None:
    """Print the record of a run and its evaluation."""
    run = load_run(options.run)
    num_weights = sum(parameter.numel() for parameter in run.model.parameters())
    facts = {
        "settings": asdict(run.settings),
        "weights": num_weights,
        "test_sentences": len(run.test),
        "record": run.record,
        "evaluation": stored_evaluation(options.run, run),
    }
    if options.as_json:
        _print_json(facts)
        return
    try:
        _print_facts(options.run, facts)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{options.run / RECORD} is of another version of this course: {error}; --json prints all of it"
        ) from error


def _print_facts(folder: Path, facts: dict) -> None:
    settings, record = facts["settings"], facts["record"]
    typer.echo(f"{folder}: {settings['src']} to {settings['tgt']}, {facts['weights']:,} weights")
    settings = {name: value for name, value in settings.items() if value is not None}
    typer.echo("settings  " + ", ".join(f"{name} {value}" for name, value in settings.items()))
    if record is None:
        typer.echo("record    none: an earlier version of this course trained it")
    else:
        data, result = record["data"], record["result"]
        typer.echo(f"data      {data['pairs']}, sha256 {data['sha256']}")
        typer.echo(f"rows      {Rows(**record['rows'])}")
        typer.echo(f"command   {' '.join(record['command'])}")
        schedule = {name: value for name, value in record["schedule"].items() if value is not None}
        schedule["optimizer"] = record["optimizer"]
        typer.echo("schedule  " + ", ".join(f"{name} {value}" for name, value in schedule.items()))
        machine = record["machine"] | record["versions"]
        typer.echo("with      " + ", ".join(f"{name} {value}" for name, value in machine.items()))
        typer.echo(f"trained   {result['steps']} steps in {result['minutes']} minutes, {result['date']}")
        if record.get("resumed"):
            typer.echo(f"resumed   {', '.join(resumption['date'] for resumption in record['resumed'])}")
        curve = result["losses"]
        typer.echo("loss      " + ", ".join(f"{loss:.2f}" for _, loss in curve[:: len(curve) // 6 or 1]))
    typer.echo(f"test      {facts['test_sentences']} sentences")
    if evaluation := facts["evaluation"]:
        of, bleu, chrf = evaluation["of"], evaluation["bleu"]["value"], evaluation["chrf"]["value"]
        changed = [name for name in SEARCH if name == "beam" or of[name] != SEARCH[name]]
        search = ", ".join(f"{name.replace('_', ' ')} {of[name]}" for name in changed)
        typer.echo(f"scores    BLEU {bleu:.2f}, chrF {chrf:.2f} with {search}")
    else:
        typer.echo("scores    none: evaluate has not measured it")


def _require_text(path: Path | None, command: str, ways: str) -> None:
    """Exit with status 2 if there is no file and standard input is a terminal; an empty file or pipe is valid."""
    if path is None and _standard_input() and sys.stdin.isatty():
        raise typer.BadParameter(f"nothing to {command}: give {ways}, or text on standard input")
