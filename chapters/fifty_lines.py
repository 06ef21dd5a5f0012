"""A translator with attention in fifty lines of code, with PyTorch alone; twenty more read a file of sentence pairs.

    python fifty_lines.py pairs.txt "What time is it?"

The file has one pair per line in UTF-8: a sentence, a tab, its translation; what follows a second tab is ignored.
The comments name the chapters that explain each part.
"""

import random
import re
import sys
from itertools import pairwise
from pathlib import Path

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

PAD, START, END = 0, 1, 2


def words(sentence):  # Chinese characters and punctuation marks are words of their own
    return re.findall(r"[\u3400-\u9fff]|\w+|[^\w\s]", sentence.lower())


def vocabulary(sentences):
    return {word: number for number, word in enumerate(sorted(set().union(*sentences)), start=3)}


class Translator(nn.Module):  # chapters encoder_decoder and bahdanau_decoder
    def __init__(self, num_src, num_tgt, d=128):
        super().__init__()
        self.src, self.tgt = nn.Embedding(num_src, d), nn.Embedding(num_tgt, d)
        self.encoder, self.decoder = nn.GRU(d, d, batch_first=True), nn.GRUCell(2 * d, d)
        self.readout = nn.Linear(2 * d, num_tgt)

    def read(self, src):  # a vector for each word; padding comes last, and is read last
        return self.encoder(self.src(src))[0], src != PAD

    def step(self, word, state, values, real):  # chapters masked_softmax and dot_product_attention
        scores = (values @ state[:, :, None])[:, :, 0].masked_fill(~real, -torch.inf)
        context = (scores.softmax(dim=1)[:, None] @ values)[:, 0]
        state = self.decoder(torch.cat([self.tgt(word), context], dim=1), state)
        return self.readout(torch.cat([state, context], dim=1)), state


def train(pairs, steps=1000):
    src, tgt = (vocabulary(sentences) for sentences in zip(*pairs, strict=True))
    model = Translator(len(src) + 3, len(tgt) + 3)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.002)
    for _ in range(steps):
        batch = random.choices(pairs, k=64)
        x = pad_sequence([torch.tensor([src[w] for w in s]) for s, _ in batch], batch_first=True)
        y = pad_sequence([torch.tensor([START, *(tgt[w] for w in t), END]) for _, t in batch])
        read, state, loss = model.read(x), torch.zeros(64, 128), 0
        for word, following in pairwise(y):  # after the right word, how probable is the next?
            scores, state = model.step(word, state, *read)
            loss += nn.functional.cross_entropy(scores, following, ignore_index=PAD, reduction="sum") / 64
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model, src, list(tgt)


def translate(model, src, tgt, sentence):  # greedy search
    numbers = [src[word] for word in words(sentence)]
    read, state, written = model.read(torch.tensor([numbers])), torch.zeros(1, 128), [START]
    while written[-1] != END and len(written) < 50:
        scores, state = model.step(torch.tensor(written[-1:]), state, *read)
        written.append(END + scores[0, END:].argmax().item())  # never padding, never the start
    return " ".join(tgt[number - 3] for number in written if number > END)


def read_pairs(path):
    text, pairs = Path(path).read_bytes().decode("utf-8-sig"), []
    for number, line in enumerate(text.split("\n"), start=1):
        pair = [words(side) for side in line.split("\t")[:2]]
        if len(pair) == 2 and all(pair):
            pairs.append(pair)
        elif line.strip():
            sys.exit(f"{path}, line {number}: wanted a sentence, a tab and its translation, got {line!r}")
    return pairs


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pairs, sentence = read_pairs(sys.argv[1]), sys.argv[2]
    known = {word for source, _ in pairs for word in source}
    if unknown := [word for word in words(sentence) if word not in known]:
        sys.exit(
            f"{sys.argv[1]} has no sentence with {', '.join(unknown)}: only words of the file are translated"
        )
    if not words(sentence):
        sys.exit(f"the sentence has no word: {sentence!r}")
    print(translate(*train(pairs), sentence))
