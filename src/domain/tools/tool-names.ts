import { isJsonObject, type JsonObject } from '../json-object.ts';

/** Maximum nesting at which tool calls are found. Formats of conversations have fewer levels. */
const MAX_LEVELS = 32;

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const membersOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** Each name once, in order. */
const distinct = (names: readonly (string | null)[]): readonly string[] => [
  ...new Set(names.filter((name) => name !== null)),
];

const nameOf = (value: unknown): string | null => textOf(membersOf(value)['name']);

/** Maximum nesting of lists of tools in tools. */
const MAX_NESTED_LISTS = 4;

/**
 * All names of one tool: upstreams differ in which of several names they read. A tool of a vendor has no name, and its
 * type or its members are its names.
 */
function namesOfTool(one: unknown, level = 0): readonly (string | null)[] {
  const tool = membersOf(one);
  const declared = [
    ...listOf(tool['functionDeclarations']),
    ...listOf(tool['function_declarations']),
    ...listOf(tool['tools']),
  ];
  const named = [
    nameOf(tool),
    nameOf(tool['function']),
    nameOf(tool['custom']),
    nameOf(tool['toolSpec']),
    ...listOf(tool['allowed_tools']).map(textOf),
    ...(level < MAX_NESTED_LISTS ? declared.flatMap((inner) => namesOfTool(inner, level + 1)) : []),
  ].filter((name) => name !== null);
  if (named.length > 0) return named;
  const type = textOf(tool['type']);
  return type === null ? Object.keys(tool).filter((member) => isJsonObject(tool[member])) : [type];
}

/**
 * Names of the tools that a request offers in `tools`, `toolConfig` or `functions`, in the formats of all endpoints and
 * of forwarded requests.
 */
export function offeredTools(body: JsonObject): readonly string[] {
  const tools = [...listOf(body['tools']), ...listOf(membersOf(body['toolConfig'])['tools'])];
  return distinct([...tools.flatMap((tool) => namesOfTool(tool)), ...listOf(body['functions']).map(nameOf)]);
}

/** Types of content blocks and items that are calls of tools. */
const CALL_TYPES: ReadonlySet<unknown> = new Set([
  'tool_use',
  'server_tool_use',
  'mcp_tool_use',
  'function_call',
  'custom_tool_call',
  'mcp_call',
]);
/** Types of content blocks and items that are results of tools, and the member with the id of their call. */
const RESULT_IDS: ReadonlyMap<unknown, string> = new Map([
  ['tool_result', 'tool_use_id'],
  ['mcp_tool_result', 'tool_use_id'],
  ['function_call_output', 'call_id'],
  ['custom_tool_call_output', 'call_id'],
]);

interface Found {
  readonly calls: (string | null)[];
  /** Names of calls by their ids. */
  readonly byId: Map<string, string>;
  /** Ids or names of results. */
  readonly results: ({ readonly id: string } | { readonly name: string })[];
}

function addCall(found: Found, name: string | null, ...ids: readonly unknown[]): void {
  if (name === null) return;
  found.calls.push(name);
  for (const id of ids) if (typeof id === 'string') found.byId.set(id, name);
}

function readObject(value: JsonObject, found: Found): void {
  const { type, role } = value;
  for (const item of listOf(value['tool_calls'])) {
    const call = membersOf(item);
    for (const named of [call['function'], call['custom'], call]) addCall(found, nameOf(named), call['id']);
  }
  for (const called of [value['functionCall'], value['function_call']])
    if (isJsonObject(called)) addCall(found, nameOf(called), called['id']);
  const { toolUse, toolResult } = value;
  if (isJsonObject(toolUse)) addCall(found, nameOf(toolUse), toolUse['toolUseId']);
  if (isJsonObject(toolResult)) found.results.push(resultOf(toolResult['toolUseId'], null));
  if (CALL_TYPES.has(type)) addCall(found, textOf(value['name']), value['id'], value['call_id']);
  for (const answered of [value['functionResponse'], value['function_response']])
    if (isJsonObject(answered)) found.results.push({ name: nameOf(answered) ?? '' });
  if (role === 'tool') found.results.push(resultOf(value['tool_call_id'], value['name']));
  if (role === 'function') found.results.push({ name: textOf(value['name']) ?? '' });
  const idMember = RESULT_IDS.get(type);
  if (idMember !== undefined) found.results.push(resultOf(value[idMember], value['name']));
}

/** The id names the call in the same conversation. The name in the result itself is that of the caller. */
const resultOf = (id: unknown, name: unknown): Found['results'][number] =>
  typeof id === 'string' ? { id } : { name: textOf(name) ?? '' };

function search(value: unknown, found: Found, level: number): void {
  if (level > MAX_LEVELS) return;
  if (Array.isArray(value)) for (const item of value) search(item, found, level + 1);
  else if (isJsonObject(value)) {
    readObject(value, found);
    for (const [name, member] of Object.entries(value)) if (!DATA.has(name)) search(member, found, level + 1);
  }
}

/** Members with data of tools, in which objects may look like calls. */
const DATA: ReadonlySet<string> = new Set(['arguments', 'args', 'parameters', 'input_schema', 'inputSchema', 'schema']);

const newFound = (): Found => ({ calls: [], byId: new Map(), results: [] });

/** Names of the tools that an answer, or an event of a stream, calls. Reads the formats of all endpoints. */
export function calledTools(answer: unknown): readonly string[] {
  const found = newFound();
  search(answer, found, 0);
  return distinct(found.calls);
}

/** Members of requests with conversations. */
const CONVERSATION = ['messages', 'contents', 'input'] as const;

/** Tools whose calls and results a conversation has. A result of an unknown call has the name `unknown`. */
export function toolsInConversation(body: JsonObject): {
  readonly called: readonly string[];
  readonly resultsOf: readonly string[];
} {
  const found = newFound();
  for (const member of CONVERSATION) search(body[member], found, 0);
  const resultsOf = found.results.map((one) =>
    'id' in one ? (found.byId.get(one.id) ?? UNKNOWN) : one.name || UNKNOWN,
  );
  return { called: distinct(found.calls), resultsOf: distinct(resultsOf) };
}

/** Name of the source of a result whose call the conversation does not have. It has no policy, so it is untrusted. */
const UNKNOWN = 'unknown';
