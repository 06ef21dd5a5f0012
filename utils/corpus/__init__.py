"""Corpora: the grammar corpus, pair files, vocabularies and batches."""
