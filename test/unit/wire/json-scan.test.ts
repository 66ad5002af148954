import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GENERATED_MODULE, generatedModule } from '../../../scripts/wasm.ts';
import { MAX_NESTING, nestsTooDeep } from '../../../src/wire/json/nesting.ts';
import { MAX_SCANNED_BYTES, scanObject } from '../../../src/wire/json/scan.ts';
import { mutated } from '../../support/mutate.ts';
import { randomFrom } from '../../support/random.ts';
import { randomObject, SPACES } from '../../support/random-json.ts';

/** A member in a form that both the scan and JSON.parse can give. */
interface MemberFacts {
  readonly value: unknown;
  readonly allObjects: boolean;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members that JSON.parse finds. Null if the text is not a JSON object or exceeds the nesting limit. */
function parsed(bytes: Uint8Array): readonly (readonly [string, MemberFacts])[] | null {
  if (nestsTooDeep(bytes)) return null;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  return Object.entries(value).map(([key, member]: [string, unknown]) => [
    key,
    { value: member, allObjects: Array.isArray(member) && member.every(isObject) },
  ]);
}

/** The members that the scan finds: the last one of each key, in the order of JSON.parse. */
function scanned(bytes: Uint8Array): readonly (readonly [string, MemberFacts])[] | null {
  const members = scanObject(bytes);
  if (members === null) return null;
  const text = Buffer.from(bytes);
  const entries = members.map(({ start, keyEnd, valueStart, end, allObjects }): [string, MemberFacts] => [
    JSON.parse(text.toString('utf8', start, keyEnd)) as string,
    { value: JSON.parse(text.toString('utf8', valueStart, end)) as unknown, allObjects },
  ]);
  return Object.entries(Object.fromEntries(entries));
}

/** Texts for which the scan and JSON.parse differ. One `expect` for all texts is faster than one for each text. */
function differencesIn(texts: Iterable<string | Uint8Array>): unknown[] {
  return Array.from(texts, (text) => Buffer.from(text as string)).flatMap((bytes) => {
    const [byScan, byParse] = [scanned(bytes), parsed(bytes)];
    return JSON.stringify(byScan) === JSON.stringify(byParse)
      ? []
      : [{ text: bytes.toString('latin1'), byScan, byParse }];
  });
}

/** The whole numbers below `count`. */
const seeds = (count: number): readonly number[] => Array.from({ length: count }, (_, seed) => seed);

const objectOf = (seed: number): string => {
  const random = randomFrom(seed);
  const space = SPACES[random(SPACES.length)] ?? '';
  return `${space}${randomObject(random, 4, random(7))}${space}`;
};

/** Every form of token, with possible surroundings. */
const SAMPLE = `\t{ "a" : "x\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00", "é😀":[true ,false,null,-0.5e+10,0,12E-3,[ ],{ }] ,
  "a":[{"b":{}},{}],"__proto__":{"c":1},"":-1 }\r\n`;

describe('a scan of JSON text', () => {
  it('finds the same members as JSON.parse in 6,000 random objects', () => {
    expect(differencesIn(seeds(6_000).map(objectOf))).toEqual([]);
  });

  it('accepts those of 12,000 damaged random objects that JSON.parse accepts', () => {
    const damaged = seeds(12_000).map((seed) =>
      mutated(Buffer.from(objectOf(seed)), randomFrom(seed + 1), Buffer.from(objectOf(seed + 1))),
    );
    expect(differencesIn(damaged)).toEqual([]);
  });

  it('rejects text that is truncated at any byte', () => {
    const bytes = Buffer.from(SAMPLE);
    expect(scanObject(bytes)).not.toBeNull();
    expect(differencesIn(Array.from({ length: bytes.length + 1 }, (_, end) => bytes.subarray(0, end)))).toEqual([]);
  });

  it('accepts and rejects each byte at each position as JSON.parse does', () => {
    const bytes = Buffer.from(SAMPLE);
    // A change is a position times 256, plus a byte.
    const changed = Array.from({ length: bytes.length * 256 }, (_, change) => {
      const copy = Buffer.from(bytes);
      copy[change >> 8] = change & 0xff;
      return copy;
    });
    expect(differencesIn(changed)).toEqual([]);
  });

  it('finds the end of a string at any length', () => {
    const ends = ['', '\\"', '\\\\', '\\u12aF', '\\u12g4', '\\x', '\\', '\u0000', '\u001f', '\u007f', 'é', '\n'];
    const texts = ends.flatMap((odd) => seeds(40).map((before) => `{"a":"${'x'.repeat(before)}${odd}yyy","b":1}`));
    expect(differencesIn(texts)).toEqual([]);
  });

  it.each(['1', '-', '01', '1.', '.5', '1.e1', '1e', '1e+', '+1', '-0', '1E400', '0x1', '1_0', 'NaN', '-Infinity'])(
    'reads %s as JSON.parse does, as a number or not',
    (text) => {
      expect(differencesIn([`{"a":${text}}`, `{"a":[${text}]}`])).toEqual([]);
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
  ])('accepts %j only if JSON.parse reads an object', (text) => {
    expect(differencesIn([text])).toEqual([]);
  });

  it('accepts bytes that are not UTF-8 inside strings only, as JSON.parse does', () => {
    const bytes = (...parts: (string | number)[]): Buffer =>
      Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));
    const texts = [0x80, 0xbf, 0xc0, 0xe2, 0xf0, 0xff].flatMap((odd) => [
      bytes('{"a":"', odd, '","b', odd, '":1}'),
      bytes('{"a":', odd, '1}'),
      bytes('{"a":1}', odd),
    ]);
    expect(differencesIn(texts)).toEqual([]);
  });

  it('does not read data of an earlier text', () => {
    expect(scanObject(Buffer.from('{"a":"long enough to be left","b":1}'))).toHaveLength(2);
    expect(differencesIn(['{"a":"long', '{"a":"long\\', '{"a":"long\\u00', '{"a"', '{"a":1', '{"a":tru'])).toEqual([]);
  });

  it('leaves text that exceeds the nesting limit to JSON.parse', () => {
    const nested = (depth: number): Buffer => Buffer.from(`{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`);
    expect([scanObject(nested(MAX_NESTING))?.length, scanObject(nested(MAX_NESTING + 1))]).toEqual([1, null]);
  });

  it('leaves text with more members than the limit to JSON.parse', () => {
    const wide = (count: number): Buffer =>
      Buffer.from(`{${Array.from({ length: count }, (_, index) => `"${index}":{"x":[1,2]}`).join()}}`);
    expect([scanObject(wide(64))?.length, scanObject(wide(65))]).toEqual([64, null]);
  });

  it('leaves text larger than its memory to JSON.parse, and reads text that just fits', () => {
    const long = (length: number): Buffer => Buffer.from(`{"a":"${'x'.repeat(length - 8)}"}`);
    expect([scanObject(long(MAX_SCANNED_BYTES))?.length, scanObject(long(MAX_SCANNED_BYTES + 1))]).toEqual([1, null]);
  });

  it('runs the compiled form of string-end.wat', async () => {
    expect(readFileSync(GENERATED_MODULE, 'utf8')).toBe(await generatedModule());
  });
});
