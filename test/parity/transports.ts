import type { TypedDocumentString } from '../graph/generated/graphql.ts';
import type { TestApp } from '../support/start-app.ts';

type Json = Readonly<Record<string, unknown>>;

/** Both transports of one server, called with the admin key. */
export const transportsOf = (app: TestApp) => ({
  async rest(path: string, body?: unknown): Promise<{ readonly status: number; readonly body: Json }> {
    const answer = await app.call(body === undefined ? 'GET' : 'POST', path, body);
    return { status: answer.status, body: (await answer.json()) as Json };
  },
  async graph<Data, Variables>(document: TypedDocumentString<Data, Variables>, variables: Variables) {
    const answer = await app.call('POST', '/graphql', { query: document.toString(), variables });
    return (await answer.json()) as {
      readonly data: Data;
      readonly errors?: readonly { readonly message: string; readonly extensions: Json }[];
    };
  },
});

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Renames the fields of a GraphQL object to the names of HTTP answers. */
export function inSnakeCase(fields: Json): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snake(name), value]));
}

/** Converts a decimal string to the number of the HTTP answer. */
export const asNumber = (decimal: unknown): number | null => (typeof decimal === 'string' ? Number(decimal) : null);
