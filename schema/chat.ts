import type { JsonObject } from '../src/domain/json-object.ts';
import { completeChat, type ChatStep, type CompletedChat, streamChat, type ToolCall } from '../resolvers/chat.ts';
import type { ChatDelta } from '../src/domain/chat/chat.ts';
import type { ChatDraft } from '../src/domain/chat/chat-draft.ts';
import { InvalidInput, LimitExceeded, NotFound, Rejected, Unsupported, UpstreamFailed } from '../src/domain/errors.ts';
import { usdText } from '../src/domain/money.ts';
import { parseTraceparent } from '../src/domain/traces/trace-context.ts';
import { callerId } from '../src/domain/calls/caller-id.ts';
import { builder } from './base/builder.ts';
import { readObject } from './base/json-inputs.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';
import { CALL_COST } from './base/limits.ts';
import { UsageType } from './base/refs.ts';
import { callFields } from './base/shared-fields.ts';

const ChatRoleType = builder.enumType('ChatRole', {
  description: 'Role of a message.',
  values: {
    SYSTEM: { value: 'system', description: 'System message.' },
    DEVELOPER: {
      value: 'developer',
      description: 'Developer message, for models that distinguish it from a system message.',
    },
    USER: { value: 'user', description: 'User message.' },
    ASSISTANT: { value: 'assistant', description: 'Answer of the model.' },
    TOOL: { value: 'tool', description: 'Result of a tool call.' },
  } as const,
});

const ChatMessageInput = builder.inputType('ChatMessageInput', {
  description: 'One message of a chat.',
  fields: (t) => ({
    role: t.field({ type: ChatRoleType, required: true, description: 'Role of the message.' }),
    content: t.field({
      type: 'JSON',
      description: 'Text, or a list of content parts in the format of chat completions.',
    }),
    name: t.string({ description: 'Name of the participant.' }),
    toolCallId: t.id({ description: 'Id of the tool call that a tool message answers.' }),
    toolCalls: t.field({
      type: ['JSON'],
      description: 'Tool calls of an assistant message, in the format of chat completions.',
    }),
  }),
});

const ChatInput = builder.inputType('ChatInput', {
  description: 'A chat request.',
  fields: (t) => ({
    model: t.string({ required: true, description: 'Public model name.' }),
    messages: t.field({ type: [ChatMessageInput], required: true, description: 'Messages, oldest first.' }),
    temperature: t.float({ description: 'Sampling temperature.' }),
    topP: t.float({ description: 'Nucleus sampling: probability mass of the candidate tokens.' }),
    maxTokens: t.int({ description: 'Maximum output tokens.' }),
    stop: t.stringList({ description: 'Stop sequences.' }),
    seed: t.int({ description: 'Seed for reproducible sampling, where the provider supports it.' }),
    tools: t.field({ type: ['JSON'], description: 'Tool definitions, in the format of chat completions.' }),
    toolChoice: t.field({ type: 'JSON', description: 'Tool choice, in the format of chat completions.' }),
    responseFormat: t.field({ type: 'JSON', description: 'Response format, in the format of chat completions.' }),
    reasoningEffort: t.string({ description: 'Reasoning effort. The model defines the values, e.g. `low`.' }),
    user: t.string({ description: 'End user id, sent to the provider.' }),
    parameters: t.field({
      type: 'JSON',
      description:
        'Further parameters of chat completions: an object. The other fields of this input override its members.',
    }),
    ...callFields(t),
  }),
});

type ChatInputShape = typeof ChatInput.$inferInput;
type ChatMessageShape = typeof ChatMessageInput.$inferInput;

/** Members that are neither null nor undefined. */
const nonNullMembers = (fields: JsonObject): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

function readMessage({ role, content, name, toolCallId, toolCalls }: ChatMessageShape): Record<string, unknown> {
  return {
    role,
    content: content ?? null,
    ...nonNullMembers({ name, tool_call_id: toolCallId, tool_calls: toolCalls }),
  };
}

function readChat(input: ChatInputShape): ChatDraft {
  return {
    model: input.model,
    messages: input.messages.map(readMessage),
    parameters: {
      ...readObject(input.parameters, 'parameters'),
      ...nonNullMembers({
        temperature: input.temperature,
        top_p: input.topP,
        max_tokens: input.maxTokens,
        stop: input.stop,
        seed: input.seed,
        tools: input.tools,
        tool_choice: input.toolChoice,
        response_format: input.responseFormat,
        reasoning_effort: input.reasoningEffort,
        user: input.user,
      }),
    },
    // Null for an absent or invalid id. The gateway then generates the id of the call.
    callId: callerId(input.callId),
    parent: parseTraceparent(input.traceparent ?? undefined),
  };
}

const ToolCallType = builder.objectRef<ToolCall>('ToolCall').implement({
  description: 'A tool call that the model requests.',
  fields: (t) => ({
    toolCallId: t.exposeID('id', { description: 'Id of the call, for the tool message with its result.' }),
    name: t.exposeString('name', { description: 'Tool name.' }),
    arguments: t.exposeString('arguments', {
      description: 'Arguments as JSON text. The model may produce invalid JSON.',
    }),
  }),
});

const ChatCompletionType = builder.objectRef<CompletedChat>('ChatCompletion').implement({
  description: 'A completed chat.',
  fields: (t) => ({
    responseId: t.exposeID('id', {
      nullable: true,
      description: 'Response id of the provider. Null when it sent none.',
    }),
    callId: t.exposeID('callId', { description: 'Id of the call: `callId` of the input, or generated.' }),
    traceId: t.exposeID('traceId', { description: 'Trace id of this call. The trace is readable within seconds.' }),
    spanId: t.exposeID('spanId', { description: 'Span id of this call.' }),
    model: t.exposeString('model', {
      nullable: true,
      description: 'Model name in the answer of the provider. Null when it sent none.',
    }),
    text: t.exposeString('content', { description: 'Text of the answer; may be empty.' }),
    reasoning: t.string({
      nullable: true,
      description: 'Reasoning text. Null when the model returned none.',
      resolve: ({ reasoning }) => nullIfEmpty(reasoning),
    }),
    toolCalls: t.field({
      type: [ToolCallType],
      description: 'Tool calls that the model requests.',
      resolve: ({ toolCalls }) => toolCalls,
    }),
    finishReason: t.exposeString('finishReason', {
      nullable: true,
      description: 'Why the answer ended, e.g. `stop`. The provider defines the values. Null when it sent none.',
    }),
    usage: t.field({
      type: UsageType,
      nullable: true,
      description: 'Token counts. Null when the provider reported none.',
      resolve: ({ usage }) => usage,
    }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Cost in USD. Null when no price is known, and when no usage was reported.',
      resolve: ({ cost }) => (cost === null ? null : usdText(cost)),
    }),
  }),
});

const ChatStepType = builder.interfaceRef<ChatStep>('ChatStep').implement({
  description: 'One event of a streamed answer.',
  fields: (t) => ({
    callId: t.exposeID('callId', { description: 'Id of the call: `callId` of the input, or generated.' }),
    traceId: t.exposeID('traceId', { description: 'Trace id of this call.' }),
    spanId: t.exposeID('spanId', { description: 'Span id of this call.' }),
    textSoFar: t.exposeString('textSoFar', {
      description:
        'Text of the answer up to and including this event. For clients that show the latest event only: the total size ' +
        'of all events is quadratic in the length of the answer.',
    }),
  }),
});

/** An event with one kind of delta. */
type StepOf<Kind extends ChatDelta['kind']> = ChatStep & { readonly delta: Extract<ChatDelta, { kind: Kind }> };

const ChatTextType = builder.objectRef<StepOf<'text'>>('ChatText').implement({
  description: 'The next part of the answer text.',
  interfaces: [ChatStepType],
  fields: (t) => ({ text: t.string({ description: 'The text to append.', resolve: ({ delta }) => delta.text }) }),
});

const ChatReasoningType = builder.objectRef<StepOf<'reasoning'>>('ChatReasoning').implement({
  description: 'The next part of the reasoning text.',
  interfaces: [ChatStepType],
  fields: (t) => ({ text: t.string({ description: 'The text to append.', resolve: ({ delta }) => delta.text }) }),
});

const ChatToolCallType = builder.objectRef<StepOf<'toolCall'>>('ChatToolCall').implement({
  description: 'The next part of a tool call.',
  interfaces: [ChatStepType],
  fields: (t) => ({
    index: t.int({
      description: 'Position of the tool call in the answer, from 0.',
      resolve: ({ delta }) => delta.index,
    }),
    toolCallId: t.id({
      nullable: true,
      description: 'Id of the tool call, on its first part only.',
      resolve: ({ delta }) => delta.id,
    }),
    name: t.string({
      nullable: true,
      description: 'Tool name, on the first part only.',
      resolve: ({ delta }) => delta.name,
    }),
    arguments: t.string({
      description: 'Text to append to the JSON arguments.',
      resolve: ({ delta }) => delta.arguments,
    }),
  }),
});

const ChatFinishType = builder.objectRef<StepOf<'finish'>>('ChatFinish').implement({
  description: 'End of the answer.',
  interfaces: [ChatStepType],
  fields: (t) => ({
    reason: t.string({ description: 'Why the answer ended, e.g. `stop`.', resolve: ({ delta }) => delta.reason }),
  }),
});

const ChatUsageType = builder.objectRef<StepOf<'usage'>>('ChatUsage').implement({
  description: 'Token counts of the answer.',
  interfaces: [ChatStepType],
  fields: (t) => ({
    usage: t.field({ type: UsageType, description: 'Token counts.', resolve: ({ delta }) => delta.usage }),
  }),
});

const ChatFailureType = builder.objectRef<StepOf<'failure'>>('ChatFailure').implement({
  description: 'The answer failed after it began. The last event.',
  interfaces: [ChatStepType],
  fields: (t) => ({
    code: t.string({
      description: 'Error code of the provider, or of the gateway where the provider sent none.',
      resolve: ({ delta }) => delta.code,
    }),
    message: t.string({ description: 'Error message.', resolve: ({ delta }) => delta.message }),
  }),
});

const TYPE_NAMES: Record<ChatDelta['kind'], string> = {
  text: ChatTextType.name,
  reasoning: ChatReasoningType.name,
  toolCall: ChatToolCallType.name,
  finish: ChatFinishType.name,
  usage: ChatUsageType.name,
  failure: ChatFailureType.name,
};

// The `ChatDelta` of the graph is a whole event. The `ChatDelta` of the domain is the member `delta` of an event.
const ChatDeltaType = builder.unionType('ChatDelta', {
  description: 'One event of a streamed answer. A failure after the first event is an event.',
  types: [ChatTextType, ChatReasoningType, ChatToolCallType, ChatFinishType, ChatUsageType, ChatFailureType],
  resolveType: ({ delta }) => TYPE_NAMES[delta.kind],
});

/** Narrows an event to the member of the union for its delta. */
const memberOf = (step: ChatStep) => step as { [Kind in ChatDelta['kind']]: StepOf<Kind> }[ChatDelta['kind']];

builder.mutationField('chat', (t) =>
  t.field({
    type: ChatCompletionType,
    description: 'Calls a chat model and returns the complete answer.',
    complexity: { field: CALL_COST, multiplier: 1 },
    args: { input: t.arg({ type: ChatInput, required: true, description: 'The request.' }) },
    errors: {
      types: [InvalidInput, NotFound, Unsupported, LimitExceeded, Rejected, UpstreamFailed],
      union: { name: 'ChatResult', description: 'The answer, or why the call failed.' },
    },
    resolve: (_root, { input }, { scope }) => completeChat(scope, readChat(input)),
  }),
);

builder.subscriptionField('chatStream', (t) =>
  t.field({
    type: ChatDeltaType,
    description:
      'Calls a chat model and streams the answer. A failure before the first event is an error; a later failure is a ' +
      'ChatFailure. Unsubscribing cancels the call.',
    complexity: { field: CALL_COST, multiplier: 1 },
    args: { input: t.arg({ type: ChatInput, required: true, description: 'The request.' }) },
    subscribe: (_root, { input }, { scope }) => streamChat(scope, readChat(input)),
    resolve: memberOf,
  }),
);
