import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { addressBelow, forwardedQueryOf } from '../../../src/domain/pass-through/address.ts';

const TARGET = 'http://target.example:8080/base/path';

/** Segments that name the parent of the target, in encodings that servers decode. */
const PARENT_SEGMENTS = [
  '%2525252e%2525252e',
  '..',
  '%2e%2e',
  '.%2e',
  '%2E.',
  '%252e%252e',
  '%25252e%25252e',
  '..;',
  '..;a=b',
  '%2e%2e;',
];
/** Paths with a segment of `PARENT_SEGMENTS` in place of each `{}`. */
const PATHS_AROUND_PARENT = [
  '{}',
  '{}/',
  '{}/admin',
  'a/{}',
  'a/{}/b',
  'a/b/{}/{}/c',
  '{}/{}/{}',
  'a/{}/{}/etc/passwd',
  'x%2f{}',
];
const ENCODED_SEPARATORS = [
  'a%5c..%5cb',
  '..%2f',
  '..%2fadmin',
  'a%2f..%2f..',
  '%2e%2e%2f',
  '%2e%2e%5cx',
  'a%252f..%252fb',
  '..%5c',
];
const EMPTY_SEGMENTS = [
  '/',
  '//',
  '/x',
  '//x',
  'a//b',
  'a///b',
  '//evil.example/x',
  '/evil.example',
  '/@evil.example',
  'a/%2f/b',
];
const ABSOLUTE_ADDRESSES = [
  'http://evil.example/',
  'https://evil.example',
  'http:%2f%2fevil.example/',
  '%68ttp:%2f%2fevil.example',
];
const UNUSUAL_CHARACTERS = [
  ['a\\b', '\\\\evil.example', 'a%5cb', 'a%00b', 'a%0d%0aHost:%20evil', 'a%0ab', 'a%09b', 'a b', 'a\tb', 'a\nb'],
  ['a#b', 'a?b', 'a\u00e4b', 'a\u2025b', 'a\uff0eb', '%', '%zz', 'a%2', '%c0%ae%c0%ae', '%e0%80%ae', '%ff', '%7f'],
  ['%2500', '%250d%250a', '%255c', '\u0000', 'a\u007fb', '%25252500'],
].flat();
const CURRENT_SEGMENTS = ['.', './a', 'a/./b', 'a/.', '%2e', '%2e/a', 'a/%2e/b', '%252e', 'a/%252e/b', '.;a', '%2e;x'];

const HOSTILE: readonly string[] = [
  ...PARENT_SEGMENTS.flatMap((parent) => PATHS_AROUND_PARENT.map((pattern) => pattern.replaceAll('{}', parent))),
  ...PARENT_SEGMENTS.map((parent) => `${parent}%2f${parent}`),
  ...PARENT_SEGMENTS.map((parent) => `x/${parent}/`),
  ...PARENT_SEGMENTS.map((parent) => `${'x/'.repeat(20)}${parent}/`),
  ...PARENT_SEGMENTS.map((parent) => `${parent}/${parent}/${parent}/${parent}/%2e`),
  ...PARENT_SEGMENTS.map((parent) => `v1/${parent}%5c`),
  ...PARENT_SEGMENTS.map((parent) => `${parent}/.`),
  ...ENCODED_SEPARATORS,
  ...EMPTY_SEGMENTS,
  ...ABSOLUTE_ADDRESSES,
  ...UNUSUAL_CHARACTERS,
  ...CURRENT_SEGMENTS,
];

const HARMLESS = [
  'a',
  'a/b',
  'a/b/',
  'v1/models/gpt-4o:stream',
  'a%20b',
  'a%2Fb',
  '...',
  'a..b',
  '.well-known/x',
  'x@evil.example',
  'a;b=c',
  'evil.example',
  'a:80',
  '%40',
  '~user',
  'a%C3%A4',
  "a!$&'()*+,=b",
];

/** The address of a path, or `refused` for an InvalidInput error. */
function addressOf(path: string): string {
  try {
    const { origin, pathname } = addressBelow(TARGET, path);
    return origin + pathname;
  } catch (error) {
    if (error instanceof InvalidInput) return 'refused';
    throw error;
  }
}

describe('addressBelow', () => {
  it('is tested with at least 200 different paths', () => {
    expect(new Set(HOSTILE).size).toBeGreaterThanOrEqual(200);
  });

  it.each([...new Set(HOSTILE)])('refuses %j, or keeps it below the target', (path) => {
    const allowed = [`http://target.example:8080/base/path/${path}`, 'refused'];
    expect(allowed).toContain(addressOf(path));
    // An accepted path does not leave the target when it is decoded twice.
    const decoded = addressOf(path) === 'refused' ? '' : decodeURIComponent(decodeURIComponent(path));
    expect(decoded.split(/[/\\]/)).not.toContain('..');
  });

  it.each([
    ...PARENT_SEGMENTS.flatMap((parent) => PATHS_AROUND_PARENT.map((pattern) => pattern.replaceAll('{}', parent))),
    ...EMPTY_SEGMENTS,
  ])('refuses %j', (path) => {
    expect(() => addressBelow(TARGET, path)).toThrow(InvalidInput);
  });

  it.each(HARMLESS)('keeps %j as it was sent', (path) => {
    expect(addressBelow(TARGET, path).href).toBe(`${TARGET}/${path}`);
  });

  it('returns the target with its query where there is no path, and joins a path with one slash', () => {
    expect(addressBelow(`${TARGET}?a=1`, null).href).toBe(`${TARGET}?a=1`);
    expect(addressBelow('http://h', 'a').href).toBe('http://h/a');
    expect(addressBelow('http://h/x/', 'a').href).toBe('http://h/x/a');
  });
});

describe('forwardedQueryOf', () => {
  it.each([
    ['', '?b=2', { c: '3' }, 'b=2&c=3'],
    ['b=1&b=2', '?b=3&d=4', { b: '5', d: '6', e: '7 8' }, 'b=1&b=2&d=4&e=7+8'],
    ['%62=1', '?b=2', { b: '3' }, '%62=1'],
    ['a&&b=', '', {}, 'a&b='],
    ['a=%', '', {}, 'a=%'],
  ])('merges the query %j over that of the target %j and the defaults %j: %j', (search, target, defaults, query) => {
    expect(forwardedQueryOf(search, { target, defaults })).toBe(query);
  });

  it('excludes parameters for the gateway', () => {
    expect(forwardedQueryOf('key=sk-1&alt=sse&%6bey=sk-2', { target: '', defaults: {}, without: ['key'] })).toBe(
      'alt=sse',
    );
  });
});
