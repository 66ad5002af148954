import type { z } from 'zod';

/** Names of types in messages, by the names of the validator. */
const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  nan: 'no number',
  null: 'null',
  number: 'a number',
  object: 'a map',
  record: 'a map',
  string: 'a text',
  undefined: 'nothing',
};

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isNaN(value) ? 'nan' : typeof value;
};

/** Messages for missing values and for values of a wrong type, with the expected type. */
export const shapeMessages: z.core.$ZodErrorMap = (issue) => {
  if (issue.code !== 'invalid_type') return undefined;
  const expected = TYPES[issue.expected] ?? issue.expected;
  if (issue.input === undefined) return `is missing; expected ${expected}`;
  return `is ${TYPES[typeOf(issue.input)] ?? typeOf(issue.input)}; expected ${expected}`;
};
