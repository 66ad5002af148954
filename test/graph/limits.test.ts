import { buildSchema, parse } from 'graphql';
import { afterEach, describe, expect, it } from 'vitest';
import {
  MAX_CHARACTERS,
  MAX_FRAGMENT_FIELDS,
  MAX_FRAGMENTS,
  MAX_LITERAL_VALUES,
  MAX_NESTING,
  MAX_OPERATIONS,
  MAX_PAIRS,
  MAX_TOKENS,
  MAX_UNFOLDED,
} from '../../schema/base/document-limits.ts';
import { createLimitCheck, MAX_DEPTH, MAX_ERRORS, MAX_VARIABLE_VALUES } from '../../schema/base/limits.ts';
import { BODY_LIMIT } from '../../src/graphql/server.ts';
import { anEntry, openGraph } from './graph-server.ts';

let graph: Awaited<ReturnType<typeof openGraph>>;
afterEach(() => graph.close());

interface Answer {
  readonly status: number;
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code: string } }[];
}

async function ask(query: string, variables: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await graph.post(JSON.stringify({ query, variables }), headers);
  return { status: answer.status, ...((await answer.json()) as Omit<Answer, 'status'>) };
}

const refusalOf = ({ data, errors }: Answer) => [
  data,
  errors?.map(({ message, extensions }) => [message, extensions?.code]),
];

/** A document that opens two brackets for each level and closes none. */
const nested = (levels: number): string => '{ catalogEntries { '.concat('edges { node { '.repeat(levels), 'id');

describe('the cost of an operation', () => {
  const tenFields =
    'entryId provider mode maxInputTokens maxOutputTokens maxTokens inputCostPerToken outputCostPerToken supportsVision supportsReasoning';

  it('allows the largest page with ten and with fourteen fields', async () => {
    graph = await openGraph({ entries: [anEntry('gpt-4o')] });
    const fourteenFields = `${tenFields} supportsAudioInput supportsAudioOutput supportsPromptCaching extraFields`;
    for (const fields of [tenFields, fourteenFields]) {
      const { data } = await ask(`{ catalogEntries(first: 500) { edges { cursor node { ${fields} } } } }`);
      expect(data).toMatchObject({ catalogEntries: { edges: [{ node: { entryId: 'gpt-4o' } }] } });
    }
  });

  // A full page of catalog entries with one field costs 700: 500 fields, and 200 for the search.
  it('counts every alias', async () => {
    graph = await openGraph({ entries: [anEntry('gpt-4o')] });
    const pages = Array.from({ length: 43 }, (_, index) => `p${index}: catalogEntries(first: 500) { nodes { id } }`);
    expect(refusalOf(await ask(`{ ${pages.join(' ')} }`))).toEqual([
      undefined,
      [['The operation may cause 30100 fields; the limit is 30000. Ask for smaller pages.', 'TOO_LARGE']],
    ]);
    expect((await ask(`{ ${pages.slice(1).join(' ')} }`)).errors).toBeUndefined();
  });

  it('counts the page size from a variable', async () => {
    graph = await openGraph({ entries: [] });
    const query = `query Pages($first: Int) { ${Array.from(
      { length: 60 },
      (_, index) => `p${index}: catalogEntries(first: $first) { nodes { id } }`,
    ).join(' ')} }`;
    expect((await ask(query, { first: 10 })).errors).toBeUndefined();
    expect((await ask(query, { first: 500 })).errors?.[0]?.extensions?.code).toBe('TOO_LARGE');
  });

  it('is counted for the selected operation only', async () => {
    graph = await openGraph({ entries: [] });
    const pages = Array.from({ length: 43 }, (_, index) => `p${index}: catalogEntries(first: 500) { nodes { id } }`);
    const query = `query Small { catalogEntries { totalCount } } query Large { ${pages.join(' ')} }`;
    const choose = async (operationName: string) =>
      (await (await graph.post(JSON.stringify({ query, operationName }))).json()) as Answer;
    expect((await choose('Small')).errors).toBeUndefined();
    expect((await choose('Large')).errors?.[0]?.extensions?.code).toBe('TOO_LARGE');
  });

  // A model call costs 3,000, and its `__typename` 1.
  it('is above the limit for eleven model calls in one mutation', async () => {
    graph = await openGraph();
    const input = '{ model: "demo", messages: [] }';
    const calls = Array.from({ length: 11 }, (_, index) => `c${index}: chat(input: ${input}) { __typename }`);
    expect(refusalOf(await ask(`mutation { ${calls.join(' ')} }`))).toEqual([
      undefined,
      [['The operation may cause 33011 fields; the limit is 30000. Ask for smaller pages.', 'TOO_LARGE']],
    ]);
  });

  it.each(['/graphql', '/graphql/stream'])('is checked before a subscription begins, on %s', async (path) => {
    graph = await openGraph();
    const spans = Array.from({ length: 1_600 }, (_, index) => `s${index}: spans { nodes { spanId } }`);
    const answer = await fetch(graph.url.replace('/graphql', path), {
      method: 'POST',
      body: JSON.stringify({ query: `subscription { traceUpdates { trace { ${spans.join(' ')} } } }` }),
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: 'Bearer sk-admin' },
    });
    expect(await answer.text()).toContain('"code":"TOO_LARGE"');
    expect(graph.bus.subscriberCount()).toBe(0);
  });
});

describe('the depth of an operation', () => {
  // A minimal schema with a cycle.
  const circle = buildSchema('type Query { self: Query, id: ID }');
  const deep = (depth: number) =>
    createLimitCheck(circle)({ document: parse(`${'{ self '.repeat(depth - 1)} { id } ${'}'.repeat(depth - 1)}`) });

  it('may reach the limit but not exceed it', async () => {
    graph = await openGraph();
    expect([deep(MAX_DEPTH), deep(MAX_DEPTH + 1)?.message]).toEqual([
      null,
      `The operation is ${MAX_DEPTH + 1} fields deep; the limit is ${MAX_DEPTH}.`,
    ]);
  });
});

describe('a document that could block the server', () => {
  it.each([
    ['brackets of selections', nested(MAX_NESTING)],
    ['brackets of values', `{ catalogEntry(id: ${'['.repeat(MAX_NESTING)}`],
    ['a hundred thousand brackets', `{${'a{'.repeat(100_000)}`],
  ])('is refused when it nests deeper than is safe to parse: %s', async (_case, query) => {
    graph = await openGraph();
    expect(refusalOf(await ask(query))).toEqual([
      undefined,
      [[`The document nests brackets deeper than ${MAX_NESTING}.`, 'TOO_LARGE']],
    ]);
  });

  it('is refused above the limit of tokens', async () => {
    graph = await openGraph();
    const query = `{ catalogEntries { totalCount ${'totalCount '.repeat(MAX_TOKENS)} } }`;
    expect(refusalOf(await ask(query))).toEqual([
      undefined,
      [[`The document has more than ${MAX_TOKENS} tokens.`, 'TOO_LARGE']],
    ]);
  });

  it('is refused after too many comparisons of fields', async () => {
    graph = await openGraph();
    // The field is valid, but graphql compares each pair of its repetitions. It aborts at its own limit of comparisons.
    const repeatedField = 'id '.repeat(MAX_TOKENS - 20);
    expect(refusalOf(await ask(`{ catalogEntry(id: "x") { ${repeatedField} } }`))).toEqual([
      undefined,
      [
        [
          'The document repeats fields or fragments so often that its validation takes too many comparisons. Select each field once in a set, spread fewer fragments, or split the document.',
          'TOO_LARGE',
        ],
      ],
    ]);
  });

  it('is refused when a fragment contains itself', async () => {
    graph = await openGraph();
    const { errors } = await ask('{ catalogEntry(id: "x") { ...A } } fragment A on CatalogEntry { ...A }');
    expect(errors?.map(({ message }) => message)).toEqual(['Cannot spread fragment "A" within itself.']);
  });
});

describe('a document', () => {
  const joined = (count: number, make: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => make(index)).join(' ');
  const entries = (index: number): string => `catalogEntry(id: "${index}") { id }`;

  it.each([
    [
      'characters',
      `{ catalogEntry(id: "${'x'.repeat(MAX_CHARACTERS)}") { id } }`,
      `The document has more than ${MAX_CHARACTERS} characters. Send long texts as variables.`,
    ],
    [
      'operations',
      joined(MAX_OPERATIONS + 1, (index) => `query Q${index} { __typename }`),
      `The document has more than ${MAX_OPERATIONS} operations.`,
    ],
    [
      'fragments',
      `{ __typename } ${joined(MAX_FRAGMENTS + 1, (index) => `fragment F${index} on Query { __typename }`)}`,
      `The document has more than ${MAX_FRAGMENTS} fragments.`,
    ],
    [
      'fields to compare in fragments',
      `{ __typename } ${joined(150, (index) => `fragment F${index} on CatalogEntry { ${'id '.repeat(10)}}`)}`,
      `The fragments have too many fields: more than ${MAX_FRAGMENT_FIELDS} to compare in pairs.`,
    ],
    [
      'values in a literal',
      `{ catalogEntries(where: { capabilities: [${'VISION '.repeat(MAX_LITERAL_VALUES)}] }) { totalCount } }`,
      `A literal has more than ${MAX_LITERAL_VALUES} values. Send it as a variable.`,
    ],
    [
      'values in a default',
      `query($names: [String!] = [${'"x" '.repeat(MAX_LITERAL_VALUES)}]) { __typename }`,
      `A literal has more than ${MAX_LITERAL_VALUES} values. Send it as a variable.`,
    ],
    [
      'unfolded selections',
      `{ ${joined(150, (index) => `a${index}: catalogEntries { nodes { ...F } }`)} } fragment F on CatalogEntry { ${joined(150, (index) => `b${index}: id`)} }`,
      `The document unfolds to more than ${MAX_UNFOLDED} selections.`,
    ],
    [
      'selections of one name',
      `{ ${joined(400, entries)} }`,
      `The document selects the same names too often: more than ${MAX_PAIRS} pairs to compare. Select each field once in a set, or split the document.`,
    ],
  ])('cannot exceed the limit of %s', async (_name, query, message) => {
    graph = await openGraph();
    expect(refusalOf(await ask(query))).toEqual([undefined, [[message, 'TOO_LARGE']]]);
  });

  it('may have as many operations as the limit allows, and a chain of 100 fragments', async () => {
    graph = await openGraph({ entries: [] });
    const operations = joined(MAX_OPERATIONS, (index) => `query Q${index} { ...F0 }`);
    const fragments = joined(99, (index) => `fragment F${index} on Query { ...F${index + 1} }`);
    const query = `${operations} ${fragments} fragment F99 on Query { catalogEntries { totalCount } }`;
    const answer = await graph.post(JSON.stringify({ query, operationName: 'Q1' }));
    expect(await answer.json()).toEqual({ data: { catalogEntries: { totalCount: 0 } } });
  });

  it('with many errors gets the first errors, then one that the limit is reached', async () => {
    graph = await openGraph();
    const { errors = [] } = await ask(`{ ${joined(500, (index) => `unknown${index}`)} }`);
    expect([errors.length, errors[0]?.message, errors.at(-1)?.message]).toEqual([
      MAX_ERRORS + 1,
      'Cannot query field "unknown0" on type "Query".',
      'Too many validation errors, error limit reached. Validation aborted.',
    ]);
  });

  it('with an error in a large value gets a part of the value in the message', async () => {
    graph = await openGraph();
    const { errors = [] } = await ask(`{ catalogEntries(filter: "${'x'.repeat(5_000)}") { totalCount } }`);
    // 1,000 characters of the message, then `...`.
    expect(errors.map(({ message }) => message.length)).toEqual([1_003]);
    const [fault] =
      (
        await ask('query($w: CatalogEntryFilter) { catalogEntries(filter: $w) { totalCount } }', {
          w: 'x'.repeat(5_000),
        })
      ).errors ?? [];
    expect([fault?.message.length, fault?.message.startsWith('Variable "$w" has invalid value')]).toEqual([
      1_003,
      true,
    ]);
  });

  it('with many lines gets errors without locations', async () => {
    graph = await openGraph();
    const locations = async (lines: number): Promise<unknown> =>
      ((await ask(`${'\n'.repeat(lines)}{ unknown }`)).errors as unknown as { locations?: unknown }[])[0]?.locations;
    expect([await locations(10), await locations(3_000)]).toEqual([[{ line: 11, column: 3 }], undefined]);
  });
});

describe('the variables of a request', () => {
  const query = 'query($w: CatalogEntryFilter) { catalogEntries(filter: $w) { totalCount } }';
  const values = (count: number): object => ({ w: { capabilities: Array.from({ length: count }, () => 'VISION') } });

  it('cannot exceed the limit of values', async () => {
    graph = await openGraph({ entries: [] });
    // The filter and its list are values, too.
    expect((await ask(query, values(MAX_VARIABLE_VALUES - 2))).errors).toBeUndefined();
    expect(refusalOf(await ask(query, values(MAX_VARIABLE_VALUES)))).toEqual([
      undefined,
      [[`The variables hold more than ${MAX_VARIABLE_VALUES} values.`, 'TOO_LARGE']],
    ]);
  });

  it('cannot exceed the limit of depth', async () => {
    graph = await openGraph({ entries: [] });
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(MAX_NESTING + 2)}1${'}'.repeat(MAX_NESTING + 2)}`);
    expect(refusalOf(await ask('{ __typename }', { deep }))).toEqual([
      undefined,
      [[`The variables nest deeper than ${MAX_NESTING}.`, 'TOO_LARGE']],
    ]);
  });

  it.each(['', '/stream'])('are refused before a large request is parsed, on /graphql%s', async (path) => {
    graph = await openGraph();
    const body = JSON.stringify({
      query: '{ __typename }',
      variables: { x: Array.from({ length: 100_000 }, () => 1) },
    });
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    const answer = await fetch(`${graph.url}${path}`, { method: 'POST', body, headers });
    expect([answer.status, await answer.json()]).toEqual([
      413,
      {
        errors: [
          { message: `The request holds more than ${MAX_VARIABLE_VALUES} values.`, extensions: { code: 'TOO_LARGE' } },
        ],
      },
    ]);
  });
});

describe('the size of a request', () => {
  const padded = (bytes: number): string => {
    const empty = JSON.stringify({ query: '{ __typename }', extensions: { padding: '' } });
    return empty.replace('"padding":""', `"padding":"${'x'.repeat(bytes - empty.length)}"`);
  };

  it('may be one megabyte', async () => {
    graph = await openGraph();
    const answer = await graph.post(padded(BODY_LIMIT));
    expect([answer.status, await answer.json()]).toEqual([200, { data: { __typename: 'Query' } }]);
  });

  it.each(['', '/stream'])(
    'may not exceed one megabyte, with or without a content length, on /graphql%s',
    async (path) => {
      graph = await openGraph();
      const body = padded(BODY_LIMIT + 1);
      const headers = { 'content-type': 'application/json' };
      const send = async (content: BodyInit) => {
        const answer = await fetch(`${graph.url}${path}`, {
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
    },
  );
});
