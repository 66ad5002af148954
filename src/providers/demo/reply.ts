/** Reply of the demo model: text, or one tool call. */
export type DemoReply =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'toolCall'; readonly name: string; readonly arguments: string };

type Fields = Readonly<Record<string, unknown>>;
const object = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Most characters of the prompt in the reply. */
const QUOTE_LIMIT = 400;
const CHARACTERS_PER_TOKEN = 4;

/** Token count of the demo model: one token per four UTF-16 code units, rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/**
 * Reply to a chat-completions body. Calls the first tool whose name is in the last message, with a value of the right
 * type for each required argument. Quotes a tool result, and echoes all other messages.
 */
export function composeReply(body: Fields): DemoReply {
  const last = object(list(body['messages']).at(-1));
  const prompt = textOf(last['content']);
  const named = last['role'] === 'tool' ? undefined : toolNamed(body['tools'], prompt);
  if (named) return { kind: 'toolCall', ...named };
  return { kind: 'text', text: last['role'] === 'tool' ? echoOf(prompt, 'The tool answered') : echoOf(prompt) };
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

function toolNamed(tools: unknown, prompt: string): { name: string; arguments: string } | undefined {
  for (const tool of list(tools)) {
    const declared = object(object(tool)['function']);
    const { name } = declared;
    if (typeof name === 'string' && name !== '' && prompt.includes(name)) {
      return { name, arguments: JSON.stringify(argumentsFor(object(declared['parameters']))) };
    }
  }
  return undefined;
}

function argumentsFor(schema: Fields): Fields {
  const properties = object(schema['properties']);
  const required = list(schema['required']).filter((name) => typeof name === 'string');
  return Object.fromEntries(required.map((name) => [name, valueFor(object(properties[name]))]));
}

function valueFor(schema: Fields): unknown {
  const [choice] = list(schema['enum']);
  if (choice !== undefined) return choice;
  switch (schema['type']) {
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return argumentsFor(schema);
    default:
      return 'demo';
  }
}
