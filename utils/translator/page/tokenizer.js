// From text to token ids and back: what utils/corpus/pairs.py (clean, tokenise) and utils/corpus/vocabulary.py do.
// It gives the ids that `tokenizers` gives. Nothing here knows the model.
const tokenizer = (() => {
  const UNK = 3;
  const BLANK = "▁"; // the sign that stands for a blank within subwords

  // -- clean text

  // What Python counts as blanks; JavaScript's \s has other ones.
  // eslint-disable-next-line no-control-regex -- among them are control characters
  const BLANKS = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;
  // What telephones and keyboards write for an apostrophe.
  const APOSTROPHES = "‘’ʼ＇";
  const KEYCAP = String.raw`[0-9#*]\ufe0f?\u20e3`;
  const EMOJI_PART =
    String.raw`(?:${KEYCAP}|\p{RI}{1,2}|\u{1f3f4}[\u{e0020}-\u{e007e}]+\u{e007f}` +
    String.raw`|(?![0-9#*\p{RI}])\p{Emoji}\ufe0f?(?:\p{EMod}\ufe0f?)?)`;
  const EMOJI = String.raw`${EMOJI_PART}(?:\u200d${EMOJI_PART})*`;
  // What nobody sees, but for what changes the form of letters and emoji.
  const INVISIBLE =
    /(?![\p{Script=Mongolian}\p{Join_Control}\ufe0f\u{e0020}-\u{e007f}])[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;
  const HAN = String.raw`\p{Script=Han}`;
  const CHINESE = String.raw`[${HAN}\u3000-\u303f\uff00-\uffef]`;
  const CHINESE_BLANK = new RegExp(` (?=${CHINESE})|(?<=${CHINESE}) `, "gu");

  /** @param {string} text */
  const singleBlanks = (text) => text.split(BLANKS).filter(Boolean).join(" ");

  // Gives texts that look the same the same characters. `isChinese` is for languages without blanks beside Chinese
  // characters; `simplified` leads from traditional characters to simplified ones.
  // (OpenCC, which reads the training text, also knows words in which a character becomes another one.)
  /** @param {string} text @param {Language} language */
  const clean = (text, { isChinese, simplified }) => {
    const wellFormed = text.replace(/\p{Surrogate}/gu, "\ufffd").replace(new RegExp(`[${APOSTROPHES}]`, "g"), "'");
    const composed = singleBlanks(singleBlanks(wellFormed).replace(INVISIBLE, "").normalize("NFC"));
    const joined = isChinese ? composed.replace(CHINESE_BLANK, "") : composed;
    return simplified ? [...joined].map((char) => simplified[char] ?? char).join("") : joined;
  };

  // -- words

  const LETTERS = String.raw`\p{Alphabetic}\p{M}\p{N}\p{Pc}\p{Join_Control}`;
  const LETTER = String.raw`(?!${KEYCAP})[${LETTERS}]`;
  const OTHER = String.raw`${EMOJI}|(?!${BLANKS.source})[^${LETTERS}]`;
  // A letter of a script without blanks; its digits form numbers.
  const COMPLEX = ["Thai", "Lao", "Khmer", "Myanmar", "Tai_Le", "New_Tai_Lue", "Tai_Tham", "Tai_Viet", "Ahom"];
  const ALONE = String.raw`${HAN}\u3040-\u30ff\p{Script=Tibetan}${COMPLEX.map((name) => `\\p{Script=${name}}`).join("")}`;
  const CHARACTER = String.raw`(?=[${ALONE}])(?!\p{N})[${LETTERS}]`;
  const WORDS = {
    blanks: new RegExp(`(?:${LETTER})+(?:'(?:${LETTER})+)*|${OTHER}`, "gu"),
    clitics: new RegExp(`(?:${LETTER})+'?|${OTHER}`, "gu"), // l' homme
    possessives: new RegExp(`'s(?!${LETTER})|(?:${LETTER})+|${OTHER}`, "gu"), // Mary 's cat, in utils/corpus/grammar
    characters: new RegExp(
      String.raw`${CHARACTER}[\p{M}\p{Join_Control}\p{EMod}]*|(?:(?!${CHARACTER})${LETTER})+|${OTHER}`,
      "gu",
    ),
  };

  // Words and punctuation marks; the characters of a language without blanks.
  /** @param {string} text @param {Language} language */
  const tokenise = (text, { words }) => text.match(WORDS[words]) ?? [];

  // -- subwords

  const WORD = String.raw`\p{Alphabetic}\p{M}\p{Nd}\p{Pc}`;
  // A subword crosses neither a blank nor a punctuation mark.
  const PIECES = new RegExp(`${BLANK}?[^${WORD}'${BLANK}]|${BLANK}?[${WORD}']+|${BLANK}`, "gu");
  // What a reader takes for one character: an emoji, whatever it is made of, or a character with its marks.
  const SIGNS = new RegExp(String.raw`${EMOJI}|[^ ][\p{M}\p{Join_Control}]*`, "gu");
  // The bytes of a character in UTF-8, as two hexadecimal digits each.
  /** @param {string} char */
  const bytesOf = (char) =>
    char < "\x80"
      ? [char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")]
      : (encodeURIComponent(char).match(/\w\w/g) ?? []);

  /** @param {string} text */
  const cut = (text) => {
    const signed = text.replaceAll(" ", BLANK);
    return (text && !signed.startsWith(BLANK) ? BLANK + signed : signed).match(PIECES) ?? [];
  };

  // Byte-pair encoding: of all pairs of neighbours, the one that was learned first is joined, and so on. `joined` gives,
  // for a pair of ids, its place in the order of learning and the id of both together.
  /** @param {number[]} ids @param {(a: number, b: number) => Merge | undefined} joined */
  const mergePairs = (ids, joined) => {
    const merged = [...ids];
    for (;;) {
      /** @type {Merge | undefined} */
      let first;
      let at = -1;
      for (let i = 0; i + 1 < merged.length; i++) {
        const pair = joined(merged[i], merged[i + 1]);
        if (pair && (!first || pair.place < first.place)) [first, at] = [pair, i];
      }
      if (!first) return merged;
      merged.splice(at, 2, first.id);
    }
  };

  /** @param {string[]} tokens @param {[number, number, number][]} merges */
  const subwords = (tokens, merges) => {
    const idOf = new Map(tokens.map((token, id) => [token, id]));
    /** @param {number} a @param {number} b */
    const keyOf = (a, b) => a * tokens.length + b;
    const learned = new Map(merges.map(([a, b, id], place) => [keyOf(a, b), { place, id }]));
    /** @param {number} a @param {number} b */
    const joined = (a, b) => learned.get(keyOf(a, b));
    /** @param {string} char */
    const isUnknown = (char) => !idOf.has(char);
    /** @type {Map<string, number[]>} */
    const known = new Map(); // what a piece was cut into before
    /** @param {string} char */
    const charIds = (char) => {
      const id = idOf.get(char);
      return id === undefined ? bytesOf(char).map((byte) => idOf.get(`<0x${byte}>`) ?? UNK) : [id];
    };
    /** @param {string} piece */
    const encodePiece = (piece) => {
      const ids = known.get(piece) ?? mergePairs([...piece].flatMap(charIds), joined);
      known.set(piece, ids);
      return ids;
    };
    return {
      /** @param {string} text */
      encode: (text) => cut(text).flatMap(encodePiece),
      /** @param {string} text */
      unknown: (text) => [...new Set(text.match(SIGNS))].filter((sign) => [...sign].some(isUnknown)),
    };
  };

  // -- vocabularies

  /** @param {string} word */
  const withOtherFirst = (word) => {
    const [first] = word;
    const large = first.toUpperCase();
    return (first === large ? first.toLowerCase() : large) + word.slice(first.length);
  };

  // With `firstLetters`, a word that is not known is looked up with the other first letter: "The" as "the".
  /** @param {VocabularyFacts} vocabulary @param {Language} language */
  const wholeWords = ({ tokens }, language) => {
    const idOf = new Map(tokens.map((token, id) => [token, id]));
    /** @param {string} word */
    const idOrUnk = (word) => Math.max(idOf.get(word) ?? UNK, UNK);
    /** @param {string} word */
    const isKnown = (word) => idOrUnk(word) > UNK;
    /** @type {(word: string) => string[]} */
    const forms = language.firstLetters ? (word) => [word, withOtherFirst(word)] : (word) => [word];
    /** @param {string} text */
    const wordsOf = (text) => tokenise(text, language).map((word) => forms(word).find(isKnown) ?? word);
    return {
      /** @param {string} text */
      encode: (text) => wordsOf(text).map(idOrUnk),
      /** @param {string} text */
      unknown: (text) => [...new Set(wordsOf(text))].filter((word) => !isKnown(word)),
    };
  };

  // Whether a blank stands before a token, in a language that has blanks between words.
  /** @param {VocabularyFacts} vocabulary @param {string} token @param {string} before */
  const blankBefore = ({ merges }, token, before) =>
    merges ? token.startsWith(BLANK) : before !== "" && !before.endsWith("'") && !/^(?:[.,]|'s|<eos>)$/.test(token);

  // The source's vocabulary: `read` a text, and get clean text, ids, and the characters (or words) that it does not know.
  /** @param {VocabularyFacts} vocabulary @param {Language} language */
  const makeReader = (vocabulary, language) => {
    const { encode, unknown } = vocabulary.merges
      ? subwords(vocabulary.tokens, vocabulary.merges)
      : wholeWords(vocabulary, language);
    /** @param {string} text */
    return (text) => {
      const cleaned = clean(text, language);
      return { text: cleaned, ids: encode(cleaned), unknown: unknown(cleaned) };
    };
  };

  const BYTE_TOKEN = /^<0x([0-9A-F]{2})>$/;

  // Bytes in a row are one text if they are UTF-8, and otherwise a mark of loss for each of them.
  /** @param {string[]} bytes */
  const decodeBytes = (bytes) => {
    try {
      return decodeURIComponent(bytes.map((byte) => `%${byte}`).join(""));
    } catch {
      return "\ufffd".repeat(bytes.length);
    }
  };

  // The text of token ids.
  /** @param {VocabularyFacts} vocabulary @param {number[]} ids */
  const decode = ({ tokens, merges }, ids) => {
    const content = ids.filter((id) => id > 2).map((id) => tokens[id]);
    if (!merges) return content.join(" ");
    let text = "";
    /** @type {string[]} */
    let bytes = [];
    for (const token of [...content, ""]) {
      const byte = token.match(BYTE_TOKEN)?.[1];
      if (byte) bytes.push(byte);
      else {
        text += decodeBytes(bytes) + token.replaceAll(BLANK, " ");
        bytes = [];
      }
    }
    return singleBlanks(text);
  };

  return { blankBefore, makeReader, decode };
})();
