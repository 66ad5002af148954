import { type ContentView, contentViewOf, SHOWN_ROLES, type ShownMessage } from '../src/domain/traces/content-view.ts';
import type { Span, SpanPayload } from '../src/domain/traces/span.ts';
import { tokenDetailsOf } from '../src/domain/traces/token-details.ts';
import { builder, type GraphContext } from './base/builder.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';
import { tokensOrNull } from './base/counts.ts';
import { CONTENT_COST, CONTENT_FIELD_COST, LIST_LENGTH } from './base/limits.ts';
import { type PartialSpan, SpanType } from './base/refs.ts';
import { instantOf } from './spans.ts';

type ViewOf<Kind extends ContentView['kind']> = Extract<ContentView, { readonly kind: Kind }>;

const MessageRoleType = builder.enumType('SpanMessageRole', {
  description: 'Role of a message.',
  values: Object.fromEntries(
    SHOWN_ROLES.map((role) => [role.toUpperCase(), { value: role, description: `Role ${role}.` }]),
  ) as {
    readonly [Role in (typeof SHOWN_ROLES)[number] as Uppercase<Role>]: {
      readonly value: Role;
      readonly description: string;
    };
  },
});

const ToolCallType = builder.objectRef<ShownMessage['toolCalls'][number]>('SpanToolCall').implement({
  description: 'A tool call that the model requested.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Tool name.' }),
    arguments: t.exposeString('arguments', { description: 'Arguments as JSON text.' }),
  }),
});

const MessageType = builder.objectRef<ShownMessage>('SpanMessage').implement({
  description: 'One message of a conversation.',
  fields: (t) => ({
    role: t.expose('role', { type: MessageRoleType, description: 'Role of the message.' }),
    content: t.string({
      nullable: true,
      description: 'Text of the message. Null when it only has tool calls.',
      resolve: ({ content }) => nullIfEmpty(content),
    }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'Name of the participant or tool. Null when unknown.',
    }),
    toolCalls: t.field({
      type: [ToolCallType],
      description: 'Tool calls that the message requests.',
      resolve: ({ toolCalls }) => toolCalls,
    }),
  }),
});

const MessagesType = builder.objectRef<ViewOf<'messages'>>('SpanMessages').implement({
  description: 'A conversation.',
  fields: (t) => ({
    messages: t.field({
      type: [MessageType],
      description: 'Messages, oldest first.',
      resolve: ({ messages }) => messages,
    }),
  }),
});

const FieldType = builder.objectRef<ViewOf<'fields'>['fields'][number]>('SpanField').implement({
  description: 'One member of an object.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Name of the member.' }),
    value: t.exposeString('value', { description: 'Value: text unchanged, other values as JSON.' }),
  }),
});

const FieldsType = builder.objectRef<ViewOf<'fields'>>('SpanFields').implement({
  description: 'An object, such as the arguments of a tool.',
  fields: (t) => ({
    fields: t.field({
      type: [FieldType],
      description: 'Members in their order.',
      resolve: ({ fields }) => fields,
    }),
  }),
});

const TextType = builder.objectRef<ViewOf<'text'>>('SpanText').implement({
  description: 'Plain text, or JSON that is neither a conversation nor an object.',
  fields: (t) => ({ text: t.exposeString('text', { description: 'The text.' }) }),
});

const TYPES = { messages: MessagesType, fields: FieldsType, text: TextType } as const;

const SpanContentType = builder.unionType('SpanContent', {
  description: 'Parsed input or output of a span.',
  types: Object.values(TYPES),
  resolveType: ({ kind }) => TYPES[kind],
});

const attributesOf = (part: Span['events'][number] | Span['links'][number]): unknown => part.attributes;

const SpanEventType = builder.objectRef<Span['events'][number]>('SpanEvent').implement({
  description: 'An event of a span.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Event name.' }),
    at: t.field({
      type: 'DateTime',
      description: 'Time of the event, to the millisecond.',
      resolve: ({ timeNs }) => instantOf(timeNs),
    }),
    attributes: t.field({ type: 'JSON', description: 'Attributes with text values.', resolve: attributesOf }),
  }),
});

const SpanLinkType = builder.objectRef<Span['links'][number]>('SpanLink').implement({
  description: 'A link to another span.',
  fields: (t) => ({
    traceId: t.exposeID('traceId', { description: 'Trace id of the linked span.' }),
    spanId: t.exposeID('spanId', { description: 'Span id of the linked span.' }),
    attributes: t.field({
      type: 'JSON',
      description: 'Attributes of the link with text values.',
      resolve: attributesOf,
    }),
  }),
});

/** Empty content, for a span whose content was redacted or removed after the span itself was read. */
const NO_CONTENT = { input: '', output: '', attributes: {}, resourceAttributes: {}, events: [], links: [] };

/** Reads the content of a span once for all fields. */
async function contentOf({ traceId, traceRef, spanId }: PartialSpan, { scope }: GraphContext): Promise<SpanPayload> {
  return (await scope.loaders.contentBySpan.load({ traceId, traceRef, spanId })) ?? NO_CONTENT;
}

/** Cost of a field that reads the content of its span. */
const complexity = { field: CONTENT_FIELD_COST, multiplier: 1 };
const LIMIT =
  'Values longer than the configured limit (default 64 KiB) are truncated. Expensive: reads the content of the span.';

builder.objectFields(SpanType, (t) => {
  const text = (member: 'input' | 'output', what: string) =>
    t.string({
      nullable: true,
      complexity,
      description: `${what} as stored. Null when the sender sent none. ${LIMIT}`,
      resolve: async (span, _args, context) => nullIfEmpty((await contentOf(span, context))[member]),
    });
  const view = (member: 'input' | 'output', what: string) =>
    t.field({
      type: SpanContentType,
      nullable: true,
      complexity: { field: CONTENT_COST, multiplier: 1 },
      description: `${what}, parsed for display. Null when the sender sent none. Expensive: parses the stored value.`,
      resolve: async (span, _args, context) => {
        const content = (await contentOf(span, context))[member];
        return content === '' ? null : contentViewOf(content);
      },
    });
  const tokens = (member: 'cacheRead' | 'cacheWrite' | 'reasoning', description: string) =>
    t.int({
      nullable: true,
      complexity,
      description: `${description} Null when unknown.`,
      resolve: async (span, _args, context) =>
        tokensOrNull(tokenDetailsOf((await contentOf(span, context)).attributes)[member]),
    });
  return {
    input: text('input', 'Input'),
    output: text('output', 'Output'),
    inputView: view('input', 'Input'),
    outputView: view('output', 'Output'),
    cacheReadTokens: tokens('cacheRead', 'Input tokens that were read from a cache.'),
    cacheWriteTokens: tokens('cacheWrite', 'Input tokens that were written to a cache.'),
    reasoningTokens: tokens('reasoning', 'Output tokens of reasoning.'),
    attributes: t.field({
      type: 'JSON',
      complexity,
      description: `Attributes with text values, without input and output. ${LIMIT}`,
      resolve: async (span, _args, context) => (await contentOf(span, context)).attributes,
    }),
    resourceAttributes: t.field({
      type: 'JSON',
      complexity,
      description: `Resource attributes with text values. ${LIMIT}`,
      resolve: async (span, _args, context) => (await contentOf(span, context)).resourceAttributes,
    }),
    events: t.field({
      type: [SpanEventType],
      complexity: { field: CONTENT_FIELD_COST, multiplier: LIST_LENGTH },
      description: `Events in the order they were sent. ${LIMIT}`,
      resolve: async (span, _args, context) => [...(await contentOf(span, context)).events],
    }),
    links: t.field({
      type: [SpanLinkType],
      complexity: { field: CONTENT_FIELD_COST, multiplier: LIST_LENGTH },
      description: `Links to other spans. ${LIMIT}`,
      resolve: async (span, _args, context) => [...(await contentOf(span, context)).links],
    }),
  };
});
