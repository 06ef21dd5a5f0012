"""Search for a translation: which words to write, given what the model thinks of each next word.

Works on token ids; turning ids into text belongs to ``corpus``, judging the text to ``evaluation``.
Explained in chapters/bahdanau_decoder.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from utils.corpus.vocabulary import BOS, EOS
from utils.seq2seq import EncoderDecoder


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One translation.

    Attributes:
        tokens: the ids written, without beginning and end of sentence.
        log_prob: sum of the log-probabilities (natural) of its tokens and, if finished, of the end.
        weights: attention weights, a row a token and one more for the end if finished; or None.
        finished: False where the length limit came before the end of sentence.
    """

    tokens: list[int]
    log_prob: float
    weights: Float[Tensor, "rows n"] | None
    finished: bool


@torch.no_grad()
def greedy(
    model: EncoderDecoder, src: Int[Tensor, "batch n"], src_lens: Int[Tensor, " batch"], *, max_len: int
) -> list[Hypothesis]:
    """Write the likeliest word at each step, for a batch of sentences at once.

    Finished sentences leave the batch, so a step costs what the sentences left cost. The model works in
    the mode it is in: call ``model.eval()`` first, or dropout takes part.

    Args:
        src: padded source ids.
        src_lens: number of source tokens of each sentence.
        max_len: most tokens to write, the end of sentence not counted.

    Returns:
        One hypothesis a sentence, in the order of the batch.

    Raises:
        ValueError: a limit below 1.

    Explained in chapters/bahdanau_decoder.
    """
    if max_len < 1:
        raise ValueError(f"max_len must be at least 1, got {max_len}")
    batch = len(src)
    memory, hidden = model.start(src, src_lens)
    rows = torch.arange(batch, device=src.device)  # which sentence each row of the shrinking batch is
    words = torch.full((batch, 1), BOS, device=src.device)
    written: list[list[int]] = [[] for _ in range(batch)]
    log_probs, finished = [0.0] * batch, [False] * batch
    weights: list[list[Tensor]] = [[] for _ in range(batch)]
    for step in range(max_len + 1):
        logits, hidden, step_weights = model.decoder(words, memory, hidden)
        best = logits[:, 0].log_softmax(dim=-1).max(dim=-1)
        for at, (row, word, log_prob) in enumerate(
            zip(rows.tolist(), best.indices.tolist(), best.values.tolist(), strict=True)
        ):
            if word != EOS and step == max_len:
                continue  # the limit: this word is not written
            log_probs[row] += log_prob
            finished[row] = word == EOS
            if not finished[row]:
                written[row].append(word)
            if step_weights is not None:
                weights[row].append(step_weights[at, 0, : int(src_lens[row])])
        alive = (best.indices != EOS).nonzero().squeeze(1)
        if len(alive) == 0:
            break
        rows, words, hidden = rows[alive], best.indices[alive, None], hidden[:, alive]
        memory = memory.rows(alive)
    return [
        Hypothesis(written[i], log_probs[i], torch.stack(weights[i]) if weights[i] else None, finished[i])
        for i in range(batch)
    ]
