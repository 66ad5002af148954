import { buildSchema, type GraphQLField, isRequiredArgument } from 'graphql';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const text = readFileSync(join(import.meta.dirname, '..', '..', 'schema.graphql'), 'utf8');
const fields = Object.values(buildSchema(text).getQueryType()?.getFields() ?? {});
/** Whether a query may call the field with this argument alone. */
const takesOnly = (field: GraphQLField<unknown, unknown>, argument: string): boolean =>
  field.args.some(({ name }) => name === argument) &&
  field.args.every((arg) => arg.name === argument || !isRequiredArgument(arg));

/** A size below and a size above the bounds, for each field of Query with `first` or `last`. */
const REFUSED = ['first', 'last'].flatMap((argument) =>
  fields
    .filter((field) => takesOnly(field, argument))
    .flatMap(({ name }) => [-1, 2_147_483_647].map((size) => [name, argument, size] as const)),
);

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ env: { LITELLM_SALT_KEY: 'a-salt-key' } });
});
afterAll(() => app.stop());

describe('the size of a page', () => {
  it('is tested for many arguments', () => {
    expect(REFUSED.length).toBeGreaterThan(50);
  });

  it.each(REFUSED)('%s(%s: %i) is refused with the name and bounds of the argument', async (field, argument, size) => {
    const answer = await app.call('POST', '/graphql', { query: `{ ${field}(${argument}: ${size}) { __typename } }` });
    const { errors } = (await answer.json()) as { errors: readonly object[] };
    const message = expect.stringMatching(new RegExp(`^\`${argument}\` must be between [01] and \\d+\\.$`));
    const bounds = expect.stringMatching(/^must be between [01] and \d+$/);
    expect(errors).toMatchObject([
      {
        message,
        path: [field],
        extensions: { code: 'INVALID_INPUT', issues: [{ path: [argument], rule: 'range', message: bounds }] },
      },
    ]);
  });
});
