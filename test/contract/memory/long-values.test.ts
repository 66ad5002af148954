import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const ENTRIES = 130;
/** Maximum length of a value, and of all values of a page, in characters. */
const [MAX_VALUE, MAX_PAGE] = [256 * 1024, 32 * 1024 * 1024];

async function list(query: string): Promise<readonly [number, Record<string, unknown>]> {
  const answer = await app.call('GET', `/v1/memory${query}`);
  return [answer.status, (await answer.json()) as Record<string, unknown>];
}

it('memory.list 400: a page with too many characters; 200 for smaller pages', async () => {
  const value = 'v'.repeat(MAX_VALUE);
  for (let index = 0; index < ENTRIES; index += 1)
    expect((await app.call('POST', '/v1/memory', { key: `n${index}`, value })).status).toBe(200);
  expect(await list('?page_size=500')).toEqual([
    400,
    { detail: `A page has at most ${MAX_PAGE} characters. Read fewer memories at once.` },
  ]);
  const [status, body] = await list('');
  expect([status, body['total'], (body['memories'] as unknown[]).length]).toEqual([200, ENTRIES, 50]);
  const [, second] = await list('?page=2&page_size=60');
  expect((second['memories'] as { key: string }[]).map(({ key }) => key)).toEqual(
    Array.from({ length: 60 }, (_, index) => `n${ENTRIES - 61 - index}`),
  );
}, 60_000);

it('memories in the graph: the limit counts all fields of an operation together', async () => {
  const page = '(first: 100) { edges { node { name } } }';
  const ask = async (query: string): Promise<{ readonly errors?: readonly { readonly message: string }[] }> =>
    (await (await app.call('POST', '/graphql', { query })).json()) as object;
  const one = await ask(`{ a: memories${page} }`);
  expect(one.errors).toBeUndefined();
  const several = await ask(`{ a: memories${page} b: memories${page} }`);
  expect(several.errors?.map(({ message }) => message)).toEqual([
    `A page has at most ${MAX_PAGE} characters. Read fewer memories at once.`,
  ]);
}, 60_000);
