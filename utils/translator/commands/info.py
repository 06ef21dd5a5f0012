"""``info``: print the record of a run and its evaluation.

Explained in book/your_translator.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from utils.translator.commands import shared


def info(folder: shared.RunFolder, as_json: shared.AsJson = False) -> None:
    """Print how a run was trained, on which file and with which options, and how well it does."""
    from utils.translator.runs import load_run
    from utils.translator.using.evaluation import stored_evaluation

    run = load_run(folder)
    facts = {
        "settings": asdict(run.settings),
        "weights": sum(parameter.numel() for parameter in run.model.parameters()),
        "test_sentences": len(run.test),
        "record": run.record,
        "evaluation": stored_evaluation(folder, run),
    }
    if as_json:
        shared.print_json(facts)
        return
    _print_facts(folder, facts)


def _print_facts(folder: Path, facts: dict[str, Any]) -> None:
    from utils.translator.options import GREEDY
    from utils.translator.training.data import Rows

    settings, record = facts["settings"], facts["record"]
    typer.echo(f"{folder}: {settings['src']} to {settings['tgt']}, {facts['weights']:,} weights")
    settings = {name: value for name, value in settings.items() if value is not None}
    typer.echo("settings  " + ", ".join(f"{name} {value}" for name, value in settings.items()))
    if record is None:
        typer.echo("record    none: it was not trained by this command line")
    else:
        data, result = record["data"], record["result"]
        typer.echo(f"data      {data['pairs']}, sha256 {data['sha256']}")
        typer.echo(f"rows      {Rows(**record['rows'])}")
        typer.echo(f"command   {' '.join(record['command'])}")
        schedule = {name: value for name, value in record["schedule"].items() if value is not None}
        typer.echo("schedule  " + ", ".join(f"{name} {value}" for name, value in schedule.items()))
        machine = record["machine"] | record["versions"]
        typer.echo("with      " + ", ".join(f"{name} {value}" for name, value in machine.items()))
        typer.echo(f"trained   {result['steps']} steps in {result['minutes']} minutes, {result['date']}")
        if record.get("resumed"):
            typer.echo(f"resumed   {', '.join(record['resumed'])}")
        curve = result["losses"]
        typer.echo("loss      " + ", ".join(f"{loss:.2f}" for _, loss in curve[:: len(curve) // 6 or 1]))
    typer.echo(f"test      {facts['test_sentences']} sentences")
    if evaluation := facts["evaluation"]:
        of, bleu, chrf = evaluation["of"], evaluation["bleu"]["value"], evaluation["chrf"]["value"]
        # An evaluation may be older than an option of the search.
        changed = [
            name
            for name, default in asdict(GREEDY).items()
            if name == "beam" or of.get(name, default) != default
        ]
        search = ", ".join(f"{name.replace('_', ' ')} {of[name]}" for name in changed)
        typer.echo(f"scores    BLEU {bleu:.2f}, chrF {chrf:.2f} with {search}")
    else:
        typer.echo("scores    none: evaluate has not measured it")
