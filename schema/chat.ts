import { completeChat, type ChatStep, type CompletedChat, streamChat, type ToolCall } from '../resolvers/chat.ts';
import type { ChatDelta } from '../src/domain/chat/chat.ts';
import type { ChatDraft } from '../src/domain/chat/chat-draft.ts';
import { InvalidInput, LimitExceeded, NotFound, Rejected, Unsupported, UpstreamFailed } from '../src/domain/errors.ts';
import { usdText } from '../src/domain/money.ts';
import { parseTraceparent } from '../src/domain/traces/trace-context.ts';
import { builder } from './builder.ts';
import { CALL_COST } from './limits.ts';
import { UsageType } from './refs.ts';

const ChatRoleType = builder.enumType('ChatRole', {
  description: 'Who says a message.',
  values: {
    SYSTEM: { value: 'system', description: 'The rules of the chat.' },
    DEVELOPER: { value: 'developer', description: 'The rules of the chat, for models that know this word.' },
    USER: { value: 'user', description: 'The one who asks.' },
    ASSISTANT: { value: 'assistant', description: 'The model.' },
    TOOL: { value: 'tool', description: 'A tool that was called.' },
  } as const,
});

const ChatMessageInput = builder.inputType('ChatMessageInput', {
  description: 'One message of a chat.',
  fields: (t) => ({
    role: t.field({ type: ChatRoleType, required: true, description: 'Who says it.' }),
    content: t.field({
      type: 'JSON',
      description: 'Its text, or a list of content parts as chat-completions has them.',
    }),
    name: t.string({ description: 'Name of the one who says it.' }),
    toolCallId: t.id({ description: 'The call that a tool message answers.' }),
    toolCalls: t.field({
      type: ['JSON'],
      description: 'The calls an assistant message made, as chat-completions has them.',
    }),
  }),
});

const ChatInput = builder.inputType('ChatInput', {
  description: 'A chat to be answered.',
  fields: (t) => ({
    model: t.string({ required: true, description: 'The model group asked.' }),
    messages: t.field({ type: [ChatMessageInput], required: true, description: 'The chat so far.' }),
    temperature: t.float({ description: 'How freely the model chooses its words.' }),
    topP: t.float({ description: 'Share of the likeliest words it chooses from.' }),
    maxTokens: t.int({ description: 'Most output tokens.' }),
    stop: t.stringList({ description: 'Texts that end the answer.' }),
    seed: t.int({ description: 'Asks for the same answer to the same chat.' }),
    tools: t.field({ type: ['JSON'], description: 'Tools the model may call, as chat-completions has them.' }),
    toolChoice: t.field({ type: 'JSON', description: 'Which tool it must call, as chat-completions has it.' }),
    responseFormat: t.field({ type: 'JSON', description: 'Form of the answer, as chat-completions has it.' }),
    reasoningEffort: t.string({ description: 'How long it reasons, in the words of the model.' }),
    user: t.string({ description: 'The end user this is for.' }),
    parameters: t.field({
      type: 'JSON',
      description: 'Further parameters of chat-completions, as an object; the fields above win.',
    }),
    callId: t.id({ description: 'Your own id of this call, at most 200 printable characters; ours when absent.' }),
    traceparent: t.string({ description: 'W3C trace context the call hangs in; a new trace when absent.' }),
  }),
});

type ChatInputShape = typeof ChatInput.$inferInput;
type ChatMessageShape = typeof ChatMessageInput.$inferInput;

/** A call id that can be kept in a row as it is; another is not taken. */
const CALL_ID = /^[\x21-\x7e]{1,200}$/;

/** What is given, under its name in the dialect. */
const given = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

function readMessage({ role, content, name, toolCallId, toolCalls }: ChatMessageShape): Record<string, unknown> {
  return { role, content: content ?? null, ...given({ name, tool_call_id: toolCallId, tool_calls: toolCalls }) };
}

function readChat(input: ChatInputShape): ChatDraft {
  const further = input.parameters ?? {};
  if (typeof further !== 'object' || Array.isArray(further))
    throw new InvalidInput('`parameters` must be an object.', [
      { path: ['input', 'parameters'], rule: 'type', message: 'must be an object' },
    ]);
  return {
    model: input.model,
    messages: input.messages.map(readMessage),
    parameters: {
      ...further,
      ...given({
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
    callId: CALL_ID.test(input.callId ?? '') ? (input.callId ?? null) : null,
    parent: parseTraceparent(input.traceparent ?? undefined),
  };
}

const ToolCallType = builder.objectRef<ToolCall>('ToolCall').implement({
  description: 'A tool the model wants called.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names the call in the message that answers it.' }),
    name: t.exposeString('name', { description: 'The tool.' }),
    arguments: t.exposeString('arguments', { description: 'JSON text, as the model wrote it.' }),
  }),
});

const ChatCompletionType = builder.objectRef<CompletedChat>('ChatCompletion').implement({
  description: 'A chat with its whole answer.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: true, description: "The upstream's id of the answer." }),
    callId: t.exposeID('callId', { description: 'Id of the call.' }),
    traceId: t.exposeID('traceId', { description: 'The trace this call is in; readable a moment later.' }),
    spanId: t.exposeID('spanId', { description: 'The span this call is.' }),
    model: t.exposeString('model', {
      nullable: true,
      description: 'The model that answered, as the upstream names it.',
    }),
    text: t.exposeString('content', { description: 'What it says.' }),
    reasoning: t.exposeString('reasoning', { description: 'What it thought, when the model shows that.' }),
    toolCalls: t.field({
      type: [ToolCallType],
      description: 'Tools it wants called.',
      resolve: ({ toolCalls }) => toolCalls,
    }),
    finishReason: t.exposeString('finishReason', { nullable: true, description: 'Why it ended, e.g. `stop`.' }),
    usage: t.field({
      type: UsageType,
      nullable: true,
      description: 'Tokens used; null when the upstream reported none.',
      resolve: ({ usage }) => usage,
    }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'What it cost; null when no price is known.',
      resolve: ({ cost }) => (cost === null ? null : usdText(cost)),
    }),
  }),
});

const ChatStepType = builder.interfaceRef<ChatStep>('ChatStep').implement({
  description: 'One step of a streamed answer, and the call it belongs to.',
  fields: (t) => ({
    callId: t.exposeID('callId', { description: 'Id of the call.' }),
    traceId: t.exposeID('traceId', { description: 'The trace this call is in.' }),
    spanId: t.exposeID('spanId', { description: 'The span this call is.' }),
  }),
});

/** A step whose delta is of one kind. */
type StepOf<Kind extends ChatDelta['kind']> = ChatStep & { readonly delta: Extract<ChatDelta, { kind: Kind }> };

const ChatTextType = builder.objectRef<StepOf<'text'>>('ChatText').implement({
  description: 'The next piece of the answer.',
  interfaces: [ChatStepType],
  fields: (t) => ({ text: t.string({ description: 'The piece.', resolve: ({ delta }) => delta.text }) }),
});

const ChatReasoningType = builder.objectRef<StepOf<'reasoning'>>('ChatReasoning').implement({
  description: 'The next piece of what the model thinks.',
  interfaces: [ChatStepType],
  fields: (t) => ({ text: t.string({ description: 'The piece.', resolve: ({ delta }) => delta.text }) }),
});

const ChatToolCallType = builder.objectRef<StepOf<'toolCall'>>('ChatToolCall').implement({
  description: 'The next piece of a tool call.',
  interfaces: [ChatStepType],
  fields: (t) => ({
    index: t.int({ description: 'Which call of this answer.', resolve: ({ delta }) => delta.index }),
    toolCallId: t.id({ nullable: true, description: 'On its first piece only.', resolve: ({ delta }) => delta.id }),
    name: t.string({ nullable: true, description: 'On its first piece only.', resolve: ({ delta }) => delta.name }),
    arguments: t.string({
      description: 'The next piece of its JSON arguments.',
      resolve: ({ delta }) => delta.arguments,
    }),
  }),
});

const ChatFinishType = builder.objectRef<StepOf<'finish'>>('ChatFinish').implement({
  description: 'The model has ended its answer.',
  interfaces: [ChatStepType],
  fields: (t) => ({ reason: t.string({ description: 'Why, e.g. `stop`.', resolve: ({ delta }) => delta.reason }) }),
});

const ChatUsageType = builder.objectRef<StepOf<'usage'>>('ChatUsage').implement({
  description: 'What the answer used.',
  interfaces: [ChatStepType],
  fields: (t) => ({
    usage: t.field({ type: UsageType, description: 'Tokens used.', resolve: ({ delta }) => delta.usage }),
  }),
});

const ChatFailureType = builder.objectRef<StepOf<'failure'>>('ChatFailure').implement({
  description: 'The answer broke off. The last step.',
  interfaces: [ChatStepType],
  fields: (t) => ({
    code: t.string({
      description: "Code of the failure, the upstream's where it gave one.",
      resolve: ({ delta }) => delta.code,
    }),
    message: t.string({ description: 'What went wrong, for people.', resolve: ({ delta }) => delta.message }),
  }),
});

const NAMES: Record<ChatDelta['kind'], string> = {
  text: ChatTextType.name,
  reasoning: ChatReasoningType.name,
  toolCall: ChatToolCallType.name,
  finish: ChatFinishType.name,
  usage: ChatUsageType.name,
  failure: ChatFailureType.name,
};

const ChatDeltaType = builder.unionType('ChatDelta', {
  description: 'One step of a streamed answer. A failure after it began is a step, too.',
  types: [ChatTextType, ChatReasoningType, ChatToolCallType, ChatFinishType, ChatUsageType, ChatFailureType],
  resolveType: ({ delta }) => NAMES[delta.kind],
});

/** The step as the member of the union that its delta says it is. */
const memberOf = (step: ChatStep) => step as { [Kind in ChatDelta['kind']]: StepOf<Kind> }[ChatDelta['kind']];

builder.mutationField('chat', (t) =>
  t.field({
    type: ChatCompletionType,
    description: 'Asks a model and waits for its whole answer.',
    complexity: { field: CALL_COST, multiplier: 1 },
    args: { input: t.arg({ type: ChatInput, required: true, description: 'The chat.' }) },
    errors: {
      types: [InvalidInput, NotFound, Unsupported, LimitExceeded, Rejected, UpstreamFailed],
      union: { name: 'ChatResult', description: 'The answer, or why there is none.' },
    },
    resolve: (_root, { input }, { scope }) => completeChat(scope, readChat(input)),
  }),
);

builder.subscriptionField('chatStream', (t) =>
  t.field({
    type: ChatDeltaType,
    description:
      'Asks a model and hands its answer on as it comes. What fails before it begins is an error; what fails ' +
      'later is a ChatFailure. Leaving gives the call up.',
    complexity: { field: CALL_COST, multiplier: 1 },
    args: { input: t.arg({ type: ChatInput, required: true, description: 'The chat.' }) },
    subscribe: (_root, { input }, { scope }) => streamChat(scope, readChat(input)),
    resolve: memberOf,
  }),
);
