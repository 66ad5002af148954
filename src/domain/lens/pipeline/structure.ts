import { isJsonObject } from '../../json-object.ts';

/** A JSON value that a model must return: its JSON Schema, and a reader that checks it. */
export interface Structure<Value> {
  readonly schema: Readonly<Record<string, unknown>>;
  /**
   * Returns the checked value. Of an invalid value it adds the faults with their paths to `faults` and returns null.
   */
  read(sent: unknown, path: string, faults: string[]): Value | null;
}

const refuse = (path: string, wanted: string, faults: string[]): null => {
  faults.push(`${path}: ${wanted}`);
  return null;
};

/** A text of at most `most` characters. Longer ones are cut, not refused, because models cannot count characters. */
export const textUpTo = (most: number): Structure<string> => ({
  schema: { type: 'string' },
  read: (sent, path, faults) =>
    typeof sent === 'string' ? sent.slice(0, most) : refuse(path, 'must be a string', faults),
});

export const flag: Structure<boolean> = {
  schema: { type: 'boolean' },
  read: (sent, path, faults) => (typeof sent === 'boolean' ? sent : refuse(path, 'must be a boolean', faults)),
};

export const oneOf = <Choice extends string>(...choices: readonly Choice[]): Structure<Choice> => ({
  schema: { type: 'string', enum: choices },
  read: (sent, path, faults) =>
    choices.find((choice) => choice === sent) ?? refuse(path, `must be one of ${choices.join(', ')}`, faults),
});

/**
 * A value, or null; an absent member counts as null. The result is in `value`, because `read` returns null for a fault.
 */
export const orNull = <Value>(inner: Structure<Value>): Structure<{ readonly value: Value | null }> => ({
  schema: { anyOf: [{ type: 'null' }, inner.schema] },
  read(sent, path, faults) {
    if (sent === null || sent === undefined) return { value: null };
    const value = inner.read(sent, path, faults);
    return value === null ? null : { value };
  },
});

/** A list; items above the limit are left out. */
export const listOf = <Item>(inner: Structure<Item>, most = 1_000): Structure<readonly Item[]> => ({
  schema: { type: 'array', items: inner.schema },
  read(sent, path, faults) {
    if (!Array.isArray(sent)) return refuse(path, 'must be an array', faults);
    const before = faults.length;
    const items = sent.slice(0, most).map((item, at) => inner.read(item, `${path}[${at}]`, faults));
    return faults.length > before ? null : items.filter((item) => item !== null);
  },
});

/** An object with these members. The schema forbids further members; the reader ignores them. */
export function objectOf<Values extends Readonly<Record<string, unknown>>>(members: {
  readonly [Name in keyof Values]: Structure<Values[Name]>;
}): Structure<Values> {
  const memberEntries = Object.entries(members) as [string, Structure<unknown>][];
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(memberEntries.map(([name, { schema }]) => [name, schema])),
      required: memberEntries.map(([name]) => name),
      additionalProperties: false,
    },
    read(sent, path, faults) {
      if (!isJsonObject(sent)) return refuse(path, 'must be an object', faults);
      const before = faults.length;
      const sentMembers: Readonly<Record<string, unknown>> = { ...sent };
      const values = memberEntries.map(([name, inner]) => [
        name,
        inner.read(sentMembers[name], `${path}.${name}`, faults),
      ]);
      return faults.length > before ? null : (Object.fromEntries(values) as Values);
    },
  };
}

/** The JSON object in an answer, which may be inside a code fence; undefined without a valid one. */
function jsonIn(text: string): unknown {
  const first = text.indexOf('{');
  const last = text.lastIndexOf('}');
  if (first === -1 || last < first) return undefined;
  try {
    return JSON.parse(text.slice(first, last + 1));
  } catch {
    return undefined;
  }
}

/** Reads an answer: its value, or its first 20 faults. */
export function readAnswer<Value>(
  structure: Structure<Value>,
  text: string,
): { readonly value: Value } | { readonly faults: readonly string[] } {
  const sent = jsonIn(text);
  if (sent === undefined) return { faults: ['The answer is not one JSON object.'] };
  const faults: string[] = [];
  const value = structure.read(sent, '$', faults);
  return value === null ? { faults: faults.slice(0, 20) } : { value };
}
