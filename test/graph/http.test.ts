import { serverAudits } from 'graphql-http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openGraph } from './graph-server.ts';

describe('GraphQL over HTTP', () => {
  let graph: Awaited<ReturnType<typeof openGraph>>;
  beforeAll(async () => {
    graph = await openGraph();
  });
  afterAll(() => graph.close());

  const audits = serverAudits({ url: () => graph.url });
  it('is tested by the audits of the specification', () => {
    expect(audits.filter(({ name }) => name.startsWith('MUST')).length).toBeGreaterThan(10);
  });
  // All audits must pass: MUST, SHOULD and MAY.
  it.each(audits)('$name', async (audit) => {
    const { status } = await audit.fn();
    expect(status).toBe('ok');
  });

  it.each([
    ['broken JSON', '{"query":', 'POST body sent invalid JSON.'],
    ['a body that is not an object', '"query"', 'POST body is expected to be object but received string'],
    ['a batch', '[{"query":"{ __typename }"}]', 'Batching is not supported.'],
  ])('answers %s with an error', async (_case, body, message) => {
    const answer = await graph.post(body);
    const { errors } = (await answer.json()) as { errors: readonly { message: string }[] };
    expect([answer.status, errors.map((error) => error.message)]).toEqual([400, [message]]);
  });

  it.each([
    ['a form, which any web page may send', 400, 'x-www-form-urlencoded', 'Send the operation as application/json.'],
    ['XML', 415, 'xml', 'Unsupported Media Type'],
  ])('refuses %s', async (_case, status, kind, message) => {
    const answer = await fetch(graph.url, {
      method: 'POST',
      headers: { 'content-type': `application/${kind}` },
      body: 'query=mutation{__typename}',
    });
    const { errors } = (await answer.json()) as { errors: readonly { message: string }[] };
    expect([answer.status, errors.map((error) => error.message)]).toEqual([status, [message]]);
  });

  it.each(['variables', 'extensions'])('refuses a query parameter `%s` that is not JSON', async (name) => {
    const answer = await fetch(`${graph.url}?query={__typename}&${name}=%7B`);
    expect([answer.status, await answer.json()]).toEqual([
      400,
      {
        errors: [
          { message: `The query parameter \`${name}\` is not valid JSON.`, extensions: { code: 'INVALID_INPUT' } },
        ],
      },
    ]);
  });

  it('answers DELETE with 405 and the allowed methods', async () => {
    const answer = await fetch(graph.url, { method: 'DELETE' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST']);
  });

  it('contains no HTTP status in its errors', async () => {
    const answers = await Promise.all(
      ['{ nope }', '{', '{ trace(id: "x") { name } }'].map((query) => graph.post(JSON.stringify({ query }))),
    );
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    for (const body of bodies) {
      expect(body).toContain('"code"');
      expect(body).not.toMatch(/"(http|status)"/);
    }
  });
});

describe('introspection', () => {
  let graph: Awaited<ReturnType<typeof openGraph>>;
  afterEach(() => graph.close());

  /** Messages of the errors, or the data of an answer without errors. */
  const messagesOrData = async (query: string) => {
    const { errors, data } = (await (await graph.post(JSON.stringify({ query }))).json()) as {
      readonly data?: unknown;
      readonly errors?: readonly { readonly message: string }[];
    };
    return errors?.map(({ message }) => message) ?? data;
  };

  it('is answered when it is enabled, and the error of a misspelt field suggests a name', async () => {
    graph = await openGraph();
    expect(await messagesOrData('{ __schema { queryType { name } } }')).toEqual({
      __schema: { queryType: { name: 'Query' } },
    });
    // New fields may add further suggestions. The nearest one comes first.
    expect(await messagesOrData('{ catalogEntrys { totalCount } }')).toEqual([
      expect.stringMatching(/^Cannot query field "catalogEntrys" on type "Query"\. Did you mean "catalogEntry", /),
    ]);
  });

  it('is refused when it is disabled, and no names are suggested', async () => {
    graph = await openGraph({ introspection: false });
    const refused = await messagesOrData('{ __schema { queryType { name } } }');
    // `__schema` and `queryType` cause an error each.
    expect(refused).toHaveLength(2);
    expect(refused).toContain(
      'GraphQL introspection has been disabled, but the requested query contained the field "__schema".',
    );
    expect(await messagesOrData('{ catalogEntrys { totalCount } }')).toEqual([
      'Cannot query field "catalogEntrys" on type "Query".',
    ]);
    expect(await messagesOrData('{ catalogEntries(firts: 1) { totalCount } }')).toEqual([
      'Unknown argument "firts" on field "Query.catalogEntries".',
    ]);
    expect(await messagesOrData('{ __typename }')).toEqual({ __typename: 'Query' });
  });

  it('is refused above the depth limit', async () => {
    graph = await openGraph();
    const fields = (levels: number): string => (levels === 0 ? 'name' : `fields { type { ${fields(levels - 1)} } }`);
    expect(await messagesOrData(`{ __schema { types { ${fields(5)} } } }`)).toEqual([
      'Maximum introspection depth exceeded',
    ]);
  });
});

describe('GraphiQL', () => {
  let graph: Awaited<ReturnType<typeof openGraph>>;
  afterEach(() => graph.close());

  const browse = (headers: Record<string, string> = {}) =>
    fetch(graph.url, { headers: { accept: 'text/html,*/*;q=0.8', ...headers } });

  it('is one compressed page without external files, with an ETag', async () => {
    graph = await openGraph({ graphiql: true });
    const first = await browse({ 'accept-encoding': 'br, gzip' });
    const html = await first.text();
    expect([first.status, first.headers.get('content-type'), first.headers.get('content-encoding')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'br',
    ]);
    expect(html).toContain('<label for="key">Key</label>');
    expect(html).not.toMatch(/<(script|link)[^>]+(src|href)="(https?:)?\/\//);
    const notModified = await browse({ 'if-none-match': first.headers.get('etag') ?? '' });
    expect([notModified.status, await notModified.text()]).toEqual([304, '']);
    const plain = await browse({ 'accept-encoding': 'identity' });
    expect([plain.headers.get('content-encoding'), (await plain.text()) === html]).toEqual([null, true]);
  });

  it('is not shown when it is disabled', async () => {
    graph = await openGraph({ graphiql: false });
    const answer = await browse();
    expect(await answer.json()).toMatchObject({ errors: [{ message: 'Must provide query string.' }] });
  });

  it('is shown at an address that contains a query', async () => {
    graph = await openGraph({ graphiql: true });
    const answer = await fetch(`${graph.url}?query=mutation{__typename}`, { headers: { accept: 'text/html' } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  });

  it('is not sent to a client that does not ask for HTML', async () => {
    graph = await openGraph({ graphiql: true });
    const answer = await fetch(`${graph.url}?query={__typename}`);
    expect(await answer.json()).toEqual({ data: { __typename: 'Query' } });
  });
});
