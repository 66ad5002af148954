import { isJsonObject } from '../json-object.ts';
import { InvalidInput } from '../errors.ts';
import { snakeCased } from '../key-case.ts';
import { contentViewOf, type ShownMessage } from '../traces/content-view.ts';
import type { Span } from '../traces/span.ts';
import { type CaseContent, type CaseSource, type DatasetCase, MAX_CASE_CHARACTERS, MAX_CASES } from './dataset.ts';

export const NO_SOURCE: CaseSource = { traceId: '', traceRef: '', spanId: '', findingId: '', lensId: '' };

/** A case before its id is known. */
export type CaseDraft = Omit<DatasetCase, 'id'>;

/** The text whose SHA-256 is the id of a case. Another order of the members would change the id. */
export const caseSeed = ({ messages, reply, toolCalls }: CaseContent): string => {
  const calls = (list: CaseContent['toolCalls']) => list.map((one) => ({ name: one.name, arguments: one.arguments }));
  return JSON.stringify({
    messages: messages.map(({ role, content, name, toolCalls: own }) => ({
      role,
      content,
      name,
      tool_calls: calls(own),
    })),
    reply,
    tool_calls: calls(toolCalls),
  });
};

export const isTooLarge = (one: CaseDraft): boolean => JSON.stringify(snakeCased(one)).length > MAX_CASE_CHARACTERS;

/** Throws InvalidInput when a revision has too many cases, or too large ones. */
export function assertCases(cases: readonly CaseDraft[]): void {
  const refuse = (message: string): never => {
    throw new InvalidInput(message, [{ path: [], rule: 'text', message }]);
  };
  if (cases.length > MAX_CASES) refuse(`A dataset holds at most ${MAX_CASES} cases`);
  if (cases.some(isTooLarge)) refuse(`Each case must be at most ${MAX_CASE_CHARACTERS} characters`);
}

const messageOf = ({ role, content, name, toolCalls }: ShownMessage): CaseContent['messages'][number] => ({
  role,
  content,
  name: name ?? '',
  toolCalls,
});

/** Whether a span is a model call whose input is a conversation. */
export const isConversation = ({ type, input }: Span): boolean =>
  type === 'llm' && contentViewOf(input).kind === 'messages';

/** A case from a model call; null when its input is not a conversation. */
export function caseOfSpan(span: Span, source: Partial<CaseSource>): CaseDraft | null {
  const input = contentViewOf(span.input);
  if (input.kind !== 'messages') return null;
  const output = contentViewOf(span.output);
  const last = output.kind === 'messages' ? output.messages.findLast(({ role }) => role === 'assistant') : null;
  return {
    messages: input.messages.map(messageOf),
    reply: output.kind === 'messages' ? (last?.content ?? '') : span.output,
    toolCalls: last?.toolCalls ?? [],
    expected: '',
    included: true,
    source: { ...NO_SOURCE, ...source, traceId: span.traceId, spanId: span.spanId },
    agentVersion: span.attributes['agent.version'] ?? span.resourceAttributes['agent.version'] ?? '',
  };
}

/** A case of one user message. */
export const caseOfMessage = (content: string): CaseDraft => ({
  messages: [{ role: 'user', content, name: '', toolCalls: [] }],
  reply: '',
  toolCalls: [],
  expected: '',
  included: true,
  source: NO_SOURCE,
  agentVersion: '',
});

/** The lines of a text that are not blank, if each begins with `{`; null for any other text. */
export function jsonLines(text: string): readonly string[] | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.length > 0 && lines.every((line) => line.trimStart().startsWith('{')) ? lines : null;
}

/** A text; empty for an absent or null value, and null for any other value. */
function textIn(value: unknown): string | null {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : null;
}

function callsIn(value: unknown): CaseContent['toolCalls'] | null {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return null;
  const calls = value.map((one: unknown) => {
    if (!isJsonObject(one)) return null;
    const [name, args] = [textIn(one['name']), textIn(one['arguments'])];
    return name === null || name === '' || args === null ? null : { name, arguments: args };
  });
  return calls.includes(null) ? null : calls.filter((call) => call !== null);
}

function messageIn(value: unknown): CaseContent['messages'][number] | null {
  if (!isJsonObject(value) || typeof value['role'] !== 'string') return null;
  const [content, name, toolCalls] = [textIn(value['content']), textIn(value['name']), callsIn(value['tool_calls'])];
  return content === null || name === null || toolCalls === null
    ? null
    : { role: value['role'], content, name, toolCalls };
}

/** The case of a JSON line with `messages`; further members are ignored. Null for a line of another form. */
export function caseOfLine(line: string): CaseDraft | null {
  let sent: unknown;
  try {
    sent = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isJsonObject(sent) || !Array.isArray(sent['messages'])) return null;
  const messages = sent['messages'].map(messageIn);
  const [reply, expected, version] = [sent['reply'], sent['expected'], sent['agent_version']].map(textIn);
  const toolCalls = callsIn(sent['tool_calls']);
  if (messages.includes(null) || toolCalls === null) return null;
  if (typeof reply !== 'string' || typeof expected !== 'string' || typeof version !== 'string') return null;
  const present = messages.filter((message) => message !== null);
  return { messages: present, reply, toolCalls, expected, included: true, source: NO_SOURCE, agentVersion: version };
}
