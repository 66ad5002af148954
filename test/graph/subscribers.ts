import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { createClient } from 'graphql-sse';
import { createClient as createSocketClient } from 'graphql-ws';
import { request, type IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { TypedDocumentString } from './generated/graphql.ts';

/** Active subscription. */
export interface Subscriber {
  readonly received: unknown[];
  /** Resolves when the server completes the subscription or the client has left. Rejects on a connection error. */
  readonly ended: Promise<void>;
  /** Unsubscribes. */
  leave(): Promise<void>;
}

/** Opens a subscription. `key` is the bearer token. */
type Transport = <Data, Variables>(
  url: string,
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
  key?: string,
) => Subscriber;

/** Server-sent events on `/graphql`, with fetch. */
export const overEventStream: Transport = (url, document, variables, key = 'sk-admin') => {
  const leaving = new AbortController();
  const received: unknown[] = [];
  const read = async (): Promise<void> => {
    const answer = await fetch(url, {
      method: 'POST',
      body: JSON.stringify({ query: document.toString(), variables }),
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${key}` },
      signal: leaving.signal,
    });
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, data] = /^event: next\ndata: (.*)$/s.exec(block.trimStart()) ?? [];
        if (data) received.push(JSON.parse(data));
        if (block.includes('event: complete')) return;
      }
    }
    throw new Error('The stream ended without a complete event.');
  };
  const ended = unlessLeft(read(), leaving.signal);
  return {
    received,
    ended,
    leave() {
      leaving.abort();
      return ended;
    },
  };
};

/** Client of graphql-sse. */
const overSse =
  (path: '' | '/stream', mode: 'distinct' | 'single'): Transport =>
  (url, document, variables, key = 'sk-admin') => {
    const client = createClient({
      url: `${url}${path}`,
      singleConnection: mode === 'single',
      retryAttempts: 0,
      // A function, because the client writes its stream token into the headers object.
      headers: () => ({ authorization: `Bearer ${key}` }),
    });
    const received: unknown[] = [];
    let unsubscribe = (): void => {};
    const ended = new Promise<void>((resolve, reject) => {
      unsubscribe = client.subscribe(
        { query: document.toString(), variables: variables as Record<string, unknown> },
        { next: (result) => void received.push(result), error: reject, complete: () => resolve() },
      );
    });
    return {
      received,
      ended,
      leave() {
        unsubscribe();
        return ended;
      },
    };
  };

/** HttpLink of Apollo Client, which uses multipart HTTP for subscriptions. */
const overApollo: Transport = (url, document, variables, key = 'sk-admin') => {
  const print = (): string => document.toString();
  const link = new HttpLink({ uri: url, headers: { authorization: `Bearer ${key}` }, print });
  const client = new ApolloClient({ cache: new InMemoryCache(), link });
  const received: unknown[] = [];
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const operation = { query: gql(document.toString()), variables: variables as Record<string, unknown> };
  const subscription = ApolloLink.execute(link, operation, { client }).subscribe({
    next: (result) => void received.push(result),
    error: reject,
    complete: resolve,
  });
  return {
    received,
    ended,
    leave() {
      subscription.unsubscribe();
      client.stop();
      resolve();
      return ended;
    },
  };
};

/** Client of graphql-ws. */
export const overWebSocket: Transport = (url, document, variables, key = 'sk-admin') => {
  const client = createSocketClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: { authorization: `Bearer ${key}` },
  });
  const received: unknown[] = [];
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const unsubscribe = client.subscribe(
    { query: document.toString(), variables: variables as Record<string, unknown> },
    { next: (result) => void received.push(result), error: reject, complete: resolve },
  );
  return {
    received,
    ended,
    async leave() {
      unsubscribe();
      await client.dispose();
      await ended;
    },
  };
};

/** HTTP transports. An unknown key gives an error result. A WebSocket is closed with a code instead. */
export const HTTP_TRANSPORTS: readonly (readonly [string, Transport])[] = [
  ['server-sent events', overEventStream],
  ['multipart', overApollo],
  ['graphql-sse, distinct connections', overSse('/stream', 'distinct')],
  ['graphql-sse, single connection', overSse('/stream', 'single')],
  ['graphql-sse on /graphql, distinct connections', overSse('', 'distinct')],
  ['graphql-sse on /graphql, single connection', overSse('', 'single')],
];

export const TRANSPORTS: readonly (readonly [string, Transport])[] = [
  ...HTTP_TRANSPORTS,
  ['graphql-ws', overWebSocket],
];

/** Subscriber that does not read its stream before `read`. */
export interface Stalled {
  read(): void;
  /** Number of updates that were received or reported as dropped. */
  receivedOrMissed(): number;
  /** Number of updates that were reported as dropped. */
  missed(): number;
  leave(): void;
}

/** Opens a stream of trace updates and does not read it. */
export function stall(url: string, document: { toString(): string }, accept = 'text/event-stream'): Promise<Stalled> {
  return new Promise((resolve, reject) => {
    const post = request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept,
        authorization: 'Bearer sk-admin',
      },
    });
    post.on('error', reject);
    post.on('response', (answer: IncomingMessage) => {
      answer.pause();
      answer.on('error', () => {});
      let text = '';
      let [arrived, missed] = [0, 0];
      resolve({
        read: () =>
          void answer.resume().on('data', (chunk: Buffer) => {
            text += chunk.toString();
            // Each update has this number once. The comma shows that all of its digits have arrived.
            for (const [, count] of text.matchAll(/"droppedUpdates":(\d+),/g)) {
              arrived += 1;
              missed += Number(count);
            }
            // The text after the last comma may be the beginning of the next match.
            text = text.slice(text.lastIndexOf(',') + 1);
          }),
        receivedOrMissed: () => arrived + missed,
        missed: () => missed,
        leave: () => post.destroy(),
      });
    });
    post.end(JSON.stringify({ query: document.toString(), variables: {} }));
  });
}

/** Waits for the end of the reading. Ignores its failure when the client has left. */
async function unlessLeft(reading: Promise<void>, left: AbortSignal): Promise<void> {
  try {
    await reading;
  } catch (error) {
    if (!left.aborted) throw error;
  }
}
