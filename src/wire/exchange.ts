import { type ByteStream, bytesOf, iterate } from '../domain/bytes.ts';
import type { ChatDelta, Exchange, Outcome } from '../domain/chat/chat.ts';
import type { Measured } from '../domain/inference/measured.ts';
import type { StreamInspector, WholeAnswer } from './dialect.ts';
import { createEventBuffer, dataOf, endOfEvent, nameOf } from './sse/events.ts';

type Head = Pick<Exchange, 'status' | 'headers'>;

/** The exchange of a streamed answer that has begun: its bytes on their way, and who follows them. */
export function relayedExchange(head: Head, stream: ByteStream, inspector: StreamInspector): Exchange {
  return streamedExchange(head, stream, {
    deltas: () => streamedDeltas(stream, inspector),
    outcome: () => inspector.outcome(),
  });
}

/** The exchange of a streamed answer whose steps and outcome are known from elsewhere than its bytes. */
export function streamedExchange(head: Head, bytes: ByteStream, known: Pick<Exchange, 'deltas' | 'outcome'>): Exchange {
  return { ...head, streaming: true, bytes, ...known };
}

/** The exchange of an answer that has come whole. */
export function wholeExchange(head: Head, { bytes, outcome, deltas }: WholeAnswer): Exchange {
  return {
    ...head,
    streaming: false,
    bytes: bytesOf(bytes),
    deltas: () => wholeDeltas(deltas()),
    outcome: () => outcome,
  };
}

/** The exchange of an answer that nobody reads: its bytes go on as they come, and what it is billed by is known. */
export function unreadExchange(head: Head, bytes: ByteStream, measured: Measured | undefined): Exchange {
  const outcome: Outcome = { ...NOTHING_READ, ...(measured === undefined ? {} : { measured }) };
  return { ...head, streaming: false, bytes, deltas: () => noDeltas(bytes), outcome: () => outcome };
}

const NOTHING_READ: Outcome = {
  responseId: null,
  responseModel: null,
  finishReason: null,
  usage: null,
  failure: null,
  text: null,
};

/** An answer without typed steps: it ends when its bytes do. */
function noDeltas(bytes: ByteStream): AsyncIterableIterator<ChatDelta> {
  const chunks = iterate(bytes);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      let chunk = await chunks.next();
      while (!chunk.done) chunk = await chunks.next();
      return { done: true, value: undefined };
    },
    async return() {
      await chunks.return?.();
      return { done: true, value: undefined };
    },
  };
}

function wholeDeltas(deltas: readonly ChatDelta[]): AsyncIterableIterator<ChatDelta> {
  const values = deltas.values();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: async () => values.next(),
    async return() {
      return { done: true, value: undefined };
    },
  };
}

/** Reads a stream as typed steps. Not a generator: leaving must reach the upstream while a step is awaited. */
function streamedDeltas(stream: ByteStream, inspector: StreamInspector): AsyncIterableIterator<ChatDelta> {
  const chunks = iterate(stream);
  const events = createEventBuffer();
  const ready: ChatDelta[] = [];
  const read = (run: Buffer | null): void => {
    if (run === null) return;
    for (let start = 0; start < run.length;) {
      const end = endOfEvent(run, start);
      const event = run.subarray(start, end);
      const data = dataOf(event);
      if (data !== null) ready.push(...inspector.deltas(data, nameOf(event)));
      start = end;
    }
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      for (;;) {
        const delta = ready.shift();
        if (delta !== undefined) return { done: false, value: delta };
        const chunk = await chunks.next();
        if (chunk.done) {
          read(events.rest());
          const last = ready.shift();
          return last === undefined ? { done: true, value: undefined } : { done: false, value: last };
        }
        read(events.add(chunk.value));
      }
    },
    async return() {
      ready.length = 0;
      await chunks.return?.();
      return { done: true, value: undefined };
    },
  };
}
