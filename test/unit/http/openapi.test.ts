import { expect, it } from 'vitest';
import { openApiDocument } from '../../../rest-shims/openapi.ts';
import { restRoutes } from '../../../src/http/routes.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
  readonly parameters?: readonly { readonly name: string }[];
  readonly security: readonly object[];
}
const document = openApiDocument(restRoutes);
const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
const operations = Object.values(paths).flatMap((methods) => Object.values(methods));

it('every path, method and promised status of the rows is documented', async () => {
  const lines = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { operationId, responses, security }]) =>
          `${method.toUpperCase()} ${path} ${operationId} ${Object.keys(responses).join(',')}${security.length === 0 ? ' open' : ''}`,
      ),
    )
    .toSorted();
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('openapi-operations.txt');
  const promised = restRoutes.flatMap(({ method, paths: own, answers }) =>
    own.map((path) => ({ method: method.toLowerCase(), path: path.replaceAll(/\{?[:*](\w+)\}?/g, '{$1}'), answers })),
  );
  const missing = promised.filter(({ method, path }) => paths[path]?.[method] === undefined);
  expect(missing).toEqual([]);
  // Of two rows with one path in the notation of OpenAPI the first is documented.
  const first = [...Map.groupBy(promised, ({ method, path }) => `${method} ${path}`).values()].map(([one]) => one);
  expect(first.map((one) => Object.keys(paths[one?.path ?? '']?.[one?.method ?? '']?.responses ?? {}))).toEqual(
    first.map((one) => one?.answers.map(String).toSorted()),
  );
});

it('operations have ids of their own, a summary, and a meaning for each status', () => {
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

it('parameters of a path are those that it names', () => {
  for (const [path, methods] of Object.entries(paths))
    for (const { parameters = [] } of Object.values(methods))
      expect(parameters.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
});
