/**
 * Start of a message with a role and one text, up to and including the quote before the text, e.g.
 * `{"role":"user","content":"`. The text may also be in the only part of the message.
 */
const MESSAGE =
  /\{"role": ?"(user|system|assistant|tool)", ?"(?:(content": ?")|(?:content|parts)": ?\[\{"type": ?"text", ?"(?:text|content)": ?")/y;
/** Groups of the expression: the role, and the opening of a text that is not in a part. */
const [ROLE, TEXT] = [1, 2];
/** The end of a message, after its text. */
const END = '"}';
const END_IN_PART = '"}]}';
const ESCAPE = '\\';

/**
 * The first `length` UTF-16 units of the latest user message; a text with escapes may be longer. Reads the JSON of a
 * conversation without parsing it: ingest needs no more. Null without a user message, for messages of another form, and
 * when the beginning of the text is blank. The caller then parses the JSON.
 */
export function latestUserTextIn(conversation: string, length: number): string | null {
  if (!conversation.startsWith('[{"role":')) return null;
  let position = 1;
  let [from, to] = [-1, -1];
  for (;;) {
    MESSAGE.lastIndex = position;
    const message = MESSAGE.exec(conversation);
    if (message === null) return null;
    const start = MESSAGE.lastIndex;
    const stop = endOfText(conversation, start);
    if (stop === -1) return null;
    // The last text may be blank: the caller then looks at earlier ones.
    if (message[ROLE] === 'user') [from, to] = [start, stop];
    const end = message[TEXT] === undefined ? END_IN_PART : END;
    if (!conversation.startsWith(end, stop)) return null;
    position = stop + end.length;
    if (conversation[position] === ']') break;
    if (conversation[position] !== ',') return null;
    position += conversation[position + 1] === ' ' ? 2 : 1;
  }
  if (from === -1 || conversation.length !== position + 1) return null;
  const text = beginningOf(conversation, from, to, length);
  return text === null || text.trim() === '' ? null : text;
}

/** Index of the quote that ends a text; -1 without one. */
function endOfText(json: string, start: number): number {
  let at = json.indexOf('"', start);
  while (at !== -1 && isEscaped(json, at)) at = json.indexOf('"', at + 1);
  return at;
}

function isEscaped(json: string, at: number): boolean {
  let before = at;
  while (json[before - 1] === ESCAPE) before -= 1;
  return (at - before) % 2 === 1;
}

/** The first `length` units of a JSON string, or all of a string with escapes; null when the string is invalid. */
function beginningOf(json: string, from: number, to: number, length: number): string | null {
  const plain = json.slice(from, Math.min(to, from + length));
  if (!plain.includes(ESCAPE)) return plain;
  try {
    return JSON.parse(`"${json.slice(from, to)}"`) as string;
  } catch {
    return null;
  }
}
