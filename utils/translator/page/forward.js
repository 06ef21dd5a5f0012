// The translator of utils/seq2seq.py and the search of utils/search.py, for one sentence and without training. Names
// are those of the Python modules. A vector is a Float32Array, and a batch is an array of vectors: here one for each
// word of the source, or one for each hypothesis of a search.
// Nothing else of the page knows a matrix.
const forward = (() => {
  const [PAD, BOS, EOS] = [0, 1, 2];

  // -- vectors and matrices

  /** @template T @param {T[]} list */
  const last = (list) => list[list.length - 1];

  // Combines the vectors of two batches.
  /** @param {Batch} a @param {Batch} b @param {(x: Float32Array, y: Float32Array) => Float32Array} combine */
  const zipWith = (a, b, combine) => a.map((x, i) => combine(x, b[i]));
  /** @param {Float32Array} a @param {Float32Array} b */
  const add = (a, b) => a.map((x, i) => x + b[i]);
  /** @param {number} x */
  const sigmoid = (x) => 1 / (1 + Math.exp(-x));

  /** @param {...Float32Array} parts */
  const concatenate = (...parts) => {
    const joined = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
    let end = 0;
    for (const part of parts) {
      joined.set(part, end);
      end += part.length;
    }
    return joined;
  };

  // The dot product of a vector and the row of a matrix that begins at `start`. The four sums do not wait for each other.
  /** @param {Float32Array} numbers @param {number} start @param {Float32Array} vector */
  const dot = (numbers, start, vector) => {
    const whole = vector.length - (vector.length % 4);
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let j = 0; j < whole; j += 4) {
      a += numbers[start + j] * vector[j];
      b += numbers[start + j + 1] * vector[j + 1];
      c += numbers[start + j + 2] * vector[j + 2];
      d += numbers[start + j + 3] * vector[j + 3];
    }
    for (let j = whole; j < vector.length; j++) a += numbers[start + j] * vector[j];
    return a + b + c + d;
  };

  // W x + b for each vector x of a batch. Row by row, so that a row is read from memory once for the whole batch.
  /** @param {Layer} layer @param {Batch} batch */
  const linear = ({ weight, bias }, batch) => {
    const outputs = batch.map(() => new Float32Array(weight.rows));
    for (let row = 0; row < weight.rows; row++) {
      const start = row * weight.columns;
      const shift = bias ? bias[row] : 0;
      for (let k = 0; k < batch.length; k++) outputs[k][row] = dot(weight.numbers, start, batch[k]) + shift;
    }
    return outputs;
  };

  /** @param {Matrix} matrix @param {number} id */
  const embedding = ({ numbers, columns }, id) => numbers.subarray(id * columns, (id + 1) * columns);

  // -- the model

  // The names of torch's state_dict lead to the layers of the model.
  /** @param {Matrices} weights @param {string} name */
  const layerOf = (weights, name) => ({ weight: weights[`${name}.weight`], bias: weights[`${name}.bias`]?.numbers });
  /** @param {Matrices} weights @param {string} name @param {string} [end] */
  const recurrentLayer = (weights, name, end = "") => ({
    input: { weight: weights[`${name}weight_ih${end}`], bias: weights[`${name}bias_ih${end}`].numbers },
    recurrence: { weight: weights[`${name}weight_hh${end}`], bias: weights[`${name}bias_hh${end}`].numbers },
  });

  // The gates of a GRU stand side by side in the order r, z, candidate; this is one of the three parts.
  /** @param {Float32Array} gates @param {number} k */
  const part = (gates, k) => gates.subarray((k * gates.length) / 3, ((k + 1) * gates.length) / 3);

  // z ⊙ s + (1 − z) ⊙ candidate
  /** @param {Float32Array} z @param {Float32Array} s @param {Float32Array} candidate */
  const mix = (z, s, candidate) => s.map((x, i) => z[i] * x + (1 - z[i]) * candidate[i]);

  // PyTorch's GRU cell, where the reset gate acts after the product with the state. `read` is W x + b of its input.
  /** @param {RecurrentLayer} cell @param {Batch} read @param {Batch} states */
  const gruCell = ({ recurrence }, read, states) => {
    const products = linear(recurrence, states);
    return states.map((s, k) => {
      const [r, z] = [0, 1].map((gate) => add(part(read[k], gate), part(products[k], gate)).map(sigmoid));
      const product = part(products[k], 2);
      const candidate = part(read[k], 2).map((x, i) => Math.tanh(x + r[i] * product[i]));
      return mix(z, s, candidate);
    });
  };

  // The cell of Bahdanau et al., where the reset gate acts before the product: see GatedUnit.
  /** @param {ContextCell} cell @param {Batch} y @param {Batch} contexts @param {Batch} states */
  const gatedUnit = (cell, y, contexts, states) => {
    const read = zipWith(linear(cell.fromInput, y), linear(cell.fromContext, contexts), add);
    const gates = linear(cell.fromState, states).map((products, k) => add(products, read[k]).map(sigmoid));
    const size = states[0].length;
    const resetStates = gates.map((rz, k) => states[k].map((x, i) => x * rz[i]));
    return linear(cell.fromResetState, resetStates).map((product, k) => {
      const candidate = add(product, part(read[k], 2)).map(Math.tanh);
      return mix(gates[k].subarray(size), states[k], candidate);
    });
  };

  // Reads a sentence: the outputs of the last layer at each word, and the last state of each layer and direction.
  /** @param {Translator} model @param {number[]} src */
  const encoder = (model, src) => {
    let inputs = src.map((id) => embedding(model.srcEmbedding, id));
    const state = model.encoderLayers.map((directions) => {
      const read = directions.map((cell, k) => {
        const inOrder = linear(cell.input, k ? inputs.toReversed() : inputs);
        let states = [new Float32Array(cell.recurrence.weight.columns)];
        const outputs = inOrder.map((x) => (states = gruCell(cell, [x], states))[0]);
        return k ? outputs.toReversed() : outputs;
      });
      inputs = src.map((_, j) => concatenate(...read.map((outputs) => outputs[j])));
      return read.map((outputs, k) => (k ? outputs[0] : last(outputs)));
    });
    return { outputs: inputs, state };
  };

  // exp(s_j) / Σ exp(s_l); one sentence needs no mask, since it has no padding.
  /** @param {Float32Array} scores */
  const softmax = (scores) => {
    const largest = scores.reduce((most, score) => Math.max(most, score), -Infinity);
    const exponentials = scores.map((score) => Math.exp(score - largest));
    const sum = exponentials.reduce((a, b) => a + b, 0);
    return exponentials.map((x) => x / sum);
  };

  // w_v · tanh(W_q s + W_k h_j) for each word j; the keys W_k h_j are computed once per sentence.
  /** @param {Float32Array} projectedQuery @param {Batch} projectedKeys @param {Float32Array} wV */
  const additiveScores = (projectedQuery, projectedKeys, wV) => {
    const features = projectedKeys.map((key) => projectedQuery.map((q, i) => Math.tanh(q + key[i])));
    return Float32Array.from(features, (row) => dot(wV, 0, row));
  };

  /** @param {Float32Array} weights @param {Batch} values */
  const weightedSum = (weights, values) => {
    const context = new Float32Array(values[0].length);
    values.forEach((value, j) => {
      for (let i = 0; i < context.length; i++) context[i] += weights[j] * value[i];
    });
    return context;
  };

  /** @param {Attention} attention @param {Batch} queries @param {Memory} memory */
  const additiveAttention = ({ wQ, wV }, queries, { values, projectedKeys }) => {
    const weights = linear(wQ, queries).map((query) => softmax(additiveScores(query, projectedKeys, wV)));
    return { weights, contexts: weights.map((row) => weightedSum(row, values)) };
  };

  // What the decoder looks at, and its first state: s_0 = tanh(W_s h), where h is that of the last direction.
  /** @param {Translator} model @param {number[]} src */
  const start = (model, src) => {
    const { outputs, state } = encoder(model, src);
    const memory = { values: outputs, projectedKeys: linear(model.attention.wK, outputs) };
    const ends = state.map(last);
    return { memory, state: linear(model.startState, ends).map((s) => s.map(Math.tanh)) };
  };

  // One step for several hypotheses: of each the logits of its next word, its new state and its attention weights.
  /** @param {Translator} model @param {number[]} words @param {Memory} memory @param {Batch[]} states */
  const decoder = (model, words, memory, states) => {
    const y = words.map((id) => embedding(model.tgtEmbedding, id));
    const queries = states.map(last); // the last layer's s_{i-1}
    const { weights, contexts } = additiveAttention(model.attention, queries, memory);
    const layers = [model.firstCell(y, contexts, layerStates(states, 0))];
    model.upperCells.forEach((cell, k) => {
      layers.push(gruCell(cell, linear(cell.input, layers[k]), layerStates(states, k + 1)));
    });
    const features = last(layers).map((s, k) => concatenate(s, y[k], contexts[k]));
    const logits = linear(model.output, linear(model.readout, features).map(maxout));
    return { logits, weights, states: words.map((_, k) => layers.map((layer) => layer[k])) };
  };

  /** @param {Batch[]} states @param {number} layer */
  const layerStates = (states, layer) => states.map((layers) => layers[layer]);
  /** @param {Float32Array} t */
  const maxout = (t) => Float32Array.from({ length: t.length / 2 }, (_, i) => Math.max(t[2 * i], t[2 * i + 1]));

  // The first cell of the decoder: PyTorch's on [y; c], or that of the paper.
  /** @type {(weights: Matrices) => Translator["firstCell"]} */
  const firstCellOf = (weights) => {
    const name = "decoder.cells.0.";
    if (weights[`${name}weight_ih`]) {
      const cell = recurrentLayer(weights, name);
      return (y, contexts, states) => gruCell(cell, linear(cell.input, zipWith(y, contexts, concatenate)), states);
    }
    const cell = {
      fromInput: layerOf(weights, `${name}from_input`),
      fromContext: layerOf(weights, `${name}from_context`),
      fromState: layerOf(weights, `${name}from_state`),
      fromResetState: layerOf(weights, `${name}from_reset_state`),
    };
    return (y, contexts, states) => gatedUnit(cell, y, contexts, states);
  };

  // Sorts the matrices of a trained EncoderDecoder, by the names of its state_dict, into layers.
  /** @param {Matrices} weights */
  const makeModel = (weights) => {
    /** @param {(count: number) => unknown} exists */
    const rising = (exists) => {
      let count = 0;
      while (exists(count)) count++;
      return [...Array(count).keys()];
    };
    const layers = rising((k) => weights[`encoder.gru.weight_ih_l${k}`]);
    const directions = ["", "_reverse"].filter((end) => weights[`encoder.gru.weight_ih_l0${end}`]);
    const upper = rising((k) => weights[`decoder.cells.${k + 1}.weight_ih`]);
    return {
      srcEmbedding: weights["encoder.embedding.weight"],
      encoderLayers: layers.map((k) =>
        directions.map((end) => recurrentLayer(weights, "encoder.gru.", `_l${k}${end}`)),
      ),
      tgtEmbedding: weights["decoder.embedding.weight"],
      attention: {
        wQ: layerOf(weights, "decoder.attention.w_q"),
        wK: layerOf(weights, "decoder.attention.w_k"),
        wV: weights["decoder.attention.w_v.weight"].numbers,
      },
      startState: layerOf(weights, "decoder.start_state"),
      firstCell: firstCellOf(weights),
      upperCells: upper.map((k) => recurrentLayer(weights, `decoder.cells.${k + 1}.`)),
      readout: layerOf(weights, "decoder.readout"),
      output: layerOf(weights, "decoder.output"),
    };
  };

  // -- the search

  // The log-probability of each next word; padding and the beginning of sentence are never written.
  /** @param {Float32Array} logits */
  const logProbs = (logits) => {
    const largest = logits.reduce((most, x) => Math.max(most, x), -Infinity);
    const norm = largest + Math.log(logits.reduce((sum, x) => sum + Math.exp(x - largest), 0));
    const logP = logits.map((x) => x - norm);
    logP[PAD] = logP[BOS] = -Infinity;
    return logP;
  };

  // The `count` likeliest words, the likeliest first.
  /** @param {Float32Array} logP @param {number} count */
  const topWords = (logP, count) => {
    /** @type {Candidate[]} */
    const top = [];
    logP.forEach((value, id) => {
      if (top.length === count && !(value > last(top).logP)) return;
      const at = top.findIndex((word) => value > word.logP);
      top.splice(at < 0 ? top.length : at, 0, { id, logP: value });
      top.length = Math.min(top.length, count);
    });
    return top.filter((word) => word.logP > -Infinity);
  };

  const NUM_CHOICES = 5;

  // A hypothesis knows its last word and the hypothesis that it continues. `length` counts the end of sentence.
  /** @type {(state: Batch) => Hypothesis} */
  const firstHypothesis = (state) => ({
    id: BOS,
    logProb: 0,
    length: 0,
    state,
    weights: new Float32Array(0),
    choices: [],
    ended: false,
    finished: false,
  });
  /** @type {(before: Hypothesis, word: Candidate, step: Step) => Hypothesis} */
  const continued = (before, { id, logP }, { state, weights, choices }) => ({
    before,
    id,
    logProb: before.logProb + logP,
    length: before.length + 1,
    state,
    weights,
    choices, // the likeliest words of this step, of which `id` need not be one
    ended: id === EOS,
    finished: id === EOS,
  });

  // What a hypothesis is ranked by: the log-probability of one of its words, the mean.
  /** @param {Hypothesis} hypothesis */
  const score = ({ logProb, length }) => logProb / Math.max(1, length);

  // Runs the decoder one step further, for several hypotheses at once.
  /** @param {Translator} model @param {Memory} memory @param {Hypothesis[]} hypotheses */
  const predict = (model, memory, hypotheses) => {
    const [words, states] = [hypotheses.map(({ id }) => id), hypotheses.map(({ state }) => state)];
    const read = decoder(model, words, memory, states);
    return hypotheses.map((hypothesis, k) => ({
      hypothesis,
      logP: logProbs(read.logits[k]),
      state: read.states[k],
      weights: read.weights[k],
    }));
  };

  // The continuations of a hypothesis by its likeliest words. At the length limit only the end of sentence is written,
  // where it is the likeliest word, and otherwise the hypothesis stays as it is.
  /** @param {Prediction} prediction @param {number} beam @param {boolean} atLimit */
  const continuations = ({ hypothesis, logP, ...step }, beam, atLimit) => {
    const top = topWords(logP, Math.max(beam, NUM_CHOICES));
    const words = atLimit ? top.slice(0, 1).filter(({ id }) => id === EOS) : top.slice(0, beam);
    if (!words.length) return [{ ...hypothesis, ended: true }];
    const choices = top.slice(0, NUM_CHOICES);
    return words.map((word) => continued(hypothesis, word, { ...step, choices }));
  };

  // Beam search as a generator that stops after each step, so that a page can do something else meanwhile. `prefix` are
  // the first words of the translation, where the reader has chosen them. Returns the hypotheses, the best first.
  /**
   * @param {Translator} model
   * @param {number[]} src
   * @param {{ beam: number, maxLen: number, prefix?: number[] }} options
   */
  const searching = function* (model, src, { beam, maxLen, prefix = [] }) {
    const { memory, state } = start(model, src);
    let hypotheses = [firstHypothesis(state)];
    for (const id of prefix) {
      const [{ hypothesis, logP, ...step }] = predict(model, memory, hypotheses);
      hypotheses = [continued(hypothesis, { id, logP: logP[id] }, { ...step, choices: topWords(logP, NUM_CHOICES) })];
      yield hypotheses;
    }
    for (let step = prefix.length; step <= maxLen; step++) {
      const unfinished = hypotheses.filter(({ ended }) => !ended);
      if (!unfinished.length) break;
      const ended = hypotheses.filter((hypothesis) => hypothesis.ended);
      const next = predict(model, memory, unfinished).flatMap((read) => continuations(read, beam, step === maxLen));
      hypotheses = [...ended, ...next].sort((a, b) => score(b) - score(a)).slice(0, beam);
      yield hypotheses;
    }
    return hypotheses.sort((a, b) => +b.finished - +a.finished || score(b) - score(a)).map(written);
  };

  // A hypothesis as the page shows it: its words, and what the decoder saw and weighed at each step.
  /** @param {Hypothesis} hypothesis */
  const written = (hypothesis) => {
    /** @type {Hypothesis[]} */
    const steps = [];
    for (let at = hypothesis; at.before; at = at.before) steps.unshift(at);
    return {
      ids: steps.map(({ id }) => id), // with the end of sentence, if it is finished
      weights: steps.map(({ weights }) => weights),
      choices: steps.map(({ choices }) => choices),
      logProb: hypothesis.logProb,
      finished: hypothesis.finished,
    };
  };

  // As translate_sentences in utils.translator.using: at least twice as many words as the source has, and ten more.
  /** @param {number} numWords */
  const maxLenOf = (numWords) => 2 * 2 ** (32 - Math.clz32(numWords - 1)) + 10;

  // -- stored weights

  // Stored numbers as Float32Array: int8 is multiplied by the scale of its row.
  const STORED = {
    /** @param {ArrayBuffer} bytes */
    float32: (bytes) => new Float32Array(bytes),
    /** @param {ArrayBuffer} bytes @param {number} rows */
    int8: (bytes, rows) => {
      const numbers = new Float32Array(new Int8Array(bytes, 4 * rows));
      const columns = numbers.length / rows;
      new Float32Array(bytes, 0, rows).forEach((scale, row) => {
        for (let i = row * columns; i < (row + 1) * columns; i++) numbers[i] *= scale;
      });
      return numbers;
    },
  };

  // The matrices of stored_model.py by their names: `layout` says how the bytes of each one are stored.
  /** @param {StoredMatrix[]} layout @param {ArrayBuffer} buffer */
  const unpackWeights = (layout, buffer) =>
    Object.fromEntries(
      layout.map(({ name, rows, columns, dtype, start, end }) => [
        name,
        { rows, columns, numbers: STORED[dtype](buffer.slice(start, end), rows) },
      ]),
    );

  return { EOS, makeModel, searching, maxLenOf, unpackWeights };
})();
