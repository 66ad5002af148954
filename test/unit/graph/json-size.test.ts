import { expect, it } from 'vitest';
import { MAX_NESTING } from '../../../schema/base/document-limits.ts';
import { MAX_VARIABLE_VALUES } from '../../../schema/base/limits.ts';
import { assertJsonSize } from '../../../src/graphql/request-check.ts';

const JSON_HEADERS = { headers: { 'content-type': 'application/json; charset=utf-8' } };
const check = (body: string, headers = JSON_HEADERS): void => assertJsonSize(headers, Buffer.from(body));
/** Only bodies of at least 64 KiB are checked. */
const PADDING = `"padding":"${'x'.repeat(70_000)}"`;

it.each([
  ['a list', `{${PADDING},"v":[${'1,'.repeat(50_000)}1]}`],
  ['an object', `{${PADDING},${Array.from({ length: 50_000 }, (_, index) => `"v${index}":1`).join()}}`],
  ['lists in a list', `{${PADDING},"v":[${'[],'.repeat(30_000)}1]}`],
])('a body is refused for %s with too many values', (_name, body) => {
  expect(() => check(body)).toThrow(`The request holds more than ${MAX_VARIABLE_VALUES} values.`);
});

it('a body that nests too deep is refused', () => {
  const body = `{${PADDING},"v":${'['.repeat(70)}${']'.repeat(70)}}`;
  expect(() => check(body)).toThrow(`The request nests deeper than ${MAX_NESTING}.`);
});

it.each([
  ['brackets in a string', `{"query":"${'[1,{2,'.repeat(50_000)}"}`],
  ['brackets after escaped quotes in a string', `{"query":"${'\\",[{'.repeat(50_000)}\\\\"}`],
  ['an unterminated string', `{"query":"${'[,'.repeat(50_000)}`],
  ['a list within the limit', `{${PADDING},"v":[${'1,'.repeat(MAX_VARIABLE_VALUES - 10)}1]}`],
])('a body is accepted with %s', (_name, body) => {
  expect(() => check(body)).not.toThrow();
});

it('a body of another content type is not checked', () => {
  const headers = { headers: { 'content-type': 'application/graphql' } };
  expect(() => check(`{ ${','.repeat(100_000)} }`, headers)).not.toThrow();
});
