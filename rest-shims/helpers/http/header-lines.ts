/** Characters of a header's value: visible ASCII, space and tab, and bytes above ASCII. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const ENCODED = /^[\t\x20-\x7e]*$/;

/** Text for a header. Characters that are not allowed there are percent-encoded. */
export const headerText = (text: string): string =>
  ENCODED.test(text) ? text : text.replace(/[^\t\x20-\x7e]+/gu, (odd) => encodeURIComponent(odd.toWellFormed()));

/** One header as a line. Throws TypeError for characters that could begin another line. */
export function headerLine(name: string, value: string): string {
  if (!NAME.test(name) || !VALUE.test(value)) throw new TypeError(`Invalid characters in the header ${name}.`);
  return `\r\n${name}: ${value}`;
}

/** Name of a header that many answers have: its part of the line is made once. */
export class HeaderName {
  readonly start: string;

  constructor(name: string) {
    this.start = headerLine(name, '');
  }
}

const CONTENT_LENGTH = new HeaderName('content-length');

/**
 * Headers of an answer as text, each line with its line end before it. The cheapest form: the fast path sends it as it is, and
 * lines that many answers share are made once. Every value is checked or encoded when it is added.
 */
export class HeaderLines {
  #text: string;
  #hasLength = false;

  /** `lines` are others to begin with. */
  constructor(lines = '') {
    this.#text = lines;
  }

  get text(): string {
    return this.#text;
  }

  /** Whether the length of the body is among them. */
  get hasLength(): boolean {
    return this.#hasLength;
  }

  /** Adds a value that is text for a header, such as a number or an id. */
  add({ start }: HeaderName, value: string): this {
    this.#text += start + value;
    return this;
  }

  /** Adds any text, percent-encoded where a header requires it. */
  addText(name: HeaderName, text: string): this {
    return this.add(name, headerText(text));
  }

  /** Adds the length of the body, in bytes. */
  addLength(bytes: number | string): this {
    this.#hasLength = true;
    return this.add(CONTENT_LENGTH, String(bytes));
  }

  /** Adds a header as it is. Throws TypeError for invalid characters. */
  addChecked(name: string, value: string): this {
    this.#text += headerLine(name, value);
    this.#hasLength ||= name.toLowerCase() === 'content-length';
    return this;
  }

  /** Adds a header of an upstream, whose name its client has checked. The value must be text for a header. */
  addOfUpstream(name: string, value: string): this {
    this.#text += `\r\nllm_provider-${name}: ${value}`;
    return this;
  }

  copy(): HeaderLines {
    const copied = new HeaderLines(this.#text);
    copied.#hasLength = this.#hasLength;
    return copied;
  }

  /** The value of a header; null when it is not there. */
  valueOf(name: string): string | null {
    const start = headerLine(name, '');
    const at = this.#text.indexOf(start);
    if (at === -1) return null;
    const from = at + start.length;
    const end = this.#text.indexOf('\r\n', from);
    return this.#text.slice(from, end === -1 ? undefined : end);
  }

  /** Names and values in turn, as Node's response takes them. */
  pairs(): string[] {
    const lines = this.#text.split('\r\n').slice(1);
    return lines.flatMap((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });
  }
}
