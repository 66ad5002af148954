/** Text that replaces a secret. */
export const REDACTED = '<secret>';

/** Maximum number of backslashes before an escaped character: enough for JSON that is quoted twice inside of JSON. */
const MAX_BACKSLASHES = 8;
/** Maximum length of a secret of which every escaped form is found, in characters. Of longer ones, usual forms are. */
const MAX_ESCAPED_LENGTH = 256;
/** Characters with a short escape in JSON, and its letter. A slash and a quote escape themselves. */
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\f': 'f',
  '\r': 'r',
};

/** Finds secrets in a text, also in the escaped forms of JSON. */
export interface SecretMatcher {
  /** Global. Alternatives of longer secrets come first. */
  readonly pattern: RegExp;
  /** Length of the longest text that the pattern matches, in characters. */
  readonly maxLength: number;
}

/** A part of a pattern, and the length of the longest text that it matches. */
type Part = readonly [source: string, maxLength: number];

const literal = (text: string): string => text.replaceAll(/[^\w\s]/gu, String.raw`\$&`);

/** Backslashes of an escape, at least `min`. */
const backslashes = (min: number): string => String.raw`\\{${min},${MAX_BACKSLASHES}}`;

/** The escape `\uXXXX` of a code unit, with digits in either case. */
function unicodeEscape(unit: string): string {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return `u${hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;
}

/** The escape of a character, one or two code units, without its first backslashes. */
const escapeOf = (character: string): string =>
  [...Array(character.length).keys()].map((index) => unicodeEscape(character.charAt(index))).join(backslashes(1));

/** A character as it is, also as its UTF-8 bytes, of which each is a character. */
const literalForms = (character: string, asBytes: boolean): readonly string[] => [
  literal(character),
  ...(asBytes && character > '\u007F' ? [literal(Buffer.from(character, 'utf8').toString('latin1'))] : []),
];

const maxLengthOf = (character: string): number => character.length * (MAX_BACKSLASHES + 5);

/** Matches one character as it is, or escaped. `asBytes` adds the form as UTF-8 bytes. */
function characterPart(character: string, asBytes: boolean): Part {
  const short = SHORT_ESCAPES[character];
  const isSelfEscaped = character === '"' || character === '/';
  const forms = [
    ...literalForms(character, asBytes).map((form) => `${isSelfEscaped ? backslashes(0) : ''}${form}`),
    ...(short === undefined ? [] : [`${backslashes(1)}${short}`]),
    `${backslashes(1)}${escapeOf(character)}`,
  ];
  return [`(?:${forms.join('|')})`, maxLengthOf(character)];
}

/**
 * Matches a run of backslashes, and the character behind it. Each backslash may be escaped by others, or be `\u005c`. A
 * run in the text is matched as a whole: else a text could match in exponentially many ways, which blocks the process.
 */
function backslashesPart(count: number, next: string, asBytes: boolean): Part {
  const max = (count + 1) * MAX_BACKSLASHES;
  const runs = String.raw`(?:\\{1,${max}}(?!\\)(?:u005[cC])?){1,${count + 1}}`;
  const runsLength = (count + 1) * (max + 5);
  if (next === '') return [runs, runsLength];
  const short = SHORT_ESCAPES[next];
  const forms = [...literalForms(next, asBytes), ...(short === undefined ? [] : [short]), escapeOf(next)];
  return [`${runs}(?:${forms.join('|')})`, runsLength + maxLengthOf(next)];
}

/** The pattern of one secret. */
function secretPart(secret: string, asBytes: boolean): Part {
  if (secret.length > MAX_ESCAPED_LENGTH) {
    const quoted = JSON.stringify(secret).slice(1, -1);
    const forms = [...new Set([secret, quoted, quoted.replaceAll('/', String.raw`\/`)])];
    const encoded = asBytes ? forms.map((form) => Buffer.from(form, 'utf8').toString('latin1')) : forms;
    return [encoded.map(literal).join('|'), Math.max(...encoded.map(({ length }) => length))];
  }
  const parts = (secret.match(/\\+[^\\]?|[^\\]/gu) ?? []).map((part) => {
    const [run = ''] = /^\\*/.exec(part) ?? [];
    return run === '' ? characterPart(part, asBytes) : backslashesPart(run.length, part.slice(run.length), asBytes);
  });
  return [parts.map(([source]) => source).join(''), parts.reduce((sum, [, length]) => sum + length, 0)];
}

/**
 * Finds secrets, also as JSON escapes them: `\"`, `\/`, `\\`, `\u002f`, and the same inside of quoted JSON. Null
 * without secrets. With `asBytes`, the text has one character for each byte.
 */
export function secretMatcher(
  secrets: readonly string[],
  { asBytes = false }: { readonly asBytes?: boolean } = {},
): SecretMatcher | null {
  const parts = secrets
    .filter((secret) => secret !== '')
    .toSorted((left, right) => right.length - left.length)
    .map((secret) => secretPart(secret, asBytes));
  if (parts.length === 0) return null;
  return {
    pattern: new RegExp(parts.map(([source]) => source).join('|'), 'g'),
    maxLength: Math.max(...parts.map(([, length]) => length)),
  };
}

/** A text with all secrets replaced by `<secret>`, also those in the escaped forms of JSON. */
export function withoutSecretTexts(text: string, secrets: readonly string[]): string {
  // Without a backslash nothing is escaped.
  const mayHaveSecret = text.includes('\\') || secrets.some((secret) => secret !== '' && text.includes(secret));
  const matcher = mayHaveSecret ? secretMatcher(secrets) : null;
  return matcher === null ? text : text.replace(matcher.pattern, () => REDACTED);
}

/** Shorter texts of a header are no secrets: they would also match other words of an answer. */
const MIN_CHARACTERS = 4;
const SCHEME = /^(\S+) +(.+)$/;
const HAS_BYTES = /^[\0-\xff]*[\x80-\xff][\0-\xff]*$/;

/** Texts under which an upstream may repeat a credential header: as sent, without its scheme, and decoded. */
function formsOf(value: string): readonly string[] {
  const [, scheme = '', bare = value] = SCHEME.exec(value) ?? [];
  const decoded = scheme.toLowerCase() === 'basic' ? Buffer.from(bare, 'base64').toString('latin1').split(':') : [];
  return [value, bare, ...decoded];
}

/** A text, and the UTF-8 text whose bytes its characters are. */
function decodedForms(text: string): readonly string[] {
  if (!HAS_BYTES.test(text)) return [text];
  const decoded = Buffer.from(text, 'latin1').toString('utf8');
  return decoded.includes('\uFFFD') ? [text] : [text, decoded];
}

/** Texts of credential headers, the longest first. */
export function headerSecrets(values: readonly string[]): readonly string[] {
  const texts = values.flatMap(formsOf).flatMap(decodedForms);
  return [...new Set(texts)]
    .filter((text) => text.length >= MIN_CHARACTERS)
    .toSorted((left, right) => right.length - left.length);
}
