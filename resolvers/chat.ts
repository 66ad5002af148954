import type { ChatDelta, ModelRequest, Usage } from '../src/domain/chat/chat.ts';
import type { ChatDraft } from '../src/domain/chat/chat-draft.ts';
import { guardrailsOf } from '../src/domain/guardrails/request-guardrails.ts';
import { assertValidRequest } from '../src/domain/inference/request-validation.ts';
import { CHAT_COMPLETIONS } from '../src/domain/inference/endpoint.ts';
import { cacheControlsOf } from '../src/domain/response-cache/cache-controls.ts';
import type { Usd } from '../src/domain/money.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './operation/access.ts';
import { sendAfterStoreCheck } from './operation/named-stores.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { InferencePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** A call of a tool that the model requests. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

/** A chat with its complete answer. */
export interface CompletedChat {
  /** Id of the answer at the upstream. */
  readonly id: string | null;
  readonly callId: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Name of the model at the upstream. */
  readonly model: string | null;
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: string | null;
  readonly usage: Usage | null;
  readonly cost: Usd | null;
}

/** Sends a chat and waits for the complete answer. Throws InvalidInput, and what the gateway's `call` throws. */
export const completeChat = operation({
  name: 'completeChat',
  access: anyKey,
  async run(scope: Scope<InferencePlatform>, draft: ChatDraft): Promise<CompletedChat> {
    const call = await send(scope, draft, 'whole');
    const deltas: ChatDelta[] = [];
    for await (const delta of call.deltas()) deltas.push(delta);
    const { responseId, responseModel, finishReason, usage } = call.exchange.outcome();
    const textOf = (kind: 'text' | 'reasoning'): string =>
      deltas.map((delta) => (delta.kind === kind ? delta.text : '')).join('');
    return {
      id: responseId,
      callId: call.callId,
      traceId: call.traceId,
      spanId: call.spanId,
      model: responseModel,
      content: textOf('text'),
      reasoning: textOf('reasoning'),
      toolCalls: deltas.flatMap((delta) =>
        delta.kind === 'toolCall' ? [{ id: delta.id ?? '', name: delta.name ?? '', arguments: delta.arguments }] : [],
      ),
      finishReason,
      usage,
      cost: call.cost(),
    };
  },
});

/** One step of a streamed chat, and the call it belongs to. */
export interface ChatStep {
  readonly callId: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Text of the answer so far, this step included. */
  readonly textSoFar: string;
  readonly delta: ChatDelta;
}

/**
 * Sends a chat and streams the answer. Resolves when the answer starts. An earlier failure is thrown; a later failure
 * is the last step. `return` cancels the upstream call.
 */
export const streamChat = operation({
  name: 'streamChat',
  access: anyKey,
  async run(scope: Scope<InferencePlatform>, draft: ChatDraft): Promise<AsyncIterableIterator<ChatStep>> {
    const call = await send(scope, draft, 'streamed');
    const { callId, traceId, spanId } = call;
    const deltas = call.deltas();
    let textSoFar = '';
    const steps: AsyncIterableIterator<ChatStep> = {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        const read = await deltas.next();
        if (read.done) return { done: true, value: undefined };
        const delta = read.value;
        if (delta.kind === 'text') textSoFar += delta.text;
        return { done: false, value: { callId, traceId, spanId, textSoFar, delta } };
      },
      async return() {
        await deltas.return?.();
        return { done: true, value: undefined };
      },
    };
    return steps;
  },
});

/** Sends the chat as a chat completion. `typed` means that the deltas of the answer are read, and not its bytes. */
function send(scope: Scope<InferencePlatform>, draft: ChatDraft, answer: 'whole' | 'streamed'): Promise<GatewayCall> {
  const { model, messages, parameters, callId, parent } = draft;
  const stream = answer === 'streamed';
  const options = stream ? { stream, stream_options: { include_usage: true } } : { stream };
  const body = { ...parameters, model, messages, ...options };
  assertValidRequest(body, CHAT_COMPLETIONS);
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const endpoint = CHAT_COMPLETIONS;
  const request: ModelRequest = {
    endpoint,
    model,
    stream,
    includeUsage: stream,
    bytes,
    body,
    callId,
    parent,
    typed: true,
    ...guardrailsOf({ endpoint, body }),
    ...cacheControlsOf({ endpoint, body }),
  };
  return sendAfterStoreCheck(scope, request, (checked) =>
    scope.platform.gateway.call(callerOf(scope), checked, scope.signal),
  );
}
