import { textAt } from '../attribute-text.ts';
import type { Attributes } from '../span.ts';
import { commonRole, type Message, type ToolCall } from './conversation.ts';
import { conversation, type SpanText } from './convention.ts';

/** Form in which a convention flattens a list of messages into attributes `<prefix>.<index>.<rest>`. */
export interface FlattenedForm {
  readonly prefix: string;
  /** Role of a message without one. */
  readonly defaultRole: string;
  /** The rest of the key that holds the role of a message; the same for its content and its name. */
  readonly role: string;
  readonly content: string;
  readonly name: string;
  /** Matches the rest of a key that holds one part of a content. */
  readonly part: RegExp;
  /** Matches the rest of a key of a tool call: group 1 is its index, group 2 the field. */
  readonly toolCall: RegExp;
}

interface Draft {
  role: string;
  name: string;
  content: string;
  readonly parts: string[];
  readonly calls: Map<number, { name: string; arguments: string; id: string }>;
}

/** Maximum index of a message; attributes with larger ones are ignored. */
const MAX_INDEX = 10_000;

export interface FlattenedConversation extends SpanText {
  /** Whether its messages have neither text nor tool calls. */
  readonly isEmpty: boolean;
}

/** The messages in the flattened attributes of a span; null when there are none. */
export function flattenedConversation(attributes: Attributes, form: FlattenedForm): FlattenedConversation | null {
  const start = `${form.prefix}.`;
  const drafts = new Map<number, Draft>();
  const keys: string[] = [];
  for (const key of Object.keys(attributes)) {
    if (!key.startsWith(start)) continue;
    const dot = key.indexOf('.', start.length);
    const index = dot === -1 ? Number.NaN : Number(key.slice(start.length, dot));
    if (!Number.isInteger(index) || index < 0 || index > MAX_INDEX) continue;
    const draft = drafts.get(index) ?? { role: '', name: '', content: '', parts: [], calls: new Map() };
    if (!addAttribute(draft, key.slice(dot + 1), textAt(attributes, key), form)) continue;
    drafts.set(index, draft);
    keys.push(key);
  }
  if (drafts.size === 0) return null;
  const inOrder = [...drafts].toSorted(([left], [right]) => left - right);
  const messages = inOrder.map(([, draft]) => messageOf(draft, form.defaultRole));
  const isEmpty = messages.every(({ content, tool_calls: calls }) => content === '' && calls === undefined);
  return { ...conversation(messages, keys), isEmpty };
}

/** Adds one attribute to the draft; false when this form does not have it. */
function addAttribute(draft: Draft, rest: string, text: string, form: FlattenedForm): boolean {
  if (rest === form.role) draft.role = text;
  else if (rest === form.content) draft.content = text;
  else if (rest === form.name) draft.name = text;
  else if (form.part.test(rest)) draft.parts.push(text);
  else return addToolCallField(draft, rest, text, form);
  return true;
}

function addToolCallField(draft: Draft, rest: string, text: string, form: FlattenedForm): boolean {
  const [, index, field] = form.toolCall.exec(rest) ?? [];
  if (field !== 'name' && field !== 'arguments' && field !== 'id') return false;
  const call = draft.calls.get(Number(index)) ?? { name: '', arguments: '', id: '' };
  call[field] = text;
  draft.calls.set(Number(index), call);
  return true;
}

function messageOf({ role, name, content, parts, calls }: Draft, defaultRole: string): Message {
  const common = commonRole(role || defaultRole);
  const toolCalls = [...calls].toSorted(([left], [right]) => left - right).map(([, call]) => toolCallOf(call));
  return {
    role: common,
    content: [content, ...parts].filter((text) => text !== '').join('\n\n'),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(common === 'tool' && name !== '' ? { name } : {}),
  };
}

const toolCallOf = ({ name, arguments: args, id }: { name: string; arguments: string; id: string }): ToolCall => ({
  name,
  arguments: args,
  ...(id === '' ? {} : { id }),
});
