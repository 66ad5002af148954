import { isJsonObject, type JsonObject } from '../../../src/domain/json-object.ts';
import { InvalidInput, type Issue } from '../../../src/domain/errors.ts';
import { MAX_NESTING, nestsTooDeep } from '../../../src/wire/json/nesting.ts';
import { type Described, described, type JsonSchema, objectSchema, orNullSchema, schemaOf } from './schema.ts';

type BrokenRule = Pick<Issue, 'rule' | 'message' | 'context'>;

/** Reads one field of a body. `input` is undefined when the field is absent. Returns the value or the broken rule. */
export type FieldReader<Value> = (input: unknown) => { readonly value: Value } | BrokenRule;

const STRING: BrokenRule = { rule: 'string_type', message: 'Input should be a valid string' };
const NUMBER: BrokenRule = { rule: 'float_type', message: 'Input should be a valid number' };
const INTEGER: BrokenRule = { rule: 'int_type', message: 'Input should be a valid integer' };
const INTEGER_PARSING: BrokenRule = {
  rule: 'int_parsing',
  message: 'Input should be a valid integer, unable to parse string as an integer',
};
const INTEGER_FRACTION: BrokenRule = {
  rule: 'int_from_float',
  message: 'Input should be a valid integer, got a number with a fractional part',
};
const INTEGER_SIZE: BrokenRule = {
  rule: 'int_parsing_size',
  message: 'Unable to parse input string as an integer, exceeded maximum size',
};
const FINITE: BrokenRule = { rule: 'finite_number', message: 'Input should be a finite number' };
/** At most 15 digits: every such number is a safe integer. */
const INTEGER_TEXT = /^[+-]?\d{1,15}$/;
const LIST: BrokenRule = { rule: 'list_type', message: 'Input should be a valid list' };
const BOOLEAN: BrokenRule = { rule: 'bool_type', message: 'Input should be a valid boolean' };
/** Rule broken by a required field that is absent. */
export const MISSING: BrokenRule = { rule: 'missing', message: 'Field required' };
/** Rule broken by a body, or a part of it, that is not an object. */
export const NOT_AN_OBJECT: BrokenRule = {
  rule: 'model_attributes_type',
  message: 'Input should be a valid dictionary or object to extract fields from',
};
const OBJECT: BrokenRule = { rule: 'dict_type', message: 'Input should be a valid dictionary' };

const nullable = (type: string): JsonSchema => ({ type: [type, 'null'] });
const TEXTS: JsonSchema = { type: 'array', items: { type: 'string' } };

/** Whether an optional field is absent. Null counts as absent. */
const isAbsent = (input: unknown): input is null | undefined => input === undefined || input === null;

/** A text; null when absent. */
export const text: FieldReader<string | null> = described(nullable('string'), (input) => {
  if (isAbsent(input)) return { value: null };
  return typeof input === 'string' ? { value: input } : STRING;
});

/** A number, also as a boolean or as text of a finite number; null when absent. */
export const number: FieldReader<number | null> = described(nullable('number'), (input) => {
  if (isAbsent(input)) return { value: null };
  if (typeof input === 'number') return { value: input };
  if (typeof input === 'boolean') return { value: Number(input) };
  if (typeof input !== 'string') return NUMBER;
  const value = input.trim() === '' ? Number.NaN : Number(input);
  if (Number.isFinite(value)) return { value };
  return { rule: 'float_parsing', message: 'Input should be a valid number, unable to parse string as a number' };
});

/** A whole number that a double represents exactly, also as text or a boolean; null when absent. */
export const wholeNumber: FieldReader<number | null> = described(nullable('integer'), (input) => {
  if (isAbsent(input)) return { value: null };
  const value = typeof input === 'string' && INTEGER_TEXT.test(input.trim()) ? Number(input) : input;
  if (typeof value === 'string') return INTEGER_PARSING;
  if (typeof value === 'boolean') return { value: Number(value) };
  if (typeof value !== 'number') return INTEGER;
  if (Number.isSafeInteger(value)) return { value };
  // JSON has numbers that are infinite as a double, such as `1e400`.
  if (!Number.isFinite(value)) return FINITE;
  return Number.isInteger(value) ? INTEGER_SIZE : INTEGER_FRACTION;
});

/** An object whose values are read by `read`; null when absent. Values that are read as null are left out. */
export const recordOf = <Value>(read: FieldReader<Value | null>): FieldReader<Readonly<Record<string, Value>> | null> =>
  described({ type: ['object', 'null'], additionalProperties: schemaOf(read) }, (input) => {
    if (isAbsent(input)) return { value: null };
    if (typeof input !== 'object' || Array.isArray(input)) return OBJECT;
    const values: [string, Value][] = [];
    for (const [name, inner] of Object.entries(input)) {
      const result = read(inner);
      if (!('value' in result)) return result;
      if (result.value !== null) values.push([name, result.value]);
    }
    return { value: Object.fromEntries(values) };
  });

/** A list whose items are read by `read`; null when absent. Items that are read as null are left out. */
export const listOf = <Value>(read: FieldReader<Value | null>): FieldReader<readonly Value[] | null> =>
  described({ type: ['array', 'null'], items: schemaOf(read) }, (input) => {
    if (isAbsent(input)) return { value: null };
    if (!Array.isArray(input)) return LIST;
    const values: Value[] = [];
    for (const item of input) {
      const result = read(item);
      if (!('value' in result)) return result;
      if (result.value !== null) values.push(result.value);
    }
    return { value: values };
  });

/** A list of texts; empty when absent. */
export const texts: FieldReader<readonly string[]> = described({ ...TEXTS, type: ['array', 'null'] }, (input) => {
  if (isAbsent(input)) return { value: [] };
  if (!Array.isArray(input)) return LIST;
  return input.every((item) => typeof item === 'string') ? { value: input } : STRING;
});

/** An object with any members; empty when absent. */
export const object: FieldReader<JsonObject> = described(nullable('object'), (input) => {
  if (isAbsent(input)) return { value: {} };
  return typeof input === 'object' && !Array.isArray(input) ? { value: { ...input } } : OBJECT;
});

/** A boolean; null when absent. */
export const flag: FieldReader<boolean | null> = described(nullable('boolean'), (input) => {
  if (isAbsent(input)) return { value: null };
  return typeof input === 'boolean' ? { value: input } : BOOLEAN;
});

/** Wraps a reader. An absent field is read as undefined, which a patch distinguishes from null. */
export const optional = <Value>(read: FieldReader<Value>): FieldReader<Value | undefined> =>
  described(schemaOf(read), (input) => (input === undefined ? { value: undefined } : read(input)));

/** Wraps a reader. Null is read as null instead of the empty value of `read`. */
export const orNull = <Value>(read: FieldReader<Value>): FieldReader<Value | null> =>
  described(schemaOf(read), (input) => (input === null ? { value: null } : read(input)));

/** Wraps a reader for a required field. Null is not absent: `read` gets it. */
export const required = <Value>(read: FieldReader<Value>): FieldReader<Value> =>
  described(schemaOf(read), (input) => (input === undefined ? MISSING : read(input)));

/** A required object with any members. Null is invalid. */
export const dictionary: FieldReader<JsonObject> = described({ type: 'object' }, (input) =>
  isJsonObject(input) ? { value: input } : OBJECT,
);

/** The failure of a body without a required field. */
export const missingField = (...place: readonly string[]): InvalidInput =>
  new InvalidInput('The body is not valid.', [{ path: ['body', ...place], ...MISSING }]);

/** A required text. */
export const requiredText: FieldReader<string> = required(
  described({ type: 'string' }, (input) => (typeof input === 'string' ? { value: input } : STRING)),
);

/** A required value of any type, also null. */
export const requiredValue: FieldReader<unknown> = required(described({}, (input) => ({ value: input })));

/** A required field with one fixed text. */
export const literal = (expected: string): FieldReader<string> =>
  required(
    described({ const: expected }, (input) => {
      if (input === expected) return { value: expected };
      const context = { expected: `'${expected}'` };
      return { rule: 'literal_error', message: `Input should be '${expected}'`, context };
    }),
  );

/** A required field with one of a few fixed texts. */
export const requiredLiteralOf = <Choice extends string>(choices: readonly Choice[]): FieldReader<Choice> =>
  required(
    described({ type: 'string', enum: choices }, (input) => {
      const value = choices.find((choice) => choice === input);
      if (value !== undefined) return { value };
      const expected = choices.map((choice) => `'${choice}'`).join(' or ');
      return { rule: 'literal_error', message: `Input should be ${expected}`, context: { expected } };
    }),
  );

/** A required list of texts. */
export const requiredTexts: FieldReader<readonly string[]> = required(
  described(TEXTS, (input) => (input === null ? LIST : texts(input))),
);

/** One of a few texts; null when absent. */
export const oneOf = <Choice extends string>(choices: readonly Choice[]): FieldReader<Choice | null> =>
  choiceOf('enum', choices);

/** As `oneOf`, with another name of the broken rule. */
export const literalOf = <Choice extends string>(choices: readonly Choice[]): FieldReader<Choice | null> =>
  choiceOf('literal_error', choices);

function choiceOf<Choice extends string>(
  ruleName: 'enum' | 'literal_error',
  choices: readonly Choice[],
): FieldReader<Choice | null> {
  const quoted = choices.map((choice) => `'${choice}'`);
  const expected = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  const rule = { rule: ruleName, message: `Input should be ${expected}`, context: { expected } };
  return described(orNullSchema({ type: 'string', enum: choices }), (input) => {
    if (isAbsent(input)) return { value: null };
    const value = choices.find((choice) => choice === input);
    return value === undefined ? rule : { value };
  });
}

/**
 * A parser of JSON bodies of known fields; unknown ones are ignored. Throws InvalidInput with an issue for each invalid
 * field, in the order of the readers.
 */
export function fields<Values extends JsonObject>(readers: {
  readonly [Name in keyof Values]: FieldReader<Values[Name]>;
}): ((body: Uint8Array) => Values) & Described {
  const read = members(readers);
  return described(read.schema, (body) => read(parseObject(body)));
}

/** A field is required if its reader refuses an absent value. */
const isRequired = (read: FieldReader<unknown>): boolean => !('value' in read(undefined));

/** As `fields`, for a body, or an object at a path of it, that is already parsed. */
export function members<Values extends JsonObject>(readers: {
  readonly [Name in keyof Values]: FieldReader<Values[Name]>;
}): ((input: JsonObject, path?: Issue['path']) => Values) & Described {
  const entries = Object.entries(readers) as [string, FieldReader<unknown>][];
  const schema = objectSchema(
    Object.fromEntries(entries.map(([name, read]) => [name, schemaOf(read)])),
    entries.filter(([, read]) => isRequired(read)).map(([name]) => name),
  );
  return described(schema, (input, path = ['body']) => {
    const values: Record<string, unknown> = {};
    const issues: Issue[] = [];
    for (const [name, read] of entries) {
      const result = read(input[name]);
      if ('value' in result) values[name] = result.value;
      else issues.push({ ...result, path: [...path, name], input: input[name] });
    }
    if (issues.length > 0) throw new InvalidInput('The body is not valid.', issues);
    return values as Values;
  });
}

/** Path of a JSON syntax error in a body of `length` bytes. Has the position if the message of the engine names one. */
function jsonErrorPath(error: unknown, length: number): Issue['path'] {
  const message = error instanceof Error ? error.message : '';
  if (message.endsWith('end of JSON input')) return ['body', length];
  const position = /at position (\d+)/.exec(message)?.[1];
  return position === undefined ? ['body'] : ['body', Number(position)];
}

/** Parses a body that is a JSON object. Throws InvalidInput. */
export function parseObject(body: Uint8Array): JsonObject {
  if (body.length === 0) throw invalidBody({ path: ['body'], rule: 'missing', message: 'Field required', input: null });
  if (nestsTooDeep(body)) {
    const context = { error: `more than ${MAX_NESTING} levels deep` };
    throw invalidBody({ path: ['body'], rule: 'json_invalid', message: 'JSON decode error', input: {}, context });
  }
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  } catch (error) {
    const path = jsonErrorPath(error, body.length);
    throw invalidBody({ path, rule: 'json_invalid', message: 'JSON decode error', input: {} });
  }
  if (isJsonObject(value)) return { ...value };
  throw invalidBody({ ...NOT_AN_OBJECT, path: ['body'], input: value });
}

const invalidBody = (issue: Issue): InvalidInput => new InvalidInput('The body is not valid.', [issue]);
