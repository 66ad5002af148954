/** Where one member of the outermost object stands in JSON text. */
export interface Member {
  /** The key with its escapes resolved. */
  readonly key: string;
  /** Offset of the key's opening quote. */
  readonly start: number;
  readonly valueStart: number;
  /** Offset after the value's last byte. */
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** The same bytes with Buffer's native searches; nothing is copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The members of texts whose structure somebody has read before. */
const READ_BEFORE = new WeakMap<Uint8Array, readonly Member[]>();

/** Spares the next who asks for the members of these very bytes the search; they may not change until then. */
export function keepMembers(json: Uint8Array, members: readonly Member[]): void {
  READ_BEFORE.set(json, members);
}

/**
 * The members of the outermost object of JSON text, in order, repeated keys included. Null when the text is
 * no object. Reads structure only: what is inside a value is not checked.
 */
export function topLevelMembers(json: Uint8Array): readonly Member[] | null {
  return READ_BEFORE.get(json) ?? searchMembers(asBuffer(json));
}

function searchMembers(bytes: Buffer): readonly Member[] | null {
  const members: Member[] = [];
  let at = afterSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return null;
  at = afterSpace(bytes, at + 1);
  if (bytes[at] === CLOSE_BRACE) return members;
  for (;;) {
    const start = at;
    const keyEnd = bytes[at] === QUOTE ? afterString(bytes, at) : -1;
    if (keyEnd === -1) return null;
    at = afterSpace(bytes, keyEnd);
    if (bytes[at] !== COLON) return null;
    const valueStart = afterSpace(bytes, at + 1);
    const end = afterValue(bytes, valueStart);
    if (end === -1) return null;
    members.push({ key: keyText(bytes, start, keyEnd), start, valueStart, end });
    at = afterSpace(bytes, end);
    if (bytes[at] === CLOSE_BRACE) return members;
    if (bytes[at] !== COMMA) return null;
    at = afterSpace(bytes, at + 1);
  }
}

/** How many items the array has that a member of the outermost object is; null when it is none. */
export function itemCount(json: Uint8Array, key: string): number | null {
  const bytes = asBuffer(json);
  const member = topLevelMembers(bytes)?.findLast((one) => one.key === key);
  if (member === undefined || bytes[member.valueStart] !== OPEN_BRACKET) return null;
  let at = afterSpace(bytes, member.valueStart + 1);
  if (bytes[at] === CLOSE_BRACKET) return 0;
  for (let count = 1; ; count += 1) {
    const end = afterValue(bytes, at);
    if (end === -1) return null;
    at = afterSpace(bytes, end);
    if (bytes[at] === CLOSE_BRACKET) return count;
    if (bytes[at] !== COMMA) return null;
    at = afterSpace(bytes, at + 1);
  }
}

/**
 * A JSON object with some members set (to JSON text) or left out (null); every other value keeps its bytes.
 * A key that came several times is left once, with its last value, as JSON.parse reads it: an upstream that
 * reads the first one instead would answer another question than the one we admitted. Text that is no
 * object, and an object that needs no change, come back as they are.
 */
export function withMembers(json: Uint8Array, changes: Readonly<Record<string, string | null>>): Uint8Array {
  const bytes = asBuffer(json);
  const members = topLevelMembers(json);
  if (members === null) return json;
  const last = new Map(members.map((member) => [member.key, member]));
  if (last.size === members.length && isAlready(bytes, last, changes)) return json;
  const pieces: Uint8Array[] = [];
  for (const member of members) {
    if (last.get(member.key) !== member) continue;
    const text = Object.hasOwn(changes, member.key) ? changes[member.key] : undefined;
    if (text === null) continue;
    pieces.push(pieces.length === 0 ? OPENING : SEPARATOR);
    if (text === undefined) pieces.push(bytes.subarray(member.start, member.end));
    else pieces.push(bytes.subarray(member.start, member.valueStart), Buffer.from(text));
  }
  for (const [key, text] of Object.entries(changes)) {
    if (text === null || last.has(key)) continue;
    pieces.push(pieces.length === 0 ? OPENING : SEPARATOR, Buffer.from(`${JSON.stringify(key)}:${text}`));
  }
  pieces.push(pieces.length === 0 ? EMPTY_OBJECT : CLOSING);
  return Buffer.concat(pieces);
}

/** Whether an object without repeated keys says already what the changes would have it say. */
function isAlready(
  bytes: Buffer,
  members: ReadonlyMap<string, Member>,
  changes: Readonly<Record<string, string | null>>,
): boolean {
  for (const key in changes) {
    const member = members.get(key);
    const said = member ? bytes.toString('utf8', member.valueStart, member.end) : null;
    if (said !== changes[key]) return false;
  }
  return true;
}

const OPENING = Buffer.from('{');
const SEPARATOR = Buffer.from(',');
const CLOSING = Buffer.from('}');
const EMPTY_OBJECT = Buffer.from('{}');

function afterSpace(bytes: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at += 1;
  }
}

/** Bytes looked at one by one before the native search is asked: a call of it costs as much as many bytes. */
const NEAR = 64;

/** Offset after the string that opens at `from`; -1 when it never closes. */
function afterString(bytes: Buffer, from: number): number {
  for (let at = from + 1; ;) {
    const near = at + NEAR;
    while (at < near) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === undefined) return -1;
      at += byte === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return -1;
    // The search saw no backslashes; those right before the quote, back to where it began, say whether it closes.
    let before = quote - 1;
    while (before >= at && bytes[before] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
    at = quote + 1;
  }
}

/** Offset after the value that begins at `from`; -1 when it never ends. */
function afterValue(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return afterString(bytes, from);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return afterScalar(bytes, from);
  let depth = 0;
  for (let at = from; at < bytes.length;) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = afterString(bytes, at);
      if (at === -1) return -1;
      continue;
    }
    at += 1;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function afterScalar(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || (byte ?? 0) <= 0x20)
      return at === from ? -1 : at;
  }
  return -1;
}

/** The text of a quoted key. */
export function keyText(bytes: Buffer, start: number, end: number): string {
  const quoted = bytes.toString('utf8', start, end);
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
