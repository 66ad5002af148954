import { isJsonObject } from '../json-object.ts';
import { asText, listOf, messageOf, parseStructure } from './conventions/conversation.ts';

/** A message as it is shown. */
export interface ShownMessage {
  readonly role: ShownRole;
  readonly content: string;
  /** Name that the message states, usually the name of a tool; null without one. */
  readonly name: string | null;
  /** Tool calls that the model requests. The arguments are usually JSON. */
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[];
}

export const SHOWN_ROLES = ['system', 'user', 'assistant', 'tool'] as const;
type ShownRole = (typeof SHOWN_ROLES)[number];

/** Roles that are shown as another role. */
const ALIASES: Readonly<Record<string, ShownRole>> = { developer: 'system', function: 'tool' };

/** Input or output of a span, in a form for display. */
export type ContentView =
  | { readonly kind: 'messages'; readonly messages: readonly ShownMessage[] }
  | { readonly kind: 'fields'; readonly fields: readonly { readonly key: string; readonly value: string }[] }
  | { readonly kind: 'text'; readonly text: string };

/**
 * A stored input or output: a list of messages as messages, a JSON object that has members as fields, anything else as
 * text.
 */
export function contentViewOf(text: string): ContentView {
  const parsed = parseStructure(text);
  if (isJsonObject(parsed)) {
    const fields = Object.entries(parsed).map(([key, value]) => ({
      key,
      value: value === null ? 'null' : asText(value),
    }));
    return fields.length === 0 ? { kind: 'text', text } : { kind: 'fields', fields };
  }
  const entries = listOf(parsed);
  const messages = entries.flatMap((entry) => shownMessage(entry) ?? []);
  // A list with an entry that is not a message is not a conversation.
  if (messages.length === 0 || messages.length < entries.length) return { kind: 'text', text };
  return { kind: 'messages', messages };
}

/** Null for an entry that cannot be shown as a message. */
function shownMessage(entry: unknown): ShownMessage | null {
  const message = messageOf(entry);
  if (message === null || !isJsonObject(entry)) return null;
  const { role, content, tool_calls: calls = [] } = message;
  const shownRole =
    SHOWN_ROLES.find((known) => known === role) ?? (Object.hasOwn(ALIASES, role) ? ALIASES[role] : null);
  // For example a refusal: its content has parts, but none of them is readable.
  const isUnreadable = content === '' && calls.length === 0 && entry['content'] !== '';
  if (!shownRole || isUnreadable) return null;
  const name = entry['name'] ?? message.name;
  const toolCalls = calls.map((call) => ({ name: call.name, arguments: call.arguments }));
  return { role: shownRole, content, name: typeof name === 'string' ? name : null, toolCalls };
}
