import { buildSchema, execute, GraphQLError, parse } from 'graphql';
import { expect, it } from 'vitest';
import { toGraphQLError } from '../../../schema/base/errors.ts';

const unexpectedErrors: unknown[] = [];
/** The error as a caller gets it. An unexpected error is recorded and has the request id `r-1`. */
const jsonOf = (error: unknown) =>
  toGraphQLError(error, (unexpected) => {
    unexpectedErrors.push(unexpected);
    return 'r-1';
  }).toJSON();

async function failureOf(query: string, rootValue: object, variableValues = {}): Promise<GraphQLError | undefined> {
  const schema = buildSchema('type Query { count(a: Int! = 1): Int }');
  const { errors } = await execute({ schema, document: parse(query), rootValue, variableValues });
  return errors?.[0];
}

it('a result that does not have the type of its field is an error of the server', async () => {
  unexpectedErrors.length = 0;
  const error = jsonOf(await failureOf('{ count }', { count: 'secret' }));
  expect(error).toMatchObject({
    message: 'Unexpected error.',
    path: ['count'],
    extensions: { code: 'INTERNAL', requestId: 'r-1' },
  });
  expect(unexpectedErrors).toEqual([expect.objectContaining({ message: expect.stringContaining('secret') as string })]);
});

it('null for a non-null argument is an error of the caller', async () => {
  unexpectedErrors.length = 0;
  const error = jsonOf(await failureOf('query ($a: Int) { count(a: $a) }', { count: 1 }, { a: null }));
  expect(error).toMatchObject({ path: ['count'], extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
  expect(unexpectedErrors).toEqual([]);
});

it.each([
  [undefined, 'GRAPHQL_VALIDATION_FAILED'],
  ['TOO_LARGE', 'TOO_LARGE'],
  ['BAD_REQUEST', 'INVALID_INPUT'],
  ['OPERATION_RESOLUTION_FAILURE', 'INVALID_INPUT'],
  ['toString', 'INTERNAL'],
])('an error of graphql-js with the code %s gets the code %s', (code, expected) => {
  const extensions = code === undefined ? {} : { code };
  expect(jsonOf(new GraphQLError('m', { extensions })).extensions?.['code']).toBe(expected);
});
