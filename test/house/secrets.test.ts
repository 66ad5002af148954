import { expect, it } from 'vitest';
import { occurrences, readFiles, type SourceFile, withoutComments } from './repository.ts';

const CODE = ['src/**/*.ts', 'resolvers/**/*.ts', 'schema/**/*.ts', 'rest-shims/**/*.ts', 'lite/**/*.ts'];
const HELPER = 'src/runtime/same-secret.ts';

/** Values whose comparison must take constant time. */
const VALUE = String.raw`(?:\w+\??\.)*(?:secretHash|codeHash|masterHash|tokenHash|password|pollSecret|serviceToken|masterKey|adminKey|csrfToken|proof|\w+\??\.reveal\(\))`;
/** Right side of a comparison with an absent or an empty value. */
const ABSENT = String.raw`(?:null|undefined|''|'string'|true|false)`;
const COMPARED = new RegExp(
  [
    // A secret on the left, or on the right.
    String.raw`(?<![\w.])${VALUE} [!=]== (?!${ABSENT})`,
    String.raw`(?<!typeof )(?<![\w.)])[\w.()]+ [!=]== ${VALUE}(?![\w.(])`,
    // A computed hash on the right, or on the left.
    String.raw`[!=]== (?:[\w.]+\.)?hash\(`,
    String.raw`[!=]== .*\.digest\(`,
    String.raw`(?:\w+\.)*(?:hash|digest)\([^=]*\) [!=]==`,
  ].join('|'),
);

/** Allowed comparisons, with the reason. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['rest-shims/helpers/http/session-cookie.ts', 'a cookie and a header of the same request: the server holds no copy'],
  ['src/domain/keys/virtual-key.ts', 'the hash by which the row was found'],
  ['src/domain/audit-log/audit-entry.ts', 'two stored states of a key'],
  ['src/persistence/keys/store.ts', 'two stored states of a key'],
  ['src/domain/keys/key-change.ts', 'a key that its owner replaces'],
  ['src/domain/cache-changes.ts', 'two identities of one key'],
  ['src/domain/users/session.ts', 'the stored text of a session'],
  ['src/domain/deployments/same-upstream.ts', 'credentials of two configured deployments'],
  ['src/runtime/catalog/last-good.ts', 'the checksum of a file'],
]);

const codeOnly = (files: readonly SourceFile[]): readonly SourceFile[] =>
  files.map(({ path, text }) => ({ path, text: withoutComments(text) }));

const compared = (files: readonly SourceFile[]): readonly string[] =>
  occurrences(codeOnly(files), COMPARED).filter((found) => !EXCEPTIONS.has(found.split(':')[0] ?? ''));

it('secrets are compared in constant time, by one helper', () => {
  const files = readFiles(...CODE);
  const helpers = occurrences(codeOnly(files), /\btimingSafeEqual\b/).map((found) => found.split(':')[0]);
  expect([...new Set(helpers)]).toEqual([HELPER]);
  expect(compared(files)).toEqual([]);
});

it.each([
  'if (hash === masterHash) return master;',
  'return sent !== settings.masterKey.reveal();',
  'if (password === sent) return true;',
  'const isRight = generator.hash(code) === login.codeHash;',
  "if (signature !== createHmac('sha256', secret).update(bytes).digest('hex')) return null;",
  'if (checkout.secretHash !== keyGenerator.hash(secret)) throw missing();',
])('a planted comparison is reported: %s', (text) => {
  expect(compared([{ path: 'src/canary.ts', text }])).toHaveLength(1);
  expect(compared([{ path: 'src/domain/keys/virtual-key.ts', text }])).toEqual([]);
});

it.each(['if (password === null) return;', "if (url.password !== '') return;", 'return secretHash === undefined;'])(
  'a test for an absent value is not reported: %s',
  (text) => {
    expect(compared([{ path: 'src/canary.ts', text }])).toEqual([]);
  },
);

it('every listed exception exists', () => {
  const found = occurrences(codeOnly(readFiles(...CODE)), COMPARED).map((occurrence) => occurrence.split(':')[0]);
  expect(new Set(found)).toEqual(new Set(EXCEPTIONS.keys()));
});
