import { InvalidInput } from '../errors.ts';

const PROMPT_ROLES = ['system', 'developer', 'user', 'assistant'] as const;
type PromptRole = (typeof PROMPT_ROLES)[number];

/** A piece of a section: a text, or the name of a variable. */
type Piece = { readonly text: string } | { readonly variable: string };

/** One message of a template. */
export interface TemplateSection {
  readonly role: PromptRole;
  readonly pieces: readonly Piece[];
}

/** A message of a rendered template. */
export interface RenderedMessage {
  readonly role: PromptRole;
  readonly content: string;
}

/** Maximum number of characters of a template. */
export const MAX_TEMPLATE_CHARACTERS = 262_144;
/** Maximum number of characters of all messages of a rendered template. */
const MAX_RENDERED_CHARACTERS = 1_048_576;

/** Start of a line that begins a message: `User:`, or `{{role "user"}}` as in the dotprompt format. */
const ROLE_LINE =
  /^[ \t]*(?:(system|developer|user|assistant)[ \t]*:|\{\{[ \t]*role[ \t]+"(system|user|model)"[ \t]*\}\})/i;
/** An expression in double braces. */
const EXPRESSION = /\{\{([^{}]*)\}\}/g;
const VARIABLE = /^\s*([A-Za-z_]\w*)\s*$/;
/** Start of a statement or comment of a template language. Such templates are refused. */
const STATEMENT = /\{%|\{#/;

const roleOf = (name: string): PromptRole => {
  const lower = name.toLowerCase();
  return lower === 'model' ? 'assistant' : (lower as PromptRole);
};

/** Splits a text into pieces. Throws InvalidInput for a statement, and for an expression that is no variable. */
function piecesOf(text: string): readonly Piece[] {
  if (STATEMENT.test(text)) throw new InvalidInput('The template has a statement. Only {{variable}} is supported.');
  const pieces: Piece[] = [];
  let endOfLast = 0;
  for (const match of text.matchAll(EXPRESSION)) {
    const variable = VARIABLE.exec(match[1] ?? '')?.[1];
    if (variable === undefined)
      throw new InvalidInput(
        `The template has the expression ${match[0].slice(0, 80)}. Only {{variable}} is supported, with letters, digits and _.`,
      );
    if (match.index > endOfLast) pieces.push({ text: text.slice(endOfLast, match.index) });
    pieces.push({ variable });
    endOfLast = match.index + match[0].length;
  }
  if (endOfLast < text.length) pieces.push({ text: text.slice(endOfLast) });
  return pieces;
}

/**
 * Parses a template to sections. Lines before the first role are a message of the user. The values of variables are
 * inserted later, so a value cannot begin a section. Throws InvalidInput.
 */
export function sectionsOf(content: string): readonly TemplateSection[] {
  if (content.length > MAX_TEMPLATE_CHARACTERS)
    throw new InvalidInput(`The template has more than ${MAX_TEMPLATE_CHARACTERS} characters.`);
  const sections: { readonly role: PromptRole; readonly lines: string[] }[] = [];
  for (const line of content.split('\n')) {
    const match = ROLE_LINE.exec(line);
    const name = match?.[1] ?? match?.[2];
    if (match !== null && name !== undefined)
      sections.push({ role: roleOf(name), lines: [line.slice(match[0].length).trimStart()] });
    else if (sections.length > 0) sections.at(-1)?.lines.push(line);
    else if (line.trim() !== '') sections.push({ role: 'user', lines: [line] });
  }
  const parsed = sections.map(({ role, lines }) => ({ role, pieces: piecesOf(lines.join('\n').trim()) }));
  const nonEmpty = parsed.filter(({ pieces }) => pieces.length > 0);
  if (nonEmpty.length === 0) throw new InvalidInput('The template is empty.');
  return nonEmpty;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Names of the variables of sections, each once. */
const variablesOf = (sections: readonly TemplateSection[]): readonly string[] => [
  ...new Set(
    sections.flatMap(({ pieces }) => pieces.flatMap((piece) => ('variable' in piece ? [piece.variable] : []))),
  ),
];

/**
 * Renders a template to messages. A value that is no text is inserted as JSON. Throws InvalidInput for a missing
 * variable, and for messages that are too long.
 */
export function rendered(
  sections: readonly TemplateSection[],
  variables: ReadonlyMap<string, unknown>,
): readonly RenderedMessage[] {
  const missing = variablesOf(sections).filter((name) => (variables.get(name) ?? null) === null);
  if (missing.length > 0) throw missingVariables(missing);
  const texts = new Map<string, string>();
  let length = 0;
  const counted = (text: string): string => {
    length += text.length;
    if (length > MAX_RENDERED_CHARACTERS)
      throw new InvalidInput(`The rendered prompt has more than ${MAX_RENDERED_CHARACTERS} characters.`);
    return text;
  };
  const valueOf = (name: string): string => {
    const text = texts.get(name) ?? textOf(variables.get(name));
    texts.set(name, text);
    return text;
  };
  return sections.map(({ role, pieces }) => ({
    role,
    content: pieces.map((piece) => counted('text' in piece ? piece.text : valueOf(piece.variable))).join(''),
  }));
}

function missingVariables(names: readonly string[]): InvalidInput {
  const message = `The prompt needs the variables ${names.slice(0, 20).join(', ')} in 'prompt_variables'.`;
  return new InvalidInput(message, [{ path: ['body', 'prompt_variables'], rule: 'missing', message }]);
}
