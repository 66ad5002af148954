import { buildSchema, parse } from 'graphql';
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_DEPTH, MAX_NESTING, MAX_TOKENS, overLimit } from '../../schema/limits.ts';
import { BODY_LIMIT } from '../../src/graphql.ts';
import { anEntry, openGraph } from './graph-house.ts';

let house: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => house.close());

interface Answer {
  readonly status: number;
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code: string } }[];
}

async function ask(query: string, variables: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await house.post(JSON.stringify({ query, variables }), headers);
  return { status: answer.status, ...((await answer.json()) as Omit<Answer, 'status'>) };
}

const refusalOf = ({ data, errors }: Answer) => [
  data,
  errors?.map(({ message, extensions }) => [message, extensions?.code]),
];

const nested = (levels: number): string => '{ catalogEntries { '.concat('edges { node { '.repeat(levels), 'id');

describe('the cost of an operation', () => {
  const tenFields =
    'id provider mode maxInputTokens maxOutputTokens maxTokens inputCostPerToken outputCostPerToken supportsVision supportsReasoning';

  it('lets the largest page pass with ten fields, and with all of them', async () => {
    house = await openGraph({ entries: [anEntry('gpt-4o')] });
    const all = `${tenFields} supportsAudioInput supportsAudioOutput supportsPromptCaching extraFields`;
    for (const fields of [tenFields, all]) {
      const { data } = await ask(`{ catalogEntries(first: 500) { edges { cursor node { ${fields} } } } }`);
      expect(data).toMatchObject({ catalogEntries: { edges: [{ node: { id: 'gpt-4o' } }] } });
    }
  });

  it('counts every alias', async () => {
    house = await openGraph({ entries: [anEntry('gpt-4o')] });
    const pages = Array.from({ length: 43 }, (_, index) => `p${index}: catalogEntries(first: 500) { nodes { id } }`);
    expect(refusalOf(await ask(`{ ${pages.join(' ')} }`))).toEqual([
      undefined,
      [['The operation may cause 30100 fields; the limit is 30000. Ask for smaller pages.', 'TOO_LARGE']],
    ]);
    expect((await ask(`{ ${pages.slice(1).join(' ')} }`)).errors).toBeUndefined();
  });

  it('counts pages by their variables', async () => {
    house = await openGraph({ entries: [] });
    const query = `query Pages($first: Int) { ${Array.from(
      { length: 60 },
      (_, index) => `p${index}: catalogEntries(first: $first) { nodes { id } }`,
    ).join(' ')} }`;
    expect((await ask(query, { first: 10 })).errors).toBeUndefined();
    expect((await ask(query, { first: 500 })).errors?.[0]?.extensions?.code).toBe('TOO_LARGE');
  });

  it('holds for the operation that is chosen', async () => {
    house = await openGraph({ entries: [] });
    const pages = Array.from({ length: 43 }, (_, index) => `p${index}: catalogEntries(first: 500) { nodes { id } }`);
    const query = `query Small { catalogEntries { totalCount } } query Large { ${pages.join(' ')} }`;
    const choose = async (operationName: string) =>
      (await (await house.post(JSON.stringify({ query, operationName }))).json()) as Answer;
    expect((await choose('Small')).errors).toBeUndefined();
    expect((await choose('Large')).errors?.[0]?.extensions?.code).toBe('TOO_LARGE');
  });

  it('is refused before a model is called', async () => {
    house = await openGraph();
    const input = '{ model: "demo", messages: [] }';
    const calls = Array.from({ length: 11 }, (_, index) => `c${index}: chat(input: ${input}) { __typename }`);
    expect(refusalOf(await ask(`mutation { ${calls.join(' ')} }`))).toEqual([
      undefined,
      [['The operation may cause 33011 fields; the limit is 30000. Ask for smaller pages.', 'TOO_LARGE']],
    ]);
  });

  it.each(['/graphql', '/graphql/stream'])('is refused before a subscription begins, on %s', async (path) => {
    house = await openGraph();
    const spans = Array.from({ length: 1_600 }, (_, index) => `s${index}: spans { spanId }`);
    const answer = await fetch(house.url.replace('/graphql', path), {
      method: 'POST',
      body: JSON.stringify({ query: `subscription { traceUpdates { trace { ${spans.join(' ')} } } }` }),
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: 'Bearer sk-admin' },
    });
    expect(await answer.text()).toContain('"code":"TOO_LARGE"');
    expect(house.bus.subscriberCount()).toBe(0);
  });
});

describe('the depth of an operation', () => {
  // The graph has no circle to go down in yet, so this is one that has.
  const circle = buildSchema('type Query { self: Query, id: ID }');
  const deep = (depth: number) =>
    overLimit(circle, { document: parse(`${'{ self '.repeat(depth - 1)} { id } ${'}'.repeat(depth - 1)}`) });

  it('may reach the limit and go no further', async () => {
    house = await openGraph();
    expect([deep(MAX_DEPTH), deep(MAX_DEPTH + 1)?.message]).toEqual([
      null,
      `The operation is ${MAX_DEPTH + 1} fields deep; the limit is ${MAX_DEPTH}.`,
    ]);
  });
});

describe('the size of a document', () => {
  it.each([
    ['brackets of selections', nested(MAX_NESTING)],
    ['brackets of values', `{ catalogEntry(id: ${'['.repeat(MAX_NESTING)}`],
    ['a hundred thousand brackets', `{${'a{'.repeat(100_000)}`],
  ])('may not nest deeper than is safe to parse: %s', async (_case, query) => {
    house = await openGraph();
    expect(refusalOf(await ask(query))).toEqual([
      undefined,
      [[`The document nests brackets deeper than ${MAX_NESTING}.`, 'TOO_LARGE']],
    ]);
  });

  it('may not have more tokens than anyone needs', async () => {
    house = await openGraph();
    const query = `{ catalogEntries { totalCount ${'totalCount '.repeat(MAX_TOKENS)} } }`;
    expect(refusalOf(await ask(query))).toEqual([
      undefined,
      [[`The document has more than ${MAX_TOKENS} tokens.`, 'TOO_LARGE']],
    ]);
  });

  it('is not validated to its end when it is hopeless', async () => {
    house = await openGraph();
    const same = 'id '.repeat(MAX_TOKENS - 20);
    const { errors } = await ask(`{ catalogEntry(id: "x") { ${same} } }`);
    expect(errors?.map(({ message }) => message)).toEqual(['Validation aborted.']);
  });

  it('may not go in circles', async () => {
    house = await openGraph();
    const { errors } = await ask('{ catalogEntry(id: "x") { ...A } } fragment A on CatalogEntry { ...A }');
    expect(errors?.map(({ message }) => message)).toEqual(['Cannot spread fragment "A" within itself.']);
  });
});

describe('the size of a request', () => {
  const padded = (bytes: number): string => {
    const empty = JSON.stringify({ query: '{ __typename }', extensions: { padding: '' } });
    return empty.replace('"padding":""', `"padding":"${'x'.repeat(bytes - empty.length)}"`);
  };

  it('may be a megabyte', async () => {
    house = await openGraph();
    const answer = await house.post(padded(BODY_LIMIT));
    expect([answer.status, await answer.json()]).toEqual([200, { data: { __typename: 'Query' } }]);
  });

  it.each(['', '/stream'])('may not be more, declared or not, on /graphql%s', async (path) => {
    house = await openGraph();
    const body = padded(BODY_LIMIT + 1);
    const headers = { 'content-type': 'application/json' };
    const send = async (content: BodyInit) => {
      const answer = await fetch(`${house.url}${path}`, {
        method: 'POST',
        body: content,
        headers,
        duplex: 'half',
      } as RequestInit);
      const { errors } = (await answer.json()) as Answer;
      return [answer.status, answer.headers.get('content-type'), errors?.map(({ extensions }) => extensions?.code)];
    };
    const refused = [413, 'application/json; charset=utf-8', ['TOO_LARGE']];
    expect([await send(body), await send(new Blob([body]).stream())]).toEqual([refused, refused]);
  });
});
