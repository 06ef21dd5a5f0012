"""A translator is trained: the data of a file, the loop with clocks and saved states, several processes."""
