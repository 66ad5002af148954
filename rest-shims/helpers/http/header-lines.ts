/** Characters of a header value: visible ASCII, space and tab, and bytes above ASCII. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Characters that `headerText` does not encode. */
const UNENCODED = /^[\t\x20-\x7e]*$/;

/** A header value. Characters other than visible ASCII, space and tab are percent-encoded as UTF-8. */
export const headerText = (text: string): string =>
  UNENCODED.test(text)
    ? text
    : text.replace(/[^\t\x20-\x7e]+/gu, (invalid) => encodeURIComponent(invalid.toWellFormed()));

/**
 * Limits of a header that lists names of body members: number of names, and length of a name in characters. Clients
 * reject large headers (Node above 16 KiB).
 */
const MAX_NAMES = 50;
const MAX_NAME_LENGTH = 100;

/** Value of a header that lists names of body members. Long names, and names beyond the 50th, are left out. */
export const namesText = (names: readonly string[]): string =>
  names
    .map(headerText)
    .filter((name) => name.length <= MAX_NAME_LENGTH)
    .slice(0, MAX_NAMES)
    .join(', ');

/** One header as a line. Throws TypeError for invalid characters, such as those that begin another line. */
export function headerLine(name: string, value: string): string {
  if (!NAME.test(name) || !VALUE.test(value)) throw new TypeError(`Invalid characters in the header ${name}.`);
  return `\r\n${name}: ${value}`;
}

/** Name of a header that many answers have. The beginning of its line is built once. */
export class HeaderName {
  readonly start: string;

  constructor(name: string) {
    this.start = headerLine(name, '');
  }
}

const CONTENT_LENGTH = new HeaderName('content-length');

/**
 * Headers of an answer as text, with a line end before each line. The fast path sends this text without another
 * conversion. `addText` encodes its value and `addChecked` checks it; the others require a valid value.
 */
export class HeaderLines {
  #text: string;
  #hasLength = false;

  /** `lines` is the initial text. */
  constructor(lines = '') {
    this.#text = lines;
  }

  get text(): string {
    return this.#text;
  }

  /** Whether `content-length` is set. */
  get hasLength(): boolean {
    return this.#hasLength;
  }

  /** Adds a value that has only valid characters, such as a number or an id. It is not checked. */
  add({ start }: HeaderName, value: string): this {
    this.#text += start + value;
    return this;
  }

  /** Adds any text, encoded by `headerText`. */
  addText(name: HeaderName, text: string): this {
    return this.add(name, headerText(text));
  }

  /** Adds the length of the body, in bytes. */
  addLength(bytes: number | string): this {
    this.#hasLength = true;
    return this.add(CONTENT_LENGTH, String(bytes));
  }

  /** Adds a header unchanged. Throws TypeError for invalid characters. */
  addChecked(name: string, value: string): this {
    this.#text += headerLine(name, value);
    this.#hasLength ||= name.toLowerCase() === 'content-length';
    return this;
  }

  /**
   * Adds a header of an upstream with the prefix `llm_provider-`. Name and value must have valid characters: they are
   * not checked.
   */
  addUpstreamHeader(name: string, value: string): this {
    this.#text += `\r\nllm_provider-${name}: ${value}`;
    return this;
  }

  copy(): HeaderLines {
    const copied = new HeaderLines(this.#text);
    copied.#hasLength = this.#hasLength;
    return copied;
  }

  /** The value of a header; null when it is absent. `name` must have the letter case in which it was added. */
  valueOf(name: string): string | null {
    const start = headerLine(name, '');
    const at = this.#text.indexOf(start);
    if (at === -1) return null;
    const from = at + start.length;
    const end = this.#text.indexOf('\r\n', from);
    return this.#text.slice(from, end === -1 ? undefined : end);
  }

  /** Alternating names and values, the array form of `writeHead`. */
  pairs(): string[] {
    const lines = this.#text.split('\r\n').slice(1);
    return lines.flatMap((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
  }
}
