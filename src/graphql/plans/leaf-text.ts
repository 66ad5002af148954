import type { GraphQLLeafType } from 'graphql';
import { Unplanned } from './unplanned.ts';

/** The JSON of a leaf value that is not null. Throws for a value that its type does not have. */
export type LeafText = (value: unknown) => string;

/** Text without characters that JSON escapes, which is nearly all. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const MAX_INT = 2 ** 31;

const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));
const isInt = (value: unknown): boolean => typeof value === 'number' && (value | 0) === value && value < MAX_INT;
const isFloat = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isText = (value: unknown): value is string => typeof value === 'string';

/** The types of the specification, for values that need no conversion. */
const DIRECT: Readonly<Record<string, (value: unknown) => string | null>> = {
  Boolean: (value) => (value === true ? 'true' : value === false ? 'false' : null),
  Float: (value) => (isFloat(value) ? JSON.stringify(value) : null),
  ID: (value) => (isText(value) ? quoted(value) : null),
  Int: (value) => (isInt(value) ? `${value as number}` : null),
  String: (value) => (isText(value) ? quoted(value) : null),
};

export function leafText(type: GraphQLLeafType): LeafText {
  const direct = DIRECT[type.name];
  const converted: LeafText = (value) => {
    const coerced: unknown = type.coerceOutputValue(value);
    const text = coerced === null || coerced === undefined ? undefined : JSON.stringify(coerced);
    if (text === undefined) throw new Unplanned();
    return text;
  };
  return direct === undefined ? converted : (value) => direct(value) ?? converted(value);
}
