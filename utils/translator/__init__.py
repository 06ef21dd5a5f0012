"""The translator of the command line: a fast form, a full training loop, saved runs, several processes.

The modules that the chapters explain are in ``utils`` itself; of this folder the chapters use only the fast form.
"""
