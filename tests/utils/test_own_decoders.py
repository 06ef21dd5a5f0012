"""Decoders that `utils` has never seen train, translate, align and are measured, as a reader would write them."""

import pytest
import torch
from tiny import check_hypotheses, held_out_loss
from torch import nn

from utils.attention import DotProductAttention, length_mask
from utils.corpus.batches import ShuffledBatches, make_batch
from utils.corpus.grammar import join_words, triples
from utils.corpus.vocabulary import Vocabulary
from utils.fast_training import attention_weights
from utils.metrics import alignment_error_rate, bleu, links_from_weights
from utils.search import greedy
from utils.seq2seq import Encoder, EncoderDecoder, RecurrentDecoder
from utils.training import fit

pytestmark = pytest.mark.trains


class DotDecoder(nn.Module):
    """Written from nothing: dot-product attention asked with s_i, an LSTM, its memory a plain tuple."""

    def __init__(self, vocab_size, width, d_enc):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, width)
        self.cell = nn.LSTMCell(width, d_enc)
        self.first = nn.Linear(d_enc // 2, d_enc)
        self.attention = DotProductAttention()
        self.output = nn.Linear(2 * d_enc, vocab_size)

    def start(self, enc_outputs, enc_state, src_lens):
        s = torch.tanh(self.first(enc_state[:, :, -1]))
        return (enc_outputs, length_mask(src_lens, enc_outputs.shape[1])), (s, torch.zeros_like(s))

    def forward(self, tgt_in, memory, state):
        enc_outputs, mask = memory
        (s,), (c,) = state
        logits, weights = [], []
        for y in self.embedding(tgt_in).unbind(1):
            s, c = self.cell(y, (s, c))
            context, step_weights = self.attention(s[:, None], enc_outputs, enc_outputs, mask)
            logits.append(self.output(torch.cat([s[:, None], context], dim=-1)))
            weights.append(step_weights)
        return torch.cat(logits, dim=1), (s[None], c[None]), torch.cat(weights, dim=1)


class MeanDecoder(RecurrentDecoder):
    """The recurrence of the course with the plainest attention: every word gets the same weight."""

    def __init__(self, vocab_size, width, d_enc):
        super().__init__(vocab_size, width, width, d_enc)

    def start(self, enc_outputs, enc_state, src_lens):
        mask = length_mask(src_lens, enc_outputs.shape[1]).squeeze(1)
        mask = mask.to(enc_outputs.dtype)
        return (enc_outputs, mask / mask.sum(dim=1, keepdim=True)), self.first_state(enc_state)

    def attend(self, query, memory):
        enc_outputs, weights = memory
        return (weights[:, None] @ enc_outputs).squeeze(1), weights


EVERY = pytest.mark.parametrize("decoder_type", [DotDecoder, MeanDecoder])


def translator(decoder_type, num_src: int = 11, num_tgt: int = 13, width: int = 7) -> EncoderDecoder:
    torch.manual_seed(0)
    encoder = Encoder(num_src, width, width)
    return EncoderDecoder(encoder, decoder_type(num_tgt, width, encoder.d_out)).eval()


@EVERY
def test_its_held_out_loss_falls(decoder_type):
    src = [[4, 5, 6], [7, 8], [9], [5, 9, 4, 7], [6, 6]]
    model = translator(decoder_type)
    before = held_out_loss(model, src, src)
    history = fit(model, ShuffledBatches(src, src, batch_size=3), epochs=30, lr=1e-2, label_smoothing=0.0)
    assert history.losses[-1] < history.losses[0]
    assert held_out_loss(model, src, src) < before / 2


@pytest.mark.parametrize(("decoder_type", "push"), [(DotDecoder, 0), (MeanDecoder, 12)])
def test_hypotheses_agree_with_reading_their_words(decoder_type, push):
    check_hypotheses(translator(decoder_type).double(), push=push)


@pytest.mark.parametrize("decoder_type", [DotDecoder, MeanDecoder])
@torch.no_grad()
def test_batches_have_the_weights_of_the_model(decoder_type):
    model, batch = translator(decoder_type), make_batch([[4, 5, 6], [7]], [[8], [9, 10]])
    weights = model(batch.src, batch.src_lens, batch.tgt_in)[1]
    torch.testing.assert_close(attention_weights(model, batch), weights)


def test_a_decoder_with_dot_products_translates_and_aligns():
    """It learns a few sentences by heart, writes them again, and looks at the words that it translates."""
    learned = triples(20, max_words=6)
    en = Vocabulary.words(t.en for t in learned)
    fr = Vocabulary.words(t.fr for t in learned)
    src_ids, tgt_ids = en.encode([t.en for t in learned]), fr.encode([t.fr for t in learned])
    model = translator(DotDecoder, len(en), len(fr), width=48)
    fit(model, ShuffledBatches(src_ids, tgt_ids, batch_size=5), epochs=40, lr=1e-2, label_smoothing=0.0)
    batch = make_batch(src_ids, tgt_ids)
    texts = [
        join_words(fr.tokens(hypothesis.tokens), "fr")
        for hypothesis in greedy(model, batch.src, batch.src_lens, max_len=20)
    ]
    assert bleu(texts, [[join_words(t.fr, "fr")] for t in learned], lang="fr").value > 90
    weights = attention_weights(model, batch)
    links = [
        links_from_weights(row[:, :length], num_tgt=len(ids))
        for row, length, ids in zip(weights, batch.src_lens.tolist(), tgt_ids, strict=True)
    ]
    assert 0 < alignment_error_rate(links, [t.en_fr for t in learned]) < 1
