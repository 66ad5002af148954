import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { curlExample } from '../../../rest-shims/helpers/openapi/examples.ts';
import type { RouteRow } from '../../../rest-shims/helpers/http/route.ts';
import { restRoutes } from '../../../src/http/routes.ts';
import { DATABASES, type ScratchDatabase } from '../../ports/engines.ts';
import { sampled } from '../../support/sampling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

/** Nouns whose management routes accept texts of callers. */
const NOUNS =
  /^(keys|teams|teamMembers|users|tags|tagUse|customers|organizations|organizationMembers|projects|budgets|accessGroups|spend|dailyActivity|auditLog|invitations|credentials)\./;

/** Texts that a database or UTF-8 cannot represent. */
const TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['NUL', 'a\0b'],
  ['a lone high surrogate', 'a\ud800b'],
  ['a lone low surrogate', '\udc00'],
];

type Json = Readonly<Record<string, unknown>>;

/** Body of the documented example, or an empty object. */
function exampleBody(row: RouteRow): Json {
  const [, body] = /-d '(\{.*\})'/s.exec(curlExample(row, 'http://x')) ?? [];
  return body === undefined ? {} : (JSON.parse(body) as Json);
}

const propertiesOf = (schema: Json | undefined): Json => ({ ...(schema?.['properties'] as Json | undefined) });

/** Values with the text as a string, in a list, and as a name and a member of objects. */
function valuesWith(text: string): readonly unknown[] {
  return [text, [text], { [text]: text }, { a: text }, { a: { [text]: [text] } }, [{ user_id: text, role: 'user' }]];
}

/**
 * Bodies of a route with the text at different places. The text is in one member of the example, is the value of every
 * member, or is an additional member's name and value.
 */
function bodiesOf(row: RouteRow, text: string): readonly Json[] {
  const example = exampleBody(row);
  const names = [...new Set([...Object.keys(propertiesOf(row.bodySchema)), ...Object.keys(example)])];
  const withOneMember = names.flatMap((name) => valuesWith(text).map((value) => ({ ...example, [name]: value })));
  return [...withOneMember, Object.fromEntries(names.map((name) => [name, text])), { ...example, [text]: text }];
}

const DATES = { start_date: '2026-11-01', end_date: '2026-11-02' };

/** Queries of a route, each with a NUL or the bytes of a lone high surrogate in one parameter. */
function queriesOf(row: RouteRow, text: string): readonly string[] {
  const names = Object.keys(propertiesOf(row.querySchema));
  // UTF-8 has no lone surrogates: their bytes are sent percent-encoded.
  const encoded = text.includes('\0') ? 'a%00b' : 'a%ED%A0%80b';
  const dates = new URLSearchParams(DATES).toString();
  return names.map((name) => `${dates}&${name}=${encoded}`);
}

const routes = restRoutes().filter(({ name, surface }) => surface === 'management' && NOUNS.test(name));

for (const engine of DATABASES)
  describe.skipIf(engine.skipReason !== null)(`management routes on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let app: TestApp;
    beforeAll(async () => {
      scratch = await engine.create();
      app = await startApp(scratch.appOptions);
      for (const [path, body] of [
        ['/team/new', { team_id: 'x' }],
        ['/user/new', { user_id: 'x', auto_create_key: false }],
        ['/budget/new', { budget_id: 'x' }],
        ['/customer/new', { user_id: 'x' }],
        ['/tag/new', { name: 'x' }],
        ['/organization/new', { organization_id: 'x', organization_alias: 'x' }],
        ['/project/new', { project_id: 'x', team_id: 'x' }],
      ] as const) {
        // oxlint-disable-next-line no-await-in-loop -- rows refer to earlier rows
        const { status } = await app.call('POST', path, body);
        if (status !== 200) throw new Error(`${path} answered ${status}.`);
      }
    });
    afterAll(async () => {
      // A SQLite database is in the data folder, which `remove` deletes.
      await app.stop({ keepData: scratch.options.databaseUrl === null });
      await scratch.remove();
    });

    const pathOf = ({ paths }: RouteRow, value: string): string =>
      paths[0].replaceAll(/[{}]/g, '').replaceAll(/[:*](\w+)/g, value);

    async function failuresOf(row: RouteRow, text: string, offset: number): Promise<readonly string[]> {
      const requests: { readonly path: string; readonly body?: Json }[] = queriesOf(row, text).map((query) => ({
        path: `${pathOf(row, 'x')}?${query}`,
      }));
      if (/[:*]\w/.test(row.paths[0]))
        requests.push({ path: pathOf(row, text.includes('\0') ? 'a%00b' : 'a%ED%A0%80b') });
      if (row.method !== 'GET' && row.bodyLimit !== 0)
        for (const body of bodiesOf(row, text)) requests.push({ path: pathOf(row, 'x'), body });
      const failures = await Promise.all(
        sampled(requests, 4, offset).map(async ({ path, body }) => {
          const answer = await app.call(row.method, path, body);
          await answer.text();
          return answer.status < 500 ? [] : [`${row.name} ${path} ${JSON.stringify(body)}: ${answer.status}`];
        }),
      );
      return failures.flat();
    }

    it.each(TEXTS.map(([name, text], index) => [name, text, index] as const))(
      'answer %s in a member, a query or a path without a server error',
      async (_name, text, textIndex) => {
        const failures: string[] = [];
        // oxlint-disable-next-line no-await-in-loop -- a request may change data that the next route reads
        for (const [index, row] of routes.entries()) failures.push(...(await failuresOf(row, text, index + textIndex)));
        expect(failures).toEqual([]);
        expect(routes.length).toBeGreaterThan(60);
      },
    );
  });
