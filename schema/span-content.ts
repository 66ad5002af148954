import { type ContentView, SHOWN_ROLES, type ShownMessage } from '../src/domain/traces/content-view.ts';
import { builder } from './builder.ts';
import { CONTENT_COST } from './limits.ts';

type ViewOf<Kind extends ContentView['kind']> = Extract<ContentView, { readonly kind: Kind }>;

const MessageRoleType = builder.enumType('SpanMessageRole', {
  description: 'Whose a message is.',
  values: Object.fromEntries(
    SHOWN_ROLES.map((role) => [role.toUpperCase(), { value: role, description: `Said by the ${role}.` }]),
  ) as {
    readonly [Role in (typeof SHOWN_ROLES)[number] as Uppercase<Role>]: {
      readonly value: Role;
      readonly description: string;
    };
  },
});

const ToolCallType = builder.objectRef<ShownMessage['toolCalls'][number]>('SpanToolCall').implement({
  description: 'A call of a tool that a model asked for.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The tool.' }),
    arguments: t.exposeString('arguments', { description: 'What it is given: JSON as text.' }),
  }),
});

const MessageType = builder.objectRef<ShownMessage>('SpanMessage').implement({
  description: 'One message of a conversation.',
  fields: (t) => ({
    role: t.expose('role', { type: MessageRoleType, description: 'Whose it is.' }),
    content: t.exposeString('content', { description: 'What was said; empty when it only calls tools.' }),
    name: t.exposeString('name', { nullable: true, description: 'The tool that speaks, where it is told.' }),
    toolCalls: t.field({
      type: [ToolCallType],
      description: 'The tools it asks to be called.',
      resolve: ({ toolCalls }) => toolCalls,
    }),
  }),
});

const MessagesType = builder.objectRef<ViewOf<'messages'>>('SpanMessages').implement({
  description: 'A conversation.',
  fields: (t) => ({
    messages: t.field({
      type: [MessageType],
      description: 'Its messages, in their order.',
      resolve: ({ messages }) => messages,
    }),
  }),
});

const FieldType = builder.objectRef<ViewOf<'fields'>['fields'][number]>('SpanField').implement({
  description: 'One member of an object.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'Its name.' }),
    value: t.exposeString('value', { description: 'Its value: text as it is, anything else as JSON.' }),
  }),
});

const FieldsType = builder.objectRef<ViewOf<'fields'>>('SpanFields').implement({
  description: 'An object, such as the arguments of a tool.',
  fields: (t) => ({
    fields: t.field({
      type: [FieldType],
      description: 'Its members, in their order.',
      resolve: ({ fields }) => fields,
    }),
  }),
});

const TextType = builder.objectRef<ViewOf<'text'>>('SpanText').implement({
  description: 'Anything else.',
  fields: (t) => ({ text: t.exposeString('text', { description: 'As it is kept.' }) }),
});

const TYPES = { messages: MessagesType, fields: FieldsType, text: TextType } as const;

/** What a span carries, in the form it is best shown in. */
const SpanContentType = builder.unionType('SpanContent', {
  description: 'What went into a span or came out of it, in the form it is best shown in.',
  types: Object.values(TYPES),
  resolveType: ({ kind }) => TYPES[kind],
});

/** A field that shows content. The whole text, up to 64 KiB, is parsed for it. */
export const CONTENT_VIEW = { type: SpanContentType, complexity: CONTENT_COST } as const;
