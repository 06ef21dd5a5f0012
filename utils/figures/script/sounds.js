// The sound of a figure: buttons that play a piece of it, and all of it. `view` is the figure in a page, from figure.js.
const sounds = (() => {
  const { debounce, element, setText, textButton } = elements;

  const SILENT = "No sound: the browser does not play any. The picture and its numbers are complete without it.";
  const HEADER = 44; // bytes before the samples
  const RATE_AT = 24; // where the header says how many samples there are to a second
  const FADE = 0.008; // seconds: a sound that is cut off hard clicks

  /** @type {AudioContext | null} */
  let context = null; // one for all figures: a browser gives only a few
  let silence = () => {}; // stops what is played, in whichever figure

  // The samples of a WAV file, one by one: what is cut out of them begins and ends exactly where it should.
  /** @param {AudioContext} context @param {string} url */
  const bufferOf = (context, url) => {
    const bytes = Uint8Array.from(atob(url.slice(url.indexOf(",") + 1)), (c) => c.charCodeAt(0));
    const samples = Float32Array.from(new Int16Array(bytes.buffer, HEADER), (sample) => sample / 32768);
    const rate = new DataView(bytes.buffer).getUint32(RATE_AT, true);
    const buffer = context.createBuffer(1, samples.length, rate);
    buffer.copyToChannel(samples, 0);
    return buffer;
  };

  // Starts to play a piece, in seconds.
  /** @param {AudioContext} context @param {AudioBuffer} buffer @param {number} from @param {number} to */
  const startPiece = (context, buffer, from, to) => {
    const source = new AudioBufferSourceNode(context, { buffer });
    const volume = new GainNode(context, { gain: 0 });
    const [now, long] = [context.currentTime, to - from];
    volume.gain.setValueAtTime(0, now);
    volume.gain.linearRampToValueAtTime(1, now + FADE);
    volume.gain.setValueAtTime(1, now + long - FADE);
    volume.gain.linearRampToValueAtTime(0, now + long);
    source.connect(volume).connect(context.destination);
    source.start(0, from, long);
    return source;
  };

  /** @param {View} view */
  const makeSound = (view) => {
    const { figure } = view;
    /** @type {AudioBuffer | null} */
    let buffer = null;
    /** @type {AudioBufferSourceNode | null} */
    let source = null;
    let isWhole = false;
    const note = element("span", { class: "xp-note", "aria-live": "polite" }, "");
    const piece = textButton("hear this piece", () => playPiece());
    const all = textButton("hear all", () => (source && isWhole ? stop() : playAll()));
    piece.className = "xp-hear";
    all.className = "xp-hear xp-hear-all";
    const show = () => {
      setText(all, source && isWhole ? "stop" : "hear all");
      all.classList.toggle("xp-plays", source !== null && isWhole);
      view.picture.paintSoon();
    };
    const stop = () => {
      source?.stop();
      source = null;
      figure.sounding = null;
      show();
    };
    // A browser that must not play, or has nothing to play on, does not complain: it just does not begin.
    const check = debounce(500, () => {
      const plays = context?.state === "running";
      setText(note, plays ? "" : SILENT);
      if (!plays) stop();
    });
    /** @param {number[] | null} part */
    const play = (part) => {
      silence();
      check();
      if (typeof AudioContext === "undefined") return;
      context ??= new AudioContext();
      buffer ??= bufferOf(context, figure.sound ?? "");
      context.resume();
      const [from, to] = part ?? [0, buffer.duration];
      const begun = context.currentTime;
      isWhole = !part;
      const started = startPiece(context, buffer, from, to);
      started.onended = () => started === source && stop();
      source = started;
      silence = stop;
      const follow = () => {
        if (started !== source || !context) return;
        figure.sounding = Math.min(to, from + context.currentTime - begun);
        view.picture.paintSoon();
        requestAnimationFrame(follow);
      };
      follow();
      show();
    };
    const heard = () => kinds[figure.kind].heard?.(figure) ?? null;
    const playPiece = () => play(heard());
    const playAll = () => play(null);
    return { buttons: [piece, all], note, playPiece, stop };
  };

  return { makeSound };
})();
