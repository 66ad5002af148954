import type { ByteStream } from '../../domain/bytes.ts';
import type { ChatDelta, Exchange } from '../../domain/chat/chat.ts';
import { DomainError } from '../../domain/errors.ts';
import { ReaderStalled } from '../../domain/http.ts';
import type { GatewayCall } from '../gateway.ts';

/** Settles a call; only the first use has an effect. */
type Settle = (end: 'completed' | 'failed' | 'abandoned', failure?: unknown) => void;

/** A call that settles at the end of its body, however the body is read. */
export function settledCall(
  facts: Omit<GatewayCall, 'deltas' | 'bytes' | 'consume' | 'translated'>,
  answer: Pick<Exchange, 'bytes' | 'deltas'>,
  settle: Settle,
): GatewayCall {
  return {
    ...facts,
    deltas: () => settlingSteps(answer.deltas(), settle),
    bytes: () => settlingBytes(answer.bytes, settle),
    async consume(use) {
      try {
        const result = await use(answer.bytes);
        settle('completed');
        return result;
      } catch (failure) {
        settle('failed', failure);
        throw failure;
      }
    },
    translated: (translate) => settledCall(facts, { ...answer, bytes: translate(answer.bytes) }, settle),
  };
}

/** Settles after the last byte is forwarded, so that the client does not wait for it. */
function settlingBytes(source: ByteStream, settle: Settle): ByteStream {
  return {
    pipe(sink) {
      source.pipe({
        chunk: (bytes) => sink.chunk(bytes),
        done() {
          sink.done();
          settle('completed');
        },
        fail(error) {
          sink.fail(error);
          // The transport closes the connection of a caller that does not read.
          settle(error instanceof ReaderStalled ? 'abandoned' : 'failed', error);
        },
      });
    },
    resume: () => source.resume(),
    cancel(failure) {
      source.cancel(failure);
      if (failure === undefined) settle('abandoned');
      else settle('failed', failure);
    },
  };
}

/** Deltas of an answer. A failure is the last delta, not an exception. */
function settlingSteps(deltas: AsyncIterableIterator<ChatDelta>, settle: Settle): AsyncIterableIterator<ChatDelta> {
  let over = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (over) return { done: true, value: undefined };
      try {
        const step = await deltas.next();
        if (step.done) {
          over = true;
          settle('completed');
        }
        return step;
      } catch (failure) {
        over = true;
        settle('failed', failure);
        return { done: false, value: failureDelta(failure) };
      }
    },
    async return() {
      over = true;
      settle('abandoned');
      await deltas.return?.();
      return { done: true, value: undefined };
    },
  };
}

function failureDelta(failure: unknown): ChatDelta {
  return failure instanceof DomainError
    ? { kind: 'failure', code: failure.code, message: failure.message }
    : { kind: 'failure', code: 'INTERNAL', message: 'Internal server error' };
}
