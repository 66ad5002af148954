import { isJsonObject } from '../../json-object.ts';
import { textAt } from '../attribute-text.ts';
import type { Attributes, RawSpan, SpanType } from '../span.ts';
import {
  type Convention,
  conversation,
  countReader,
  firstPlain,
  firstValue,
  type SpanText,
  plainText,
  textOf,
  tokensIn,
} from './convention.ts';
import { type Message, parseStructure } from './conversation.ts';
import { genAi } from './gen-ai.ts';

/** Instrumentation scopes of Claude Code, the current and the former name. */
const SCOPES = new Set(['com.anthropic.claude_code.tracing', 'com.anthropic.claude_code.traces']);
const NAME = 'claude-code';
const PREFIX = 'claude_code.';

const TYPES: Readonly<Record<string, SpanType>> = {
  interaction: 'agent',
  llm_request: 'llm',
  tool: 'tool',
  compaction: 'chain',
};

const CACHE_READ = 'cache_read_tokens';
const CACHE_WRITE = 'cache_creation_tokens';
const PROMPT = 'user_prompt';
const CONTEXT = 'new_context';
const ANSWER = 'response.model_output';
const TOOL_INPUT = 'tool_input';
/**
 * Parts of a tool's input, for spans without the whole input: the name under which each is shown, and its attribute
 * key.
 */
const TOOL_FACTS: readonly (readonly [string, string])[] = [
  ['command', 'full_command'],
  ['file_path', 'file_path'],
  ['bash_argv0', 'bash_argv0'],
];
const TOOL_OUTPUTS = ['output', 'content', 'diff'];

/** Claude Code's own tracing: interactions with model requests and tools, and framework steps between them. */
export const claudeCode: Convention = {
  name: 'claude-code',
  recognises: ({ instrumentationScope }) => SCOPES.has(instrumentationScope.name),
  type(span): SpanType {
    const kind = kindOf(span);
    return (Object.hasOwn(TYPES, kind) ? TYPES[kind] : undefined) ?? 'framework';
  },
  agent: ({ attributes }) => subagentIn(textAt(attributes, 'query_source')) ?? NAME,
  modelKeys: ['model', ...genAi.modelKeys],
  responseIdKeys: [...genAi.responseIdKeys, 'request_id'],
  // Claude Code's `input_tokens` excludes cache reads and writes; other conventions include both.
  inputTokens: (attributes) =>
    tokensIn(['input_tokens', CACHE_READ, CACHE_WRITE].reduce((sum, key) => sum + countReader(key)(attributes), 0)),
  outputTokens: countReader('output_tokens'),
  cacheReadTokenKeys: [CACHE_READ],
  cacheWriteTokenKeys: [CACHE_WRITE],
  reasoningTokenKeys: [],
  input(span, type) {
    const { attributes } = span;
    if (type === 'agent') return messageOf('user', attributes, PROMPT);
    if (type === 'llm') return requestOf(attributes);
    return type === 'tool' ? toolInput(attributes) : null;
  },
  output(span, type) {
    if (type === 'llm') return messageOf('assistant', span.attributes, ANSWER);
    return type === 'tool' ? toolOutput(span) : null;
  },
};

const kindOf = ({ attributes, name }: RawSpan): string =>
  textAt(attributes, 'span.type') || (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name);

/** The subagent in a query source: `Explore` in `agent:builtin:Explore`. */
function subagentIn(source: string): string | null {
  const [, name] = /^agent:[^:]*:(.+)$/s.exec(source) ?? [];
  return name ?? null;
}

function messageOf(role: string, attributes: Attributes, key: string): SpanText | null {
  const content = firstValue(attributes, [key]) === null ? '' : textAt(attributes, key);
  return content === '' ? null : conversation([{ role, content }], [key]);
}

/** The visible part of the system prompt, and the context since the previous request as one message. */
function requestOf(attributes: Attributes): SpanText | null {
  const system = textAt(attributes, 'system_prompt_preview');
  const context = textAt(attributes, CONTEXT);
  const messages: Message[] = [
    ...(system === '' ? [] : [{ role: 'system', content: system }]),
    ...(context === '' ? [] : [contextMessage(context)]),
  ];
  return messages.length === 0 ? null : conversation(messages, context === '' ? [] : [CONTEXT]);
}

/**
 * A first line such as `[USER]` or `[TOOL RESULT: id]` gives the role of the text after it. Any other text is a message
 * of the user.
 */
function contextMessage(context: string): Message {
  const { header, body } = splitHeader(context);
  if (header === 'USER' || header === 'USER PROMPT') return { role: 'user', content: body };
  if (header === 'ASSISTANT') return { role: 'assistant', content: body };
  return header.startsWith('TOOL RESULT') ? { role: 'tool', content: body } : { role: 'user', content: context };
}

function splitHeader(text: string): { readonly header: string; readonly body: string } {
  const end = text.startsWith('[') ? text.indexOf(']\n') : -1;
  return end === -1 ? { header: '', body: text } : { header: text.slice(1, end), body: text.slice(end + 2) };
}

function toolInput(attributes: Attributes): SpanText | null {
  const { header, body } = splitHeader(textAt(attributes, TOOL_INPUT));
  const ownInput = header === '' || header.startsWith('TOOL INPUT') ? body : '';
  if (isJsonObject(parseStructure(ownInput))) return plainText(ownInput, [TOOL_INPUT]);
  const facts = TOOL_FACTS.flatMap(([name, key]) => {
    const text = textAt(attributes, key);
    return text === '' ? [] : [[name, text] as const];
  });
  return facts.length === 0 ? null : plainText(JSON.stringify(Object.fromEntries(facts)), []);
}

function toolOutput({ attributes, events }: RawSpan): SpanText | null {
  for (const event of events) {
    const output = event.name === 'tool.output' ? firstPlain(event.attributes, TOOL_OUTPUTS) : null;
    // The output also stays in the event, which has its own time.
    if (output !== null) return plainText(textOf(output), []);
  }
  const { header, body } = splitHeader(textAt(attributes, CONTEXT));
  return header.startsWith('TOOL RESULT') && body !== '' ? plainText(body, [CONTEXT]) : null;
}
