import { describe, expect, it } from 'vitest';
import { createHotRows, type Registration } from '../../../rest-shims/helpers/http/hot-rows.ts';
import type { RouteRow } from '../../../rest-shims/helpers/http/route.ts';
import { DEFAULT_ENDPOINT } from '../../../src/domain/pass-through/endpoint.ts';
import { passThroughRoutesOf } from '../../../src/domain/pass-through/routes.ts';

const registration = (path: string, row: Partial<RouteRow>): Registration => ({
  path,
  row: { name: path, method: 'POST', ...row } as RouteRow,
});

const ROWS: readonly Registration[] = [
  registration('/v1/chat/completions', { hot: true }),
  registration('/v1/decisions', { hot: true }),
  registration('/openai/deployments/:model/chat/completions', { hot: true }),
  registration('/openai/v1/responses', {}),
  registration('/openai/v1/responses/:id', { method: 'GET' }),
  registration('/v1/models', { method: 'GET' }),
  registration('/openai/{*subpath}', { method: 'GET' }),
  registration('/openai/{*subpath}', { name: 'forwarded', hot: true }),
  registration('/:server/mcp', { name: 'mcp' }),
];

/** Pass-through endpoint that the configuration defines at this path. */
const endpoint = (path: string, overrides: object = {}) => ({
  ...DEFAULT_ENDPOINT,
  id: path,
  path,
  target: 'https://target.example',
  headers: {},
  isFromConfig: true,
  ...overrides,
});

const PASS_THROUGH_ROUTES = passThroughRoutesOf([
  endpoint('/search'),
  endpoint('/below', { includeSubpath: true }),
  endpoint('/reads', { methods: ['GET'] }),
  endpoint('/v1/decisions'),
  endpoint('/v1/chat/completions'),
  endpoint('/v1/models'),
  endpoint('/tools/mcp'),
] as never);

describe('hot rows', () => {
  it.each([
    ['/v1/chat/completions', '/v1/chat/completions'],
    ['/openai/v1/chat/completions', 'forwarded'],
    ['/openai/v1beta/models/g-1:generateContent', 'forwarded'],
  ])('serve %s as %s', (path, name) => {
    const { rowOf, paths } = createHotRows(ROWS, undefined);
    expect([rowOf(path)?.name, paths.has(path)]).toEqual([name, true]);
  });

  it.each([
    ['a path whose first row is not hot', '/openai/v1/responses'],
    ['a path with a row of another method only', '/v1/models'],
    ['a path with a parameter', '/openai/deployments/gpt/chat/completions'],
    ['a path without a row', '/nothing'],
    ['a path where a parameter may be the name of a server', '/openai-tools/mcp'],
    ['a path with a dot segment', '/openai/../admin'],
    ['a path with a dot segment at its end', '/openai/v1/..'],
    ['a path with an empty segment', '/openai//v1/files'],
    ['a path with an escape', '/openai/v1%2f..%2fadmin'],
    ['a path with a query', '/openai/v1/files?key=1'],
    ['the prefix alone', '/openai'],
  ])('leave %s to Koa', (_case, path) => {
    const { rowOf, paths } = createHotRows(ROWS, undefined);
    expect([rowOf(path), paths.has(path)]).toEqual([null, false]);
  });

  it('include pass-through endpoints at paths without a row, and ones that replace the row of a decision', () => {
    const { rowOf } = createHotRows(ROWS, PASS_THROUGH_ROUTES);
    const requestPaths = [
      '/search',
      '/below/a/b',
      '/v1/decisions',
      '/v1/chat/completions',
      '/reads',
      '/search/',
      '/v1/models',
      '/tools/mcp',
      '/notes/mcp',
    ];
    expect(requestPaths.map((path) => rowOf(path)?.name ?? null)).toEqual([
      'passThrough.call',
      'passThrough.call',
      'passThrough.call',
      '/v1/chat/completions',
      null,
      null,
      null,
      'passThrough.call',
      null,
    ]);
  });

  it('leave a decision to Koa where a pass-through endpoint serves its path for other methods only', () => {
    const passThroughRoutes = passThroughRoutesOf([endpoint('/v1/decisions', { methods: ['GET'] })] as never);
    const { rowOf, paths } = createHotRows(ROWS, passThroughRoutes);
    expect([rowOf('/v1/decisions'), paths.has('/v1/decisions')]).toEqual([null, false]);
  });
});
