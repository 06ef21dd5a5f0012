"""The translator of the command line: a full training loop, saved runs, several processes, and what uses a run.

The modules that the chapters explain are in ``utils`` itself.
"""
