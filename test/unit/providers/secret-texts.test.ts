import { describe, expect, it } from 'vitest';
import { collect, streamOfBytes } from '../../../src/domain/bytes.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { headerSecrets, withoutSecretTexts } from '../../../src/domain/secret-texts.ts';
import { credentialTexts, redactedBytes } from '../../../src/providers/redacted-bytes.ts';

const SECRET = String.raw`k/"a\b\\c\é𝄞+=-_`;

/** JSON text of a value, without its quotes. */
const quoted = (text: string): string => JSON.stringify(text).slice(1, -1);
const allEscaped = [...Array(SECRET.length).keys()]
  .map((index) => String.raw`\u${SECRET.charCodeAt(index).toString(16).padStart(4, '0')}`)
  .join('');

const FORMS: readonly (readonly [string, string])[] = [
  ['as it is', SECRET],
  ['in JSON', quoted(SECRET)],
  ['in JSON with escaped slashes', quoted(SECRET).replaceAll('/', String.raw`\/`)],
  [
    'in JSON of ASCII',
    quoted(SECRET)
      .replaceAll('é', String.raw`\u00e9`)
      .replace('𝄞', String.raw`\ud834\uDD1E`),
  ],
  ['in JSON with all characters escaped', allEscaped],
  ['in JSON with upper-case digits', allEscaped.toUpperCase().replaceAll(String.raw`\U`, String.raw`\u`)],
  ['in JSON inside of JSON', quoted(quoted(SECRET).replaceAll('/', String.raw`\/`))],
  ['in JSON that is quoted twice', quoted(quoted(quoted(SECRET)))],
];

describe('a secret', () => {
  it.each(FORMS)('is replaced in a text: %s', (_form, text) => {
    expect(withoutSecretTexts(`before ${text} after`, ['other-secret', SECRET])).toBe('before <secret> after');
  });

  it.each(FORMS)('is replaced in a stream, in chunks of any size: %s', async (_form, text) => {
    const bytes = Buffer.from(`before ${text} after`);
    const credentials = { authorization: new Secret(`Bearer ${Buffer.from(SECRET).toString('latin1')}`) };
    for (const size of [1, 7, 1000]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_item, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      const body = {
        ...streamOfBytes(bytes),
        pipe(sink: Parameters<ReturnType<typeof streamOfBytes>['pipe']>[0]) {
          for (const chunk of chunks) sink.chunk(chunk);
          sink.done();
        },
        resume() {},
        cancel() {},
      };
      const redacted = await collect(redactedBytes(body, credentialTexts({ credentials })), 10_000);
      expect(Buffer.from(redacted ?? []).toString()).toBe('before <secret> after');
    }
  });

  it('with more than 256 characters is replaced as it is and in JSON', () => {
    const key = JSON.stringify({ private_key: 'line/1\nline 2\n'.repeat(100) });
    for (const text of [key, quoted(key), quoted(key).replaceAll('/', String.raw`\/`)])
      expect(withoutSecretTexts(`<${text}>`, [key])).toBe('<<secret>>');
  });

  it.each([
    [String.raw`sk-\\\\!`, `sk-${(String.raw`\\\\\\\\` + 'u005c').repeat(200)}?`],
    [`a${String.raw`\/`.repeat(8)}!`, `a${(String.raw`\\\\\\\\` + '/').repeat(200)}?`],
  ])('is searched in a text that almost has it, without a long search: %s', (secret, text) => {
    const startedMs = performance.now();
    expect(withoutSecretTexts(text, [secret])).toBe(text);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });

  it('does not change other texts', () => {
    expect(withoutSecretTexts(String.raw`a \n \u0041 "b"`, [SECRET, ''])).toBe(String.raw`a \n \u0041 "b"`);
  });

  it('of a header is searched without its scheme, decoded, and as text', () => {
    expect(headerSecrets(['Bearer k\u00C3\u00A9y1'])).toEqual([
      'Bearer k\u00C3\u00A9y1',
      'Bearer kéy1',
      'k\u00C3\u00A9y1',
      'kéy1',
    ]);
    expect(headerSecrets(['abc', `Basic ${btoa('user:pass')}`])).toEqual([
      'Basic dXNlcjpwYXNz',
      'dXNlcjpwYXNz',
      'user',
      'pass',
    ]);
  });
});
