import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

interface SchemaType {
  readonly name: string;
  readonly possibleTypes: readonly { readonly name: string }[] | null;
}

let app: TestApp;
/** Names of the object types of each interface and union. Apollo's cache needs them for fragments on abstract types. */
let possibleTypes: Record<string, string[]>;
/** Content types of the answers, in their order. */
const contentTypes: (string | null)[] = [];

beforeAll(async () => {
  app = await startApp({ env: { LENSGATE_LENS_WORKER_SLOTS: '0' } });
  const query = '{ schema: __schema { types { name possibleTypes { name } } } }';
  const { data } = (await (await app.call('POST', '/graphql', { query })).json()) as {
    readonly data: { readonly schema: { readonly types: readonly SchemaType[] } };
  };
  const abstractTypes = data.schema.types.filter((type) => type.possibleTypes !== null);
  possibleTypes = Object.fromEntries(
    abstractTypes.map((type) => [type.name, type.possibleTypes?.map(({ name }) => name) ?? []]),
  );
});
afterAll(() => app.stop());

/** Apollo Client as its documentation sets it up: one HttpLink for all operations. */
function aClient(key = app.adminKey, ...before: readonly ApolloLink[]): ApolloClient {
  const link = new HttpLink({
    uri: `${app.url}/graphql`,
    headers: { authorization: `Bearer ${key}` },
    async fetch(url, options) {
      const answer = await fetch(url, options);
      contentTypes.push(answer.headers.get('content-type'));
      return answer;
    },
  });
  return new ApolloClient({ cache: new InMemoryCache({ possibleTypes }), link: ApolloLink.from([...before, link]) });
}

const CHAT = gql`
  mutation ($input: ChatInput!) {
    chat(input: $input) {
      ... on ChatCompletion {
        text
        traceId
      }
      ... on UserError {
        message
      }
    }
  }
`;
const TRACES = gql`
  query {
    traces(first: 5, filter: { internal: false }) {
      totalCount
      nodes {
        id
        name
        costUsd
      }
    }
  }
`;
const CHAT_STREAM = gql`
  subscription ($input: ChatInput!) {
    chatStream(input: $input) {
      __typename
      ... on ChatStep {
        textSoFar
      }
      ... on ChatFailure {
        code
      }
    }
  }
`;
const TRACE_UPDATES = gql`
  subscription {
    traceUpdates {
      trace {
        id
        name
      }
    }
  }
`;

const inputOf = (content: string) => ({
  input: { model: 'demo', messages: [{ role: 'USER', content }] },
});

describe('Apollo Client', () => {
  it('runs mutations and queries, and caches objects by their global ids', async () => {
    const client = aClient();
    const { data } = await client.mutate<{ readonly chat: { readonly text: string } }>({
      mutation: CHAT,
      variables: inputOf('Hello'),
    });
    expect(data?.chat.text).toMatch(/./);
    const found = await client.query<{
      readonly traces: { readonly totalCount: number; readonly nodes: readonly { readonly id: string }[] };
    }>({ query: TRACES });
    expect(found.data?.traces.totalCount).toBeGreaterThan(0);
    const [first] = found.data?.traces.nodes ?? [];
    expect(Object.keys(client.cache.extract() as object)).toContain(`Trace:${first?.id}`);
    client.stop();
  });

  it.each([false, true])(
    'sends whole documents after the server refuses the first persisted query (GET: %s)',
    async (useGETForHashedQueries) => {
      const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
      const client = aClient(app.adminKey, new PersistedQueryLink({ sha256, useGETForHashedQueries }));
      contentTypes.length = 0;
      const ask = () => client.query({ query: TRACES, fetchPolicy: 'network-only' });
      expect((await ask()).data).toMatchObject({ traces: { nodes: expect.any(Array) as unknown } });
      // A refused hash, then the whole document.
      expect(contentTypes).toHaveLength(2);
      expect((await ask()).error).toBeUndefined();
      // Only the whole document.
      expect(contentTypes).toHaveLength(3);
      client.stop();
    },
  );

  it('subscribes to a streamed chat over multipart HTTP, to its end', async () => {
    const client = aClient();
    contentTypes.length = 0;
    const texts: string[] = [];
    const ended = Promise.withResolvers<void>();
    client
      .subscribe<{ readonly chatStream: { readonly __typename: string; readonly textSoFar?: string } }>({
        query: CHAT_STREAM,
        variables: inputOf('Tell me a story'),
      })
      .subscribe({
        next({ data }) {
          if (data?.chatStream.textSoFar) texts.push(data.chatStream.textSoFar);
        },
        error: ended.reject,
        complete: ended.resolve,
      });
    await ended.promise;
    expect(contentTypes).toEqual([expect.stringMatching(/^multipart\/mixed/)]);
    expect(texts.length).toBeGreaterThan(1);
    // Each step has the text of the steps before it.
    for (const [index, text] of texts.entries()) expect(text.startsWith(texts[index - 1] ?? '')).toBe(true);
    client.stop();
  });

  it('gets traces from a subscription, and caches them', async () => {
    const client = aClient();
    const names: string[] = [];
    const first = Promise.withResolvers<void>();
    const subscription = client
      .subscribe<{ readonly traceUpdates: { readonly trace: { readonly id: string; readonly name: string } } }>({
        query: TRACE_UPDATES,
      })
      .subscribe({
        next({ data }) {
          names.push(data?.traceUpdates.trace.name ?? '');
          first.resolve();
        },
        error: first.reject,
      });
    const chatClient = aClient();
    // The subscription shows only traces that arrive after its start. Chats repeat until it shows one.
    const chatting = setInterval(() => {
      chatClient.mutate({ mutation: CHAT, variables: inputOf('Hello') }).catch(first.reject);
    }, 200);
    await first.promise;
    clearInterval(chatting);
    expect(names).toContain('chat demo');
    expect(Object.keys(client.cache.extract() as object).some((id) => id.startsWith('Trace:'))).toBe(true);
    subscription.unsubscribe();
    client.stop();
    chatClient.stop();
  });

  it('gets an error for a subscription with an unknown key', async () => {
    const client = aClient('sk-unknown');
    const refused = Promise.withResolvers<unknown>();
    client.subscribe({ query: TRACE_UPDATES }).subscribe({
      next: ({ error }) => refused.resolve(error),
      error: refused.resolve,
      complete: () => refused.resolve(null),
    });
    expect(String(await refused.promise)).toMatch(/key/i);
    client.stop();
  });
});
