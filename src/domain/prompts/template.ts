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

/** Maximum characters of a template. */
export const MAX_TEMPLATE_CHARACTERS = 262_144;
/** Maximum characters of all messages of a rendered template. */
const MAX_RENDERED_CHARACTERS = 1_048_576;

/** A line that begins a message, such as `User: hello`, or the marker of a role of the dotprompt format. */
const ROLE_LINE =
  /^[ \t]*(?:(system|developer|user|assistant)[ \t]*:|\{\{[ \t]*role[ \t]+"(system|user|model)"[ \t]*\}\})/i;
/** An expression in braces. */
const EXPRESSION = /\{\{([^{}]*)\}\}/g;
const VARIABLE = /^\s*([A-Za-z_]\w*)\s*$/;
/** Statements of template languages, which are not run here. */
const STATEMENT = /\{%|\{#/;

const roleOf = (name: string): PromptRole => {
  const lower = name.toLowerCase();
  return lower === 'model' ? 'assistant' : (lower as PromptRole);
};

/** Pieces of a text. Throws InvalidInput for expressions other than names of variables. */
function piecesOf(text: string): readonly Piece[] {
  if (STATEMENT.test(text)) throw new InvalidInput('The template has a statement. Only {{variable}} is supported.');
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(EXPRESSION)) {
    const variable = VARIABLE.exec(match[1] ?? '')?.[1];
    if (variable === undefined)
      throw new InvalidInput(
        `The template has the expression ${match[0].slice(0, 80)}. Only {{variable}} is supported, with letters, digits and _.`,
      );
    if (match.index > from) pieces.push({ text: text.slice(from, match.index) });
    pieces.push({ variable });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

/**
 * Sections of a template. Lines before the first role are a message of the user. Values of variables are inserted
 * later, so that they cannot begin a section. Throws InvalidInput.
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
  const filled = parsed.filter(({ pieces }) => pieces.length > 0);
  if (filled.length === 0) throw new InvalidInput('The template is empty.');
  return filled;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Names of the variables of sections, each once. */
const variablesOf = (sections: readonly TemplateSection[]): readonly string[] => [
  ...new Set(sections.flatMap(({ pieces }) => pieces.flatMap((one) => ('variable' in one ? [one.variable] : [])))),
];

/**
 * Messages with the values of variables. A value that is no text is inserted as JSON. Throws InvalidInput for a missing
 * variable and for messages that are too long.
 */
export function rendered(
  sections: readonly TemplateSection[],
  variables: ReadonlyMap<string, unknown>,
): readonly RenderedMessage[] {
  const missing = variablesOf(sections).filter((name) => (variables.get(name) ?? null) === null);
  if (missing.length > 0) throw missingVariables(missing);
  const texts = new Map<string, string>();
  let length = 0;
  const insert = (text: string): string => {
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
    content: pieces.map((one) => insert('text' in one ? one.text : valueOf(one.variable))).join(''),
  }));
}

function missingVariables(names: readonly string[]): InvalidInput {
  const message = `The prompt needs the variables ${names.slice(0, 20).join(', ')} in 'prompt_variables'.`;
  return new InvalidInput(message, [{ path: ['body', 'prompt_variables'], rule: 'missing', message }]);
}
