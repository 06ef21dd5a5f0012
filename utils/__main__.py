"""``python -m utils``: the same as the console command ``attention-course``."""

from utils.translator.commands import main

if __name__ == "__main__":
    main()
