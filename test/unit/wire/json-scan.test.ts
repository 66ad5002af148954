import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMPILED, compiled } from '../../../scripts/wasm.ts';
import { MAX_NESTING, nestsTooDeep } from '../../../src/wire/json/nesting.ts';
import { MAX_SCANNED_BYTES, scanObject } from '../../../src/wire/json/scan.ts';
import { mutated } from '../../support/mutate.ts';
import { randomFrom } from '../../support/random.ts';
import { randomObject, SPACES } from '../../support/random-json.ts';

/** What a member is, as the scan and JSON.parse can both tell it. */
interface Told {
  readonly value: unknown;
  readonly allObjects: boolean;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members JSON.parse finds; null where text is no object of JSON, or nests deeper than is read. */
function parsed(bytes: Uint8Array): readonly (readonly [string, Told])[] | null {
  if (nestsTooDeep(bytes)) return null;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  return Object.entries(value).map(([key, one]: [string, unknown]) => [
    key,
    { value: one, allObjects: Array.isArray(one) && one.every(isObject) },
  ]);
}

/** The members the scan finds, the last of each key, in the order in which JSON.parse has them. */
function scanned(bytes: Uint8Array): readonly (readonly [string, Told])[] | null {
  const members = scanObject(bytes);
  if (members === null) return null;
  const text = Buffer.from(bytes);
  const entries = members.map(({ start, keyEnd, valueStart, end, allObjects }): [string, Told] => [
    JSON.parse(text.toString('utf8', start, keyEnd)) as string,
    { value: JSON.parse(text.toString('utf8', valueStart, end)) as unknown, allObjects },
  ]);
  return Object.entries(Object.fromEntries(entries));
}

/** What the scan and JSON.parse say otherwise of; a matcher for each of tens of thousands of texts would take longer than both. */
function disputed(texts: Iterable<string | Uint8Array>): unknown[] {
  return Array.from(texts, (text) => Buffer.from(text as string)).flatMap((bytes) => {
    const [ours, theirs] = [scanned(bytes), parsed(bytes)];
    return JSON.stringify(ours) === JSON.stringify(theirs) ? [] : [{ text: bytes.toString('latin1'), ours, theirs }];
  });
}

/** The whole numbers below `count`. */
const seeds = (count: number): readonly number[] => Array.from({ length: count }, (_, seed) => seed);

const objectOf = (seed: number): string => {
  const random = randomFrom(seed);
  const space = SPACES[random(SPACES.length)] ?? '';
  return `${space}${randomObject(random, 4, random(7))}${space}`;
};

/** Every form of token, with what may stand around it. */
const SAMPLE = `\t{ "a" : "x\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00", "é😀":[true ,false,null,-0.5e+10,0,12E-3,[ ],{ }] ,
  "a":[{"b":{}},{}],"__proto__":{"c":1},"":-1 }\r\n`;

describe('a scan of JSON text', () => {
  it('finds the members JSON.parse finds, in 6,000 random objects', () => {
    expect(disputed(seeds(6_000).map(objectOf))).toEqual([]);
  });

  it('takes what JSON.parse takes and nothing else, of 12,000 random objects that were damaged', () => {
    const damaged = seeds(12_000).map((seed) =>
      mutated(Buffer.from(objectOf(seed)), randomFrom(seed + 1), Buffer.from(objectOf(seed + 1))),
    );
    expect(disputed(damaged)).toEqual([]);
  });

  it('takes no text that was cut off, wherever', () => {
    const bytes = Buffer.from(SAMPLE);
    expect(scanObject(bytes)).not.toBeNull();
    expect(disputed(Array.from({ length: bytes.length + 1 }, (_, end) => bytes.subarray(0, end)))).toEqual([]);
  });

  it('judges every byte in every place as JSON.parse does', () => {
    const bytes = Buffer.from(SAMPLE);
    const changed = Array.from({ length: bytes.length * 256 }, (_, change) => {
      const copy = Buffer.from(bytes);
      copy[change >> 8] = change & 0xff;
      return copy;
    });
    expect(disputed(changed)).toEqual([]);
  });

  it('sees what ends a string at every distance from its beginning', () => {
    const ends = ['', '\\"', '\\\\', '\\u12aF', '\\u12g4', '\\x', '\\', '\u0000', '\u001f', '\u007f', 'é', '\n'];
    const texts = ends.flatMap((odd) => seeds(40).map((before) => `{"a":"${'x'.repeat(before)}${odd}yyy","b":1}`));
    expect(disputed(texts)).toEqual([]);
  });

  it.each(['1', '-', '01', '1.', '.5', '1.e1', '1e', '1e+', '+1', '-0', '1E400', '0x1', '1_0', 'NaN', '-Infinity'])(
    'reads %s as JSON.parse does, as a number or not',
    (text) => {
      expect(disputed([`{"a":${text}}`, `{"a":[${text}]}`])).toEqual([]);
    },
  );

  it.each([
    '',
    ' ',
    '[]',
    '"a"',
    'null',
    '1',
    '{}',
    '\uFEFF{}',
    '{}x',
    '{} {}',
    '{}\u0000',
    '\u00a0{}',
    '{"a":1,}',
    '{,}',
  ])('takes %j if it is an object, and nothing after it', (text) => {
    expect(disputed([text])).toEqual([]);
  });

  it('takes bytes that are no UTF-8 where JSON.parse does, which is in strings', () => {
    const bytes = (...parts: (string | number)[]): Buffer =>
      Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));
    const texts = [0x80, 0xbf, 0xc0, 0xe2, 0xf0, 0xff].flatMap((odd) => [
      bytes('{"a":"', odd, '","b', odd, '":1}'),
      bytes('{"a":', odd, '1}'),
      bytes('{"a":1}', odd),
    ]);
    expect(disputed(texts)).toEqual([]);
  });

  it('reads nothing that an earlier text left behind', () => {
    expect(scanObject(Buffer.from('{"a":"long enough to be left","b":1}'))).toHaveLength(2);
    expect(disputed(['{"a":"long', '{"a":"long\\', '{"a":"long\\u00', '{"a"', '{"a":1', '{"a":tru'])).toEqual([]);
  });

  it('leaves to JSON.parse what nests deeper than the limit', () => {
    const nested = (depth: number): Buffer => Buffer.from(`{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`);
    expect([scanObject(nested(MAX_NESTING))?.length, scanObject(nested(MAX_NESTING + 1))]).toEqual([1, null]);
  });

  it('leaves to JSON.parse what has more members than are worth telling apart', () => {
    const wide = (count: number): Buffer =>
      Buffer.from(`{${Array.from({ length: count }, (_, at) => `"${at}":{"x":[1,2]}`).join()}}`);
    expect([scanObject(wide(64))?.length, scanObject(wide(65))]).toEqual([64, null]);
  });

  it('leaves to JSON.parse what is longer than its memory, and takes what just fits', () => {
    const long = (length: number): Buffer => Buffer.from(`{"a":"${'x'.repeat(length - 8)}"}`);
    expect([scanObject(long(MAX_SCANNED_BYTES))?.length, scanObject(long(MAX_SCANNED_BYTES + 1))]).toEqual([1, null]);
  });

  it('runs what string-end.wat says', async () => {
    expect(readFileSync(COMPILED, 'utf8')).toBe(await compiled());
  });
});
