import { type ByteStream, bytesOf, iterate } from '../../domain/bytes.ts';
import type { ChatDelta, Exchange, Outcome } from '../../domain/chat/chat.ts';
import type { Measured } from '../../domain/inference/measured.ts';
import { deltasOfAnswer, deltasOfChunk, factsOf, parseJson, searchesOf } from './answer.ts';
import { createEventBuffer, dataOf, endOfEvent } from './events.ts';
import { createModelRewriter } from './model-rewriter.ts';
import { asBuffer } from './members.ts';
import type { EventRelay } from './relay.ts';

type Head = Pick<Exchange, 'status' | 'headers'>;

/** The exchange of a streamed answer; its relay has opened. */
export function streamedExchange(head: Head, relay: EventRelay): Exchange {
  return {
    ...head,
    streaming: true,
    bytes: relay,
    deltas: () => streamedDeltas(relay),
    outcome: () => relay.outcome(),
  };
}

/** The exchange of an answer that has come whole: its bytes, and the same parsed. */
export function wholeExchange(
  head: Head,
  answer: { readonly bytes: Uint8Array; readonly value: unknown },
  { model, textLimit }: { readonly model: string; readonly textLimit: number },
): Exchange {
  const { id, model: responseModel, finishReason, usage } = factsOf(answer.value);
  const searches = searchesOf(answer.value);
  const outcome: Outcome = {
    responseId: id,
    responseModel,
    finishReason,
    usage,
    ...(searches === null ? {} : { measured: { unit: 'query', count: searches } }),
    failure: null,
    text: textLimit === 0 ? null : textOf(deltasOfAnswer(answer.value)).slice(0, textLimit),
  };
  const original = asBuffer(answer.bytes);
  const bytes = responseModel === model ? original : createModelRewriter(model).rename(original);
  return {
    ...head,
    streaming: false,
    bytes: bytesOf(bytes),
    deltas: () => wholeDeltas(deltasOfAnswer(answer.value)),
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

function textOf(deltas: readonly ChatDelta[]): string {
  return deltas
    .map((delta) => {
      if (delta.kind === 'text') return delta.text;
      return delta.kind === 'toolCall' ? `${delta.name ?? ''}${delta.arguments}` : '';
    })
    .join('');
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
function streamedDeltas(stream: ByteStream): AsyncIterableIterator<ChatDelta> {
  const chunks = iterate(stream);
  const events = createEventBuffer();
  const ready: ChatDelta[] = [];
  const read = (run: Buffer | null): void => {
    if (run === null) return;
    for (let start = 0; start < run.length;) {
      const end = endOfEvent(run, start);
      const data = dataOf(run.subarray(start, end));
      if (data !== null) ready.push(...deltasOfChunk(parseJson(data)));
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
