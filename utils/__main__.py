"""``python -m utils``: the command line of ``translator``."""

from utils.translator.commands import app

if __name__ == "__main__":
    app(prog_name="python -m utils")
