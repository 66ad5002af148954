import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { ANSWER_TYPES } from '../../../rest-shims/helpers/openapi/answer-types.ts';
import { documentedStatuses, openApiDocument } from '../../../rest-shims/helpers/openapi/document.ts';
import { restRoutes } from '../../../src/http/routes.ts';
import { createAnswerCheck } from '../../support/documented-answers.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly security: readonly object[];
}
const document = openApiDocument(restRoutes());
const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
/** A path of a route row in the notation of OpenAPI. */
const withBraces = (path: string): string => path.replaceAll(/\{?[:*](\w+)\}?/g, '{$1}');
/** An OpenAPI path without the names of its parameters. */
const shapeOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');
const byShape = new Map(Object.entries(paths).map(([path, methods]) => [shapeOf(path), methods]));

it('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const json = JSON.parse(JSON.stringify(document)) as Record<string, unknown>;
  expect(await validator.validate(json)).toEqual({ valid: true });
  expect(await validator.validate({ ...json, paths: { '/x': { get: { responses: 7 } } } })).toMatchObject({
    valid: false,
  });
});

/** Whether an operation can be called without a key. */
const isOpen = (security: readonly object[]): boolean =>
  security.length === 0 || security.some((requirement) => Object.keys(requirement).length === 0);

it('every path, method and answer status of the route rows is documented', async () => {
  const lines = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { operationId, responses, security }]) =>
          `${method.toUpperCase()} ${path} ${operationId} ${Object.keys(responses).join(',')}${isOpen(security) ? ' open' : ''}`,
      ),
    )
    .toSorted();
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('openapi-operations.txt');
  const rowPaths = restRoutes().flatMap((row) =>
    row.paths.map((path) => ({ method: row.method.toLowerCase(), path: shapeOf(withBraces(path)), row })),
  );
  // The first of two rows with the same OpenAPI path is documented.
  const documentedRows = [...Map.groupBy(rowPaths, ({ method, path }) => `${method} ${path}`).values()].flatMap(
    ([row]) => row ?? [],
  );
  for (const { method, path, row } of documentedRows) {
    const documented = Object.keys(byShape.get(path)?.[method]?.responses ?? {}).filter(
      (status) => status !== 'default',
    );
    expect(documented).toEqual(documentedStatuses(row).map(String));
    expect(documented).toEqual(expect.arrayContaining(row.statuses.map(String)));
  }
});

it('operations have unique ids, a summary, and a description of each status', () => {
  const ids = operations.map(({ operationId }) => operationId);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  expect(operations.filter(({ summary }) => summary === '')).toEqual([]);
  const vague = operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { description }]) =>
      description === 'See the message.' ? [`${operationId} ${status}`] : [],
    ),
  );
  expect(vague).toEqual([]);
});

it('path parameters are the parameters of the path template, and no two templates differ in parameter names only', () => {
  for (const [path, methods] of Object.entries(paths))
    for (const { parameters = [] } of Object.values(methods))
      expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`)).toEqual(
        path.match(/\{\w+\}/g) ?? [],
      );
  expect(new Set(Object.keys(paths).map(shapeOf)).size).toBe(Object.keys(paths).length);
});

it('each component is used', () => {
  const { schemas } = document['components'] as { readonly schemas: Readonly<Record<string, object>> };
  const text = JSON.stringify(document);
  expect(Object.keys(schemas).filter((name) => !text.includes(`"#/components/schemas/${name}"`))).toEqual([]);
});

/** Schemas in a value of the document whose default is below their minimum, as JSON texts. */
function defaultsBelowMinimum(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { minimum, default: defaultValue } = value as { readonly minimum?: unknown; readonly default?: unknown };
  const isBelow = typeof minimum === 'number' && typeof defaultValue === 'number' && defaultValue < minimum;
  return [...(isBelow ? [JSON.stringify(value)] : []), ...Object.values(value).flatMap(defaultsBelowMinimum)];
}

it('no schema of the document has a default below its minimum', () => {
  expect(defaultsBelowMinimum({ a: [{ minimum: 1, default: 0 }] })).toEqual(['{"minimum":1,"default":0}']);
  expect(defaultsBelowMinimum(document)).toEqual([]);
});

describe('documented types', () => {
  it('exist for the members of each JSON body that a row reads', () => {
    const undocumented = restRoutes().filter(
      ({ method, bodyLimit, bodySchema }) => method !== 'GET' && bodyLimit !== 0 && bodySchema === undefined,
    );
    // Signed webhooks of other services, the form of `checkout.replace`, and rows that read no body.
    expect(undocumented.map(({ name }) => name).toSorted()).toMatchInlineSnapshot(`
      [
        "a2aAgents.delete",
        "a2aAgents.publish",
        "a2aAgents.stop",
        "batches.cancel",
        "cache.flush",
        "checkout.create",
        "checkout.replace",
        "checkout.webhook",
        "codingAgents.webhook",
        "evalRuns.cancel",
        "fineTuningJobs.cancel",
        "fineTuningJobs.pause",
        "fineTuningJobs.resume",
        "interactions.cancel",
        "keys.health",
        "lens.cancel",
        "lens.deleteFeedback",
        "lens.deleteTracingKey",
        "lens.revokeWorker",
        "lens.watchAll",
        "lensWorker.claim",
        "lensWorker.heartbeat",
        "mcpProtocol.end",
        "mcpSessions.end",
        "messages.cancelBatch",
        "messages.createBatch",
        "messages.deleteBatch",
        "passThroughEndpoints.delete",
        "responses.cancel",
        "service.clientEvents",
        "settings.deleteHashicorpVault",
        "settings.resetEmailEvents",
        "signIn.cliStart",
        "signIn.end",
        "spend.refresh",
        "spend.reset",
        "teamLogging.disable",
        "teamLogging.removeCallback",
      ]
    `);
  });

  it('exist for each successful answer whose body does not come from an upstream, and belong to a row', () => {
    const untyped = restRoutes().filter(
      ({ name, statuses, relays }) =>
        relays !== 'answers' &&
        ANSWER_TYPES[name] === undefined &&
        statuses.some((status) => status >= 200 && status < 300 && status !== 204),
    );
    expect(untyped.map(({ name }) => name)).toEqual([]);
    const names = new Set(restRoutes().map(({ name }) => name));
    expect(Object.keys(ANSWER_TYPES).filter((key) => !names.has(key.split(' ', 1)[0] ?? ''))).toEqual([]);
  });

  it('have the query parameters and members of bodies that the parsers read', () => {
    expect(paths['/audit']?.['get']?.parameters?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['page', 'page_size', 'action', 'object_id']),
    );
    expect(paths['/customer/info']?.['get']?.parameters).toEqual([
      { name: 'end_user_id', in: 'query', required: true, schema: { type: 'string' } },
    ]);
    expect(paths['/organization/delete']?.['delete']?.requestBody?.content['application/json']?.schema).toEqual({
      type: 'object',
      properties: { organization_ids: { type: 'array', items: { type: 'string' } } },
      required: ['organization_ids'],
    });
  });
});

describe('the check of answers', () => {
  const check = createAnswerCheck();
  const response = { method: 'GET', path: '/budget/list', status: 200, contentType: 'application/json', text: '[]' };

  it.each([
    ['a status', { status: 418 }, /418: the status is not documented/],
    ['a media type', { contentType: 'text/html' }, /the media type text\/html is not documented/],
    ['a body', { text: '[{"budget_id":7}]' }, /budgets\.list 200: \/0/],
    ['a failure', { status: 401, text: '{"oops":1}' }, /budgets\.list 401/],
  ])('reports %s that the document does not describe', (_what, change, expected) => {
    expect(check(response)).toBeNull();
    expect(check({ ...response, ...change })).toMatch(expected);
  });

  it('finds the operation of a path with parameters and of a path with a wildcard', () => {
    expect(check({ ...response, path: '/audit/1', status: 418 })).toMatch(/^auditLog\.get/);
    expect(check({ ...response, path: '/v1/models/a/b', status: 418 })).toMatch(/^models\.get/);
    expect(check({ ...response, path: '/v1/files/a/content', status: 418 })).toMatch(/^files\.content/);
    expect(check({ ...response, path: '/nothing', status: 418 })).toBeNull();
  });
});
