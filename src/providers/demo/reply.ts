import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { instanceOf } from './json-instance.ts';

/** One text of a request, with its number of tokens by the rule of the demo model. */
interface CountedText {
  readonly text: string;
  readonly tokens: number;
}

/**
 * Texts of a prompt or an input: one or several, as strings or token arrays. The text of a token array is the list of
 * its numbers.
 */
export function countedTexts(input: unknown): readonly CountedText[] {
  const isTokenArray = Array.isArray(input) && input.some((item) => typeof item === 'number');
  const items: readonly unknown[] = Array.isArray(input) && !isTokenArray ? input : [input];
  return items.map((item) => {
    if (typeof item === 'string') return { text: item, tokens: countTokens(item) };
    if (Array.isArray(item)) return { text: item.join(' '), tokens: item.length };
    const text = JSON.stringify(item);
    return { text, tokens: countTokens(text) };
  });
}

export const tokensOf = (texts: readonly CountedText[]): number => texts.reduce((sum, { tokens }) => sum + tokens, 0);

/** Reply of the demo model: text, or one tool call. */
export type DemoReply =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'toolCall'; readonly name: string; readonly arguments: string };

const object = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null ? (value as JsonObject) : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Maximum characters of the prompt in the reply. */
const QUOTE_LIMIT = 400;
const CHARACTERS_PER_TOKEN = 4;

/** Token count of the demo model: one token per four UTF-16 code units, rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/**
 * Reply to a chat-completions body. Calls the tool that `tool_choice` selects. Without a choice, calls the first tool
 * whose name is in the last message, unless that message is the result of a tool. With a `response_format`, the reply
 * is a valid JSON value. Any other reply quotes the last message.
 */
export function composeReply(body: JsonObject): DemoReply {
  const last = object(list(body['messages']).at(-1));
  const prompt = textOf(last['content']);
  const isResult = last['role'] === 'tool';
  const tool = calledTool(body, prompt, isResult);
  if (tool !== null) return { kind: 'toolCall', name: tool.name, arguments: argumentsOf(tool) };
  const echo = isResult ? echoOf(prompt, 'The tool answered') : echoOf(prompt);
  return { kind: 'text', text: formattedText(object(body['response_format']), echo) };
}

/** Reply that names the demo model and quotes the prompt. */
export function echoOf(prompt: string, intro = 'You said'): string {
  return `This is the built-in demo model of Lensgate, not a language model. ${intro}: ${prompt.slice(0, QUOTE_LIMIT)}`;
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => object(part)['text'])
    .filter((text) => typeof text === 'string')
    .join(' ');
}

interface Tool {
  readonly name: string;
  readonly parameters: unknown;
}

function toolsOf(tools: unknown): readonly Tool[] {
  return list(tools).flatMap((tool): Tool[] => {
    const { name, parameters } = object(object(tool)['function']);
    return typeof name === 'string' && name !== '' ? [{ name, parameters }] : [];
  });
}

/** The tool to call; null for none. `tool_choice` can name one, require or forbid calls, and restrict the tools. */
function calledTool(body: JsonObject, prompt: string, isResult: boolean): Tool | null {
  const choice = body['tool_choice'];
  const { mode, tools: allowed } = object(object(choice)['allowed_tools']);
  const tools = allowed === undefined ? toolsOf(body['tools']) : onlyAllowed(toolsOf(body['tools']), toolsOf(allowed));
  const { name: chosenName } = object(object(choice)['function']);
  const chosen = tools.find((tool) => tool.name === chosenName);
  if (chosen !== undefined) return chosen;
  if (choice === 'none') return null;
  const mentioned = tools.find((tool) => prompt.includes(tool.name));
  // Mistral's clients send `any`.
  const isRequired = choice === 'required' || choice === 'any' || mode === 'required';
  if (isRequired) return mentioned ?? tools[0] ?? null;
  return isResult ? null : (mentioned ?? null);
}

const onlyAllowed = (tools: readonly Tool[], allowed: readonly Tool[]): readonly Tool[] =>
  tools.filter(({ name }) => allowed.some((one) => one.name === name));

/** Arguments that are valid for the tool. Arguments are always an object, also for a schema of another type. */
function argumentsOf({ parameters }: Tool): string {
  const value = instanceOf({ type: 'object', ...object(parameters) });
  return JSON.stringify(isJsonObject(value) ? value : {});
}

/** The reply in the requested format: a value that is valid for a JSON schema, an object with the text, or the text. */
function formattedText(format: JsonObject, text: string): string {
  if (format['type'] === 'json_object') return JSON.stringify({ reply: text });
  const { schema } = object(format['json_schema']);
  if (format['type'] !== 'json_schema' || schema === undefined) return text;
  return JSON.stringify(instanceOf(schema));
}
