import { describe, expect, it } from 'vitest';
import { topLevelMembers, withMembers } from '../../../src/wire/json/members.ts';
import { randomFrom } from '../../support/random.ts';

const SPACES = ['', ' ', '\n', '\t', '\r\n  '];
/** Longer than what is looked at byte by byte. */
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

/** JSON text of a random value, with random spaces and escapes, as no serialiser would write it. */
function randomJson(random: (bound: number) => number, depth: number): string {
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

function randomObject(random: (bound: number) => number, depth: number, count: number): string {
  const space = (): string => SPACES[random(SPACES.length)] ?? '';
  const members = Array.from({ length: count }, () => {
    const key = quoted(KEYS[random(KEYS.length)] ?? '', random);
    return `${space()}${key}${space()}:${space()}${randomJson(random, depth)}${space()}`;
  });
  return `{${members.join(',') || space()}}`;
}

/** A JSON string in which some characters are escaped that need not be. */
function quoted(text: string, random: (bound: number) => number): string {
  const inner = Array.from(text, (character) => {
    if (random(4) > 0 || character.length > 1) return JSON.stringify(character).slice(1, -1);
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${inner.join('')}"`;
}

const CASES = Array.from({ length: 3_000 }, (_, seed) => {
  const random = randomFrom(seed);
  const space = SPACES[random(SPACES.length)] ?? '';
  return `${space}${randomObject(random, 3, random(7))}${space}`;
});

const read = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString('utf8'));

describe('members of a JSON object in bytes', () => {
  it('are those JSON.parse reads, for random objects', () => {
    for (const json of CASES) {
      const bytes = Buffer.from(json);
      const members = topLevelMembers(bytes) ?? [];
      const entries = members.map(({ key, valueStart, end }) => [key, read(bytes.subarray(valueStart, end))] as const);
      expect({ json, read: Object.fromEntries(entries) }).toEqual({ json, read: JSON.parse(json) });
    }
  });

  it('set, added and removed give what the same change to the parsed object gives', () => {
    for (const json of CASES) {
      const changed = withMembers(Buffer.from(json), { model: '"new \\"name\\""', a: null, stream_options: '{"x":1}' });
      const expected = {
        ...(JSON.parse(json) as Record<string, unknown>),
        model: 'new "name"',
        stream_options: { x: 1 },
      };
      if ('a' in expected) delete expected.a;
      expect({ json, read: read(changed) }).toEqual({ json, read: expected });
    }
  });

  it('keep every byte of the values that are not changed', () => {
    const json = '{ "seed" : 12345678901234567890, "temperature":1.0,"model":"m" , "t":"\\u0041" }';
    expect(Buffer.from(withMembers(Buffer.from(json), { model: '"n"' })).toString()).toBe(
      '{"seed" : 12345678901234567890,"temperature":1.0,"model":"n","t":"\\u0041"}',
    );
  });

  it('come back as they were when nothing changes', () => {
    const bytes = Buffer.from('{ "model" : "m" }');
    expect(withMembers(bytes, { model: '"m"', absent: null })).toBe(bytes);
  });

  it('leave no second reading: of a repeated key, however written, the last value stays', () => {
    const json = '{"mod\\u0065l":"forbidden","model":"allowed","messages":[]}';
    expect(Buffer.from(withMembers(Buffer.from(json), { model: '"upstream"' })).toString()).toBe(
      '{"model":"upstream","messages":[]}',
    );
  });

  it.each(['', '[]', '"model"', '{', '{"model"', '{"model":', '{"model":"x', '{"model":"x"', '{"a":[{}', '{,}', 'nul'])(
    'are none in %j, which is no object',
    (text) => {
      expect(topLevelMembers(Buffer.from(text))).toBeNull();
      expect(withMembers(Buffer.from(text), { model: '"x"' })).toEqual(Buffer.from(text));
    },
  );
});
