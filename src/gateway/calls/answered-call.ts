import type { ByteStream } from '../../domain/bytes.ts';
import type { ChatDelta, Exchange } from '../../domain/chat/chat.ts';
import { DomainError } from '../../domain/errors.ts';
import { ReaderStalled } from '../../domain/http.ts';
import type { Usd } from '../../domain/money.ts';
import type { GatewayCall, GuardrailEdits } from '../gateway.ts';

/** Facts of an answered call. */
type Facts = Pick<
  GatewayCall,
  | 'callId'
  | 'modelGroup'
  | 'answerModel'
  | 'routing'
  | 'deployment'
  | 'tries'
  | 'limits'
  | 'exchange'
  | 'traceId'
  | 'spanId'
  | 'guardrails'
  | 'policies'
  | 'editedBody'
  | 'forRecord'
>;

/** The call that an answer belongs to and settles. */
export interface CallOfAnswer extends Pick<GatewayCall, 'cost' | 'keySpend' | 'elapsedMs'> {
  /** Settles the call. Has an effect only the first time. */
  settle(end: 'completed' | 'failed' | 'abandoned', failure?: unknown): void;
}

/** A call that settles at the end of its body, however the body is read. */
export class AnsweredCall implements GatewayCall {
  readonly callId: string;
  readonly modelGroup: string;
  readonly answerModel: GatewayCall['answerModel'];
  readonly routing: GatewayCall['routing'];
  readonly deployment: GatewayCall['deployment'];
  readonly tries: GatewayCall['tries'];
  readonly limits: GatewayCall['limits'];
  readonly exchange: GatewayCall['exchange'];
  readonly traceId: string;
  readonly spanId: string;
  readonly guardrails: GatewayCall['guardrails'];
  readonly policies: GatewayCall['policies'];
  readonly editedBody: GatewayCall['editedBody'];
  readonly forRecord: GatewayCall['forRecord'];
  readonly #call: CallOfAnswer;
  readonly #answer: Pick<Exchange, 'deltas'>;
  readonly #bytes: ByteStream;

  constructor(call: CallOfAnswer, facts: Facts, answer: Pick<Exchange, 'deltas'>, bytes: ByteStream) {
    this.callId = facts.callId;
    this.modelGroup = facts.modelGroup;
    this.answerModel = facts.answerModel;
    this.routing = facts.routing;
    this.deployment = facts.deployment;
    this.tries = facts.tries;
    this.limits = facts.limits;
    this.exchange = facts.exchange;
    this.traceId = facts.traceId;
    this.spanId = facts.spanId;
    this.guardrails = facts.guardrails;
    this.policies = facts.policies;
    this.editedBody = facts.editedBody;
    this.forRecord = facts.forRecord;
    this.#call = call;
    this.#answer = answer;
    this.#bytes = bytes;
  }

  cost(): Usd | null {
    return this.#call.cost();
  }

  keySpend(): Usd | null {
    return this.#call.keySpend();
  }

  elapsedMs(): number {
    return this.#call.elapsedMs();
  }

  deltas(): AsyncIterableIterator<ChatDelta> {
    return settlingDeltas(this.#answer.deltas(), this.#call);
  }

  bytes(): ByteStream {
    return settlingBytes(this.#bytes, this.#call);
  }

  async consume<Result>(use: (bytes: ByteStream) => Promise<Result>): Promise<Result> {
    try {
      const result = await use(this.#bytes);
      this.#call.settle('completed');
      return result;
    } catch (failure) {
      this.#call.settle('failed', failure);
      throw failure;
    }
  }

  translated(translate: (bytes: ByteStream) => ByteStream): GatewayCall {
    return new AnsweredCall(this.#call, this, this.#answer, translate(this.#bytes));
  }

  withDropped(dropped: readonly string[]): GatewayCall {
    return this.#withHead({ ...this.exchange, dropped });
  }

  guarded(guardrails: readonly string[], { body, decision, forRecord, policies }: GuardrailEdits = {}): GatewayCall {
    const exchange = decision === undefined ? this.exchange : { ...this.exchange, decision };
    return this.#withHead(exchange, { guardrails, policies, editedBody: body, forRecord });
  }

  #withHead(
    exchange: GatewayCall['exchange'],
    {
      guardrails,
      policies,
      editedBody,
      forRecord,
    }: Pick<GatewayCall, 'guardrails' | 'policies' | 'editedBody' | 'forRecord'> = this,
  ): GatewayCall {
    const { callId, modelGroup, answerModel, routing, deployment, tries, limits, traceId, spanId } = this;
    const guarded = { guardrails, policies, editedBody, forRecord };
    const names = { callId, modelGroup, answerModel, traceId, spanId };
    const facts = { ...names, routing, deployment, tries, limits, exchange, ...guarded };
    return new AnsweredCall(this.#call, facts, this.#answer, this.#bytes);
  }
}

/** Settles the call after the last byte is forwarded, so that the client does not wait for the settlement. */
function settlingBytes(source: ByteStream, call: CallOfAnswer): ByteStream {
  return {
    pipe(sink) {
      source.pipe({
        chunk: (bytes) => sink.chunk(bytes),
        done() {
          sink.done();
          call.settle('completed');
        },
        fail(error) {
          sink.fail(error);
          // The transport disconnects a client that stops reading. Such a client has abandoned the call.
          call.settle(error instanceof ReaderStalled ? 'abandoned' : 'failed', error);
        },
      });
    },
    resume: () => source.resume(),
    cancel(failure) {
      source.cancel(failure);
      if (failure === undefined) call.settle('abandoned');
      else call.settle('failed', failure);
    },
  };
}

/** Deltas of an answer. A failure is the last delta, not an exception. */
function settlingDeltas(
  deltas: AsyncIterableIterator<ChatDelta>,
  call: CallOfAnswer,
): AsyncIterableIterator<ChatDelta> {
  let hasEnded = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (hasEnded) return { done: true, value: undefined };
      try {
        const step = await deltas.next();
        if (step.done) {
          hasEnded = true;
          call.settle('completed');
        }
        return step;
      } catch (failure) {
        hasEnded = true;
        call.settle('failed', failure);
        return { done: false, value: failureDelta(failure) };
      }
    },
    async return() {
      hasEnded = true;
      call.settle('abandoned');
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
