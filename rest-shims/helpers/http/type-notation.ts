import type { JsonSchema } from './schema.ts';

/** A token at the current position: a mark, a literal in quotes, or a word. */
const TOKEN = /\s*(?:(\.\.\.|[{}[\]()|,:?<>])|'([^']*)'|([\w$.-]+))/y;
const BUILT_IN: Readonly<Record<string, JsonSchema>> = {
  unknown: {},
  object: { type: 'object' },
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  null: { type: 'null' },
};

type Token = { readonly kind: 'mark' | 'literal' | 'word'; readonly text: string };

function tokensOf(notation: string): readonly Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  const end = notation.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(notation);
    if (match === null) throw new TypeError(`Invalid type at ${at}: ${notation}`);
    const [, mark, literal, word] = match;
    if (mark !== undefined) tokens.push({ kind: 'mark', text: mark });
    else if (literal !== undefined) tokens.push({ kind: 'literal', text: literal });
    else tokens.push({ kind: 'word', text: word ?? '' });
  }
  return tokens;
}

/**
 * JSON Schema of a type in a notation like TypeScript's:
 * `{ id: string, models?: string[], limits: Record<integer | null> }`. Objects may have further members. A word that is
 * not a built-in type is the name of a component. Throws TypeError for a syntax error.
 */
export function schemaFrom(notation: string): JsonSchema {
  const tokens = tokensOf(notation);
  let at = 0;
  const isNext = (mark: string): boolean => tokens[at]?.kind === 'mark' && tokens[at]?.text === mark;
  /** Skips a mark. False if another token is next. */
  function accept(mark: string): boolean {
    if (!isNext(mark)) return false;
    at += 1;
    return true;
  }
  function expect(mark: string): void {
    if (!accept(mark)) throw new TypeError(`Expected '${mark}' at token ${at}: ${notation}`);
  }

  function union(): JsonSchema {
    const parts = [list()];
    while (accept('|')) parts.push(list());
    const [only] = parts;
    if (only !== undefined && parts.length === 1) return only;
    const isPlain = parts.every((part) => Object.keys(part).length === 1 && typeof part['type'] === 'string');
    if (isPlain) return { type: parts.map(({ type }) => type) };
    const texts = parts.flatMap((part) => ('const' in part ? [part['const']] : []));
    return texts.length === parts.length ? { type: 'string', enum: texts } : { anyOf: parts };
  }

  function list(): JsonSchema {
    let schema = single();
    while (accept('[')) {
      expect(']');
      schema = { type: 'array', items: schema };
    }
    return schema;
  }

  function single(): JsonSchema {
    if (accept('{')) return members();
    if (accept('(')) {
      const inner = union();
      expect(')');
      return inner;
    }
    const token = tokens[at];
    if (token === undefined || token.kind === 'mark')
      throw new TypeError(`Expected a type at token ${at}: ${notation}`);
    at += 1;
    if (token.kind === 'literal') return { const: token.text };
    if (token.text === 'Record') {
      expect('<');
      const values = union();
      expect('>');
      return { type: 'object', additionalProperties: values };
    }
    return BUILT_IN[token.text] ?? { $ref: `#/components/schemas/${token.text}` };
  }

  function members(): JsonSchema {
    const properties: Record<string, JsonSchema> = {};
    const required: string[] = [];
    while (!accept('}')) {
      const name = tokens[at]?.text ?? '';
      at += 1;
      if (!accept('?')) required.push(name);
      expect(':');
      properties[name] = union();
      if (!isNext('}')) expect(',');
    }
    return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) };
  }

  const schema = union();
  if (at < tokens.length) throw new TypeError(`Unexpected token ${at}: ${notation}`);
  return schema;
}
