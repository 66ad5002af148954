import { type ByteStream, streamOfBytes, iterate } from '../domain/bytes.ts';
import type { ChatDelta, Exchange, Outcome, Usage } from '../domain/chat/chat.ts';
import { tokensOfBytes } from '../domain/inference/expected-tokens.ts';
import type { BilledQuantity } from '../domain/inference/billed-quantity.ts';
import type { StreamInspector, WholeAnswer } from './dialect.ts';
import { createEventBuffer, dataOf, endOfEvent, nameOf } from './sse/events.ts';

type Head = Pick<Exchange, 'status' | 'headers'>;

/** Exchange of a streamed answer after its first content. Deltas and outcome come from the inspector. */
export function relayedExchange(head: Head, stream: ByteStream, inspector: StreamInspector): Exchange {
  return {
    ...head,
    streaming: true,
    bytes: stream,
    deltas: () => streamedDeltas(stream, inspector),
    outcome: () => inspector.outcome(),
    pieces: () => inspector.pieces ?? 0,
  };
}

/** Exchange of a complete answer. */
export function wholeExchange({ status, headers }: Head, { bytes, outcome, deltas }: WholeAnswer): Exchange {
  return {
    status,
    headers,
    streaming: false,
    bytes: streamOfBytes(bytes),
    deltas: () => wholeDeltas(deltas()),
    outcome: () => outcome,
    pieces: () => tokensOfBytes(deltas().reduce((sum, delta) => sum + writtenBytes(delta), 0)),
  };
}

/** Bytes that the model wrote in a delta. */
function writtenBytes(delta: ChatDelta): number {
  if (delta.kind === 'toolCall') return Buffer.byteLength(`${delta.name ?? ''}${delta.arguments}`);
  return 'text' in delta ? Buffer.byteLength(delta.text) : 0;
}

/**
 * Exchange of an answer that is forwarded without parsing. `measured` is its billed quantity; `usageOf` returns the
 * tokens that the forwarded part has reported.
 */
export function unparsedExchange(
  head: Head,
  bytes: ByteStream,
  measured: BilledQuantity | undefined,
  usageOf?: () => Usage | null,
): Exchange {
  const outcome: Outcome = { ...EMPTY_OUTCOME, ...(measured === undefined ? {} : { measured }) };
  const exchange = { ...head, streaming: false, bytes, deltas: () => noDeltas(bytes), outcome: () => outcome };
  if (usageOf === undefined) return exchange;
  return { ...exchange, reportsUsageAtEnd: true, outcome: () => ({ ...outcome, usage: usageOf() }) };
}

export const EMPTY_OUTCOME: Outcome = {
  responseId: null,
  responseModel: null,
  finishReason: null,
  usage: null,
  failure: null,
  text: null,
};

/** Empty iterator for an answer without typed deltas. It ends when the bytes end. */
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

/** Reads a stream as typed deltas. Not a generator: `return` must cancel the upstream while `next` is pending. */
function streamedDeltas(stream: ByteStream, inspector: StreamInspector): AsyncIterableIterator<ChatDelta> {
  const chunks = iterate(stream);
  const events = createEventBuffer();
  const ready: ChatDelta[] = [];
  /** Adds the deltas of complete events to `ready`. */
  const read = (completeEvents: Buffer | null): void => {
    if (completeEvents === null) return;
    let start = 0;
    while (start < completeEvents.length) {
      const end = endOfEvent(completeEvents, start);
      const event = completeEvents.subarray(start, end);
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
