import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { assertValidRequest } from '../../../src/domain/inference/request-validation.ts';
import * as endpoints from '../../../src/domain/inference/endpoint.ts';
import { topLevelMembers, withMembers } from '../../../src/wire/json/members.ts';
import { parsePartially } from '../../../src/wire/json/partial-parse.ts';
import { randomFrom } from '../../support/random.ts';
import { randomObject } from '../../support/random-json.ts';

const ENDPOINTS = Object.values(endpoints);

const PROSE = 'é "quoted"\n\\ 😀 and so on. '.repeat(100);
/** A large value of each type, and large values of an invalid type. */
const LARGE: Readonly<Record<string, unknown>> = {
  'a text': PROSE,
  'an object': { role: 'user', content: PROSE },
  'objects alone': [
    { role: 'system', content: '' },
    { role: 'user', content: PROSE },
  ],
  'a list of texts': [PROSE, 'x'],
  'a list of numbers': Array.from({ length: 1_000 }, (_, index) => index),
  'objects and a text': [{ role: 'user', content: PROSE }, 'x'],
  'objects and null': [{ role: 'user', content: PROSE }, null],
  'objects and a list': [{ role: 'user', content: PROSE }, []],
};
const LARGE_VALUES = Object.values(LARGE);

const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** Error of a refused request. Null for a valid one. */
function refusalOf(validate: () => void): unknown {
  try {
    validate();
    return null;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return { message: error.message, issues: error.issues };
  }
}

describe.each(ENDPOINTS)('a request to $path, parsed partially', (endpoint) => {
  const { input, requiredMembers } = endpoint;
  const requiredFields = Object.fromEntries(
    [...requiredMembers, ...(endpoint.requiresOneOf ?? [])].map((field) => [field, [PROSE]]),
  );

  it.each(Object.keys(LARGE))('has the same members as JSON.parse, with %s as input', (form) => {
    const body = { n: 1, ...requiredFields, model: 'm', [input.member]: LARGE[form], stream: false };
    const read = parsePartially(bytesOf(body), {});
    expect(Object.keys(read?.fields ?? {})).toEqual(Object.keys(body));
    expect({ ...read?.fields }).toStrictEqual(body);
    expect(read?.fields).toEqual(body);
    // A member is parsed at its first access only.
    expect(read?.fields[input.member]).toBe(read?.fields[input.member]);
  });

  it.each(Object.keys(LARGE))('is refused with the same error as a parsed one, with %s as input', (form) => {
    const body = { ...requiredFields, model: 'm', [input.member]: LARGE[form] };
    for (const sent of [body, { ...body, model: '' }, { ...body, model: 7 }, { [input.member]: LARGE[form] }]) {
      const bytes = bytesOf(sent);
      const read = parsePartially(bytes, {});
      // From here on, an attempt to parse a large member fails.
      bytes.fill(0);
      expect(refusalOf(() => assertValidRequest(read?.fields ?? {}, endpoint, read?.unread))).toEqual(
        refusalOf(() => assertValidRequest(sent, endpoint)),
      );
    }
  });
});

describe('a partially parsed object', () => {
  const fieldsOf = (text: string): object | undefined => parsePartially(Buffer.from(text), {})?.fields;

  it('equals the result of JSON.parse, for 2,000 random objects with large members', () => {
    const texts = Array.from({ length: 2_000 }, (_, seed) => {
      const random = randomFrom(seed);
      const large = JSON.stringify(LARGE_VALUES[random(LARGE_VALUES.length)]);
      const small = (): string => randomObject(random, 2, random(4)).slice(1, -1);
      const members = [
        small(),
        `"messages":${large}`,
        small(),
        random(2) === 0 ? '"messages":[1]' : `"tools":${large}`,
      ];
      return `{${members.filter((member) => member.trim() !== '').join()}}`;
    });
    expect(texts.filter((text) => JSON.stringify(fieldsOf(text)) !== JSON.stringify(JSON.parse(text)))).toEqual([]);
  });

  it('caches its members, equal to those that topLevelMembers finds without the cache', () => {
    const texts = Array.from({ length: 500 }, (_, seed) => {
      const random = randomFrom(seed);
      return randomObject(random, 3, random(7));
    });
    for (const text of texts) {
      const [scanned, unscanned] = [Buffer.from(text), Buffer.from(text)];
      parsePartially(scanned, {});
      const known = topLevelMembers(scanned)?.map(({ key, start, valueStart, end }) => ({
        key,
        start,
        valueStart,
        end,
      }));
      expect(known).toEqual(topLevelMembers(unscanned));
      expect(withMembers(scanned, { model: '"x"', a: null })).toEqual(
        withMembers(unscanned, { model: '"x"', a: null }),
      );
    }
  });

  it('has the last value of a repeated member, large or small', () => {
    const [prose, longerProse] = [JSON.stringify(PROSE), JSON.stringify(`${PROSE}!`)];
    expect(fieldsOf(`{"input":1,"a":2,"input":${prose}}`)).toEqual({ input: PROSE, a: 2 });
    expect(fieldsOf(`{"input":${prose},"a":2,"inp\\u0075t":1}`)).toEqual({ input: 1, a: 2 });
    expect(fieldsOf(`{"input":${prose},"input":${longerProse}}`)).toEqual({ input: `${PROSE}!` });
  });

  it('has no large member where a later small one of the same name replaces it', () => {
    const read = parsePartially(Buffer.from(`{"input":${JSON.stringify(PROSE)},"input":null}`), {});
    expect([...(read?.unread ?? [])]).toEqual([]);
  });

  it('has the given members instead of those of the client', () => {
    const text = `{"model":"sent","messages":${JSON.stringify(LARGE['objects alone'])},"stream":1}`;
    const read = parsePartially(Buffer.from(text), { messages: [], stream: true, extra: 2 });
    expect(read?.fields).toEqual({ model: 'sent', messages: [], stream: true, extra: 2 });
    expect([...(read?.unread ?? [])]).toEqual([]);
  });

  it('has fast properties in V8: reads of a hash table take several times as long', () => {
    setFlagsFromString('--allow-natives-syntax');
    const isFast = new Script('(object) => %HasFastProperties(object)').runInThisContext() as (
      object: object,
    ) => boolean;
    const parsed = parsePartially(bytesOf({ model: 'm', messages: [{ role: 'user', content: PROSE }], n: 1 }), {});
    expect(parsed?.unread.has('messages')).toBe(true);
    expect(isFast(parsed?.fields ?? {})).toBe(true);
  });

  it('treats __proto__ as an ordinary name', () => {
    const text = `{"__proto__":{"polluted":true},"input":${JSON.stringify(PROSE)}}`;
    const fields = fieldsOf(text) ?? {};
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
    expect(Object.entries(fields)).toEqual(Object.entries(JSON.parse(text) as object));
  });

  it('is undefined for text that is not an object', () => {
    expect([fieldsOf('[]'), fieldsOf('{"a":1'), fieldsOf('{"a":1}}')]).toEqual([undefined, undefined, undefined]);
  });
});
