import { describe, expect, it } from 'vitest';
import { topLevelMembers, withMembers } from '../../../src/wire/json/members.ts';
import { randomFrom } from '../../support/random.ts';
import { randomObject, SPACES } from '../../support/random-json.ts';

const CASES = Array.from({ length: 3_000 }, (_, seed) => {
  const random = randomFrom(seed);
  const space = SPACES[random(SPACES.length)] ?? '';
  return `${space}${randomObject(random, 3, random(7))}${space}`;
});

const read = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString('utf8'));

describe('members of a JSON object in bytes', () => {
  it('equal the members that JSON.parse reads, for random objects', () => {
    for (const json of CASES) {
      const bytes = Buffer.from(json);
      const members = topLevelMembers(bytes) ?? [];
      const entries = members.map(({ key, valueStart, end }) => [key, read(bytes.subarray(valueStart, end))] as const);
      expect({ json, read: Object.fromEntries(entries) }).toEqual({ json, read: JSON.parse(json) });
    }
  });

  it('change like those of the parsed object, when they are set, added or removed', () => {
    for (const json of CASES) {
      // A value of null removes its member.
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

  it('keep every byte of unchanged values', () => {
    const json = '{ "seed" : 12345678901234567890, "temperature":1.0,"model":"m" , "t":"\\u0041" }';
    expect(Buffer.from(withMembers(Buffer.from(json), { model: '"n"' })).toString()).toBe(
      '{"seed" : 12345678901234567890,"temperature":1.0,"model":"n","t":"\\u0041"}',
    );
  });

  it('are the same buffer when no value changes', () => {
    const bytes = Buffer.from('{ "model" : "m" }');
    expect(withMembers(bytes, { model: '"m"', absent: null })).toBe(bytes);
  });

  it('keep the last value of a repeated key, with any escapes', () => {
    const json = '{"mod\\u0065l":"forbidden","model":"allowed","messages":[]}';
    expect(Buffer.from(withMembers(Buffer.from(json), { model: '"upstream"' })).toString()).toBe(
      '{"model":"upstream","messages":[]}',
    );
  });

  it.each(['', '[]', '"model"', '{', '{"model"', '{"model":', '{"model":"x', '{"model":"x"', '{"a":[{}', '{,}', 'nul'])(
    'are null in %j, which is not an object and is never changed',
    (text) => {
      expect(topLevelMembers(Buffer.from(text))).toBeNull();
      expect(withMembers(Buffer.from(text), { model: '"x"' })).toEqual(Buffer.from(text));
    },
  );
});
