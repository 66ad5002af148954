import { createClient } from 'graphql-sse';
import { request, type IncomingMessage } from 'node:http';
import type { TypedDocumentString } from './generated/graphql.ts';

/** A subscription under way: what came, how it ended, and how to leave it. */
export interface Subscriber {
  readonly received: unknown[];
  /** Resolves when the server has completed it; rejects when it broke off. */
  readonly ended: Promise<void>;
  /** Leaves, and resolves when the server has been told. */
  leave(): Promise<void>;
}

/** Opens a subscription; `key` goes into the Authorization header. */
type Road = <Data, Variables>(
  url: string,
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
  key?: string,
) => Subscriber;

/** Over `/graphql`, as Yoga streams events, read with fetch. */
export const overYoga: Road = (url, document, variables, key = 'sk-admin') => {
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
    throw new Error('The stream ended without a word.');
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

/** Over `/graphql/stream`, with graphql-sse's own client. */
const overSse =
  (mode: 'distinct' | 'single'): Road =>
  (url, document, variables, key = 'sk-admin') => {
    const client = createClient({
      url: `${url}/stream`,
      singleConnection: mode === 'single',
      retryAttempts: 0,
      // A function: the client writes its stream token into the object it is given.
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

export const ROADS: readonly (readonly [string, Road])[] = [
  ['/graphql', overYoga],
  ['/graphql/stream, a connection each', overSse('distinct')],
  ['/graphql/stream, one connection', overSse('single')],
];

/** A subscriber that opens a stream and reads none of it until it is told to. */
export interface Stalled {
  read(): void;
  /** Updates that came, and those it was told it missed. */
  heard(): number;
  missed(): number;
  leave(): void;
}

/** Opens a stream of trace updates and does not read it. */
export function stall(url: string, document: { toString(): string }): Promise<Stalled> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: 'Bearer sk-admin',
      },
    });
    sent.on('error', reject);
    sent.on('response', (answer: IncomingMessage) => {
      answer.pause();
      answer.on('error', () => {});
      let text = '';
      let [came, missed] = [0, 0];
      resolve({
        read: () =>
          void answer.resume().on('data', (chunk: Buffer) => {
            text += chunk.toString();
            for (const [, count] of text.matchAll(/"missed":(\d+),/g)) {
              came += 1;
              missed += Number(count);
            }
            text = text.slice(text.lastIndexOf(',') + 1);
          }),
        heard: () => came + missed,
        missed: () => missed,
        leave: () => sent.destroy(),
      });
    });
    sent.end(JSON.stringify({ query: document.toString(), variables: {} }));
  });
}

async function unlessLeft(reading: Promise<void>, left: AbortSignal): Promise<void> {
  try {
    await reading;
  } catch (error) {
    if (!left.aborted) throw error;
  }
}
