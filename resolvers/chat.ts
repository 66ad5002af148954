import type { ChatDelta, ChatRequest, Usage } from '../src/domain/chat/chat.ts';
import { assertAskable, type ChatDraft } from '../src/domain/chat/chat-draft.ts';
import { NotFound } from '../src/domain/errors.ts';
import { mayCall } from '../src/domain/keys/virtual-key.ts';
import type { Usd } from '../src/domain/money.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './access.ts';
import { callerOf, operation } from './operation.ts';
import type { Scope } from './scope.ts';

/** How a call through the graph is named in errors and spend: as the same call through the other door. */
const ROUTE = '/chat/completions';

/** Sends a chat that is already in the dialect; whoever asked relays the answer and settles the call. */
export const openChat = operation({
  name: 'openChat',
  access: anyKey,
  run: (scope, request: ChatRequest): Promise<GatewayCall> =>
    scope.platform.gateway.chat(callerOf(scope), request, scope.signal),
});

/** A tool the model wants called. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

/** A chat with its whole answer. */
export interface CompletedChat {
  /** The upstream's id of the answer. */
  readonly id: string | null;
  readonly callId: string;
  readonly traceId: string;
  readonly spanId: string;
  /** The model that answered, as the upstream names it. */
  readonly model: string | null;
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: string | null;
  readonly usage: Usage | null;
  readonly cost: Usd | null;
}

/** Asks and waits for the whole answer. Throws UpstreamFailed, LimitExceeded, NotFound and Forbidden. */
export const completeChat = operation({
  name: 'completeChat',
  access: anyKey,
  async run(scope, draft: ChatDraft): Promise<CompletedChat> {
    const call = await send(scope, draft, 'whole');
    const deltas: ChatDelta[] = [];
    for await (const delta of call.deltas()) deltas.push(delta);
    const { responseId, responseModel, finishReason, usage } = call.exchange.outcome();
    const said = (kind: 'text' | 'reasoning'): string =>
      deltas.map((delta) => (delta.kind === kind ? delta.text : '')).join('');
    return {
      id: responseId,
      callId: call.callId,
      traceId: call.traceId,
      spanId: call.spanId,
      model: responseModel,
      content: said('text'),
      reasoning: said('reasoning'),
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
  readonly delta: ChatDelta;
}

/**
 * Asks and hands the answer on as it comes. Resolves when it has begun and throws what failed before;
 * after that a failure is the last step. Leaving the iterator gives the upstream up at once.
 */
export const streamChat = operation({
  name: 'streamChat',
  access: anyKey,
  async run(scope, draft: ChatDraft): Promise<AsyncIterableIterator<ChatStep>> {
    const call = await send(scope, draft, 'streamed');
    const { callId, traceId, spanId } = call;
    const deltas = call.deltas();
    const steps: AsyncIterableIterator<ChatStep> = {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        const step = await deltas.next();
        if (step.done) return { done: true, value: undefined };
        return { done: false, value: { callId, traceId, spanId, delta: step.value } };
      },
      async return() {
        await deltas.return?.();
        return { done: true, value: undefined };
      },
    };
    return steps;
  },
});

/** Public model names the caller's key may call, in the order of the configuration. */
export const listModels = operation({
  name: 'listModels',
  access: anyKey,
  run(scope, _input: undefined): readonly string[] {
    const { key } = callerOf(scope);
    const names = new Set(scope.platform.gateway.deployments().map(({ modelGroup }) => modelGroup));
    return [...names].filter((name) => mayCall(key, name));
  },
});

/** One public model name. Throws NotFound when it does not exist or the caller's key may not call it. */
export const getModel = operation({
  name: 'getModel',
  access: anyKey,
  run(scope, { id }: { readonly id: string }): string {
    if (listModels(scope, undefined).includes(id)) return id;
    throw new NotFound('listed model', id, `The model \`${id}\` does not exist or you do not have access to it.`);
  },
});

function send(scope: Scope, draft: ChatDraft, answer: 'whole' | 'streamed'): Promise<GatewayCall> {
  const { model, messages, parameters, callId, parent } = draft;
  const stream = answer === 'streamed';
  const options = stream ? { stream, stream_options: { include_usage: true } } : { stream };
  const body = { ...parameters, model, messages, ...options };
  assertAskable(body, ROUTE);
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const request: ChatRequest = { model, stream, includeUsage: stream, bytes, body, callId, parent, route: ROUTE };
  return scope.platform.gateway.chat(callerOf(scope), request, scope.signal);
}
