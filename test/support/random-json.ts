type Draw = (bound: number) => number;

/** JSON whitespace of every kind. */
export const SPACES = ['', ' ', '\n', '\t', '\r\n  '];
/** Longer than the part of a string that the JSON scanner reads byte by byte. */
const LONG = 'x'.repeat(70);
const TEXTS = [
  '',
  'a',
  '"',
  '\\',
  '\\"',
  'model',
  '{"model":"x"}',
  '}',
  ']',
  'é',
  '😀',
  '\u2028',
  '\n',
  '"model":',
  LONG,
  `${LONG}"`,
  `"${LONG}\\`,
];
const KEYS = ['model', 'messages', 'stream_options', 'a', '', 'mod\\el', '"model"', 'é', '__proto__'];

/** JSON text of a random value with at most `depth` levels, random whitespace and unnecessary escapes. */
function randomJson(random: Draw, depth: number): string {
  const space = (): string => SPACES[random(SPACES.length)] ?? '';
  const kind = random(depth > 0 ? 6 : 4);
  if (kind === 0) return ['0', '-1.50e+3', '12345678901234567890', 'true', 'false', 'null'][random(6)] ?? '0';
  if (kind < 4) return quoted(TEXTS[random(TEXTS.length)] ?? '', random);
  const count = random(4);
  if (kind === 4) {
    const items = Array.from({ length: count }, () => `${space()}${randomJson(random, depth - 1)}${space()}`);
    return `[${items.join(',') || space()}]`;
  }
  return randomObject(random, depth - 1, count);
}

/** JSON text of a random object with `count` members. Keys may repeat and contain escapes. */
export function randomObject(random: Draw, depth: number, count: number): string {
  const space = (): string => SPACES[random(SPACES.length)] ?? '';
  const members = Array.from({ length: count }, () => {
    const key = quoted(KEYS[random(KEYS.length)] ?? '', random);
    return `${space()}${key}${space()}:${space()}${randomJson(random, depth)}${space()}`;
  });
  return `{${members.join(',') || space()}}`;
}

/** JSON string with some unnecessary escapes. */
function quoted(text: string, random: Draw): string {
  const inner = Array.from(text, (character) => {
    if (random(4) > 0 || character.length > 1) return JSON.stringify(character).slice(1, -1);
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${inner.join('')}"`;
}
