import type { JsonObject } from '../../../src/domain/json-object.ts';
import { flagFrom, integerFrom } from '../../../src/domain/catalog/numbers.ts';
import { InvalidInput, type Issue } from '../../../src/domain/errors.ts';
import { defaultOf, type Described, described, objectSchema, schemaOf } from './schema.ts';

/** Reads one query parameter; `input` is undefined when it was not sent. Returns a Fault for an invalid value. */
type Reader<Value> = (input: string | undefined) => Value | Fault;

/** Reason why a parameter is invalid, without its name. */
class Fault {
  readonly rule: string;
  readonly message: string;
  readonly context: Readonly<Record<string, number | string>> | undefined;
  constructor(rule: string, message: string, context?: Readonly<Record<string, number | string>>) {
    this.rule = rule;
    this.message = message;
    this.context = context;
  }
}

/** Faults of invalid integers, by the fault that `integerFrom` returns. */
export const INTEGER_FAULTS = {
  malformed: new Fault('int_parsing', 'Input should be a valid integer, unable to parse string as an integer'),
  'too long': new Fault('int_parsing_size', 'Unable to parse input string as an integer, exceeded maximum size'),
} as const;
const FLAG_FAULT = new Fault('bool_parsing', 'Input should be a valid boolean, unable to interpret input');

/** Any text; null when not sent. */
export const text: Reader<string | null> = described({ type: 'string' }, (input) => input ?? null);

const MISSING = new Fault('missing', 'Field required');

/** A required text. */
export const requiredText: Reader<string> = described({ type: 'string' }, (input) => input ?? MISSING);

/** A required parameter with one fixed text. */
export const requiredLiteral = (expected: string): Reader<string> =>
  described({ const: expected }, (input) => {
    if (input === undefined) return MISSING;
    return input === expected ? input : new Fault('literal_error', `Input should be '${expected}'`);
  });

/** One of a few texts; null when not sent. */
export function choiceOf<Choice extends string>(choices: readonly Choice[]): Reader<Choice | null> {
  const quoted = choices.map((choice) => `'${choice}'`);
  const expected = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  const fault = new Fault('enum', `Input should be ${expected}`, { expected });
  return described({ type: 'string', enum: choices }, (input) =>
    input === undefined ? null : (choices.find((choice) => choice === input) ?? fault),
  );
}

/** Text up to a number of characters; null when not sent. */
export const textUpTo = (max: number): Reader<string | null> =>
  described({ type: 'string', maxLength: max }, (input) =>
    input !== undefined && input.length > max
      ? new Fault('string_too_long', `String should have at most ${max} characters`, { max_length: max })
      : (input ?? null),
  );

/** A boolean in any spelling of the reference; undefined when not sent. */
export const flag: Reader<boolean | undefined> = described({ type: 'boolean' }, (input) =>
  input === undefined ? undefined : (flagFrom(input) ?? FLAG_FAULT),
);

/** An integer within inclusive bounds. Without `max` it may exceed the safe integers. */
export function integer(bounds: {
  readonly min: number;
  readonly max?: number;
  readonly defaultValue: number;
}): Reader<bigint> {
  const { min, max, defaultValue } = bounds;
  const range = { minimum: min, ...(max === undefined ? {} : { maximum: max }) };
  return described({ type: 'integer', ...range, ...defaultOf(range, defaultValue) }, (input) => {
    if (input === undefined) return BigInt(defaultValue);
    const result = integerFrom(input);
    if ('fault' in result) return INTEGER_FAULTS[result.fault];
    if (result.value < min)
      return new Fault('greater_than_equal', `Input should be greater than or equal to ${min}`, { ge: min });
    if (max !== undefined && result.value > max)
      return new Fault('less_than_equal', `Input should be less than or equal to ${max}`, { le: max });
    return result.value;
  });
}

/**
 * A parser of a query. The last value of a repeated parameter counts; unknown parameters are ignored. Throws
 * InvalidInput with an issue for each invalid parameter, in the order of the readers.
 */
export function query<Values extends JsonObject>(readers: {
  readonly [Name in keyof Values]: Reader<Values[Name]>;
}): ((search: string) => Values) & Described {
  const entries = Object.entries(readers) as [string, Reader<unknown>][];
  const schema = objectSchema(
    Object.fromEntries(entries.map(([name, read]) => [name, schemaOf(read)])),
    // A parameter is required if its reader refuses an absent value.
    entries.filter(([, read]) => read(undefined) instanceof Fault).map(([name]) => name),
  );
  return described(schema, (search) => {
    const parameters = new Map(new URLSearchParams(search));
    const values: Record<string, unknown> = {};
    const issues: Issue[] = [];
    for (const [name, read] of entries) {
      const value = read(parameters.get(name));
      if (value instanceof Fault) issues.push(issueOf(value, name, parameters.get(name)));
      else values[name] = value;
    }
    if (issues.length > 0) throw new InvalidInput('The query is not valid.', issues);
    return values as Values;
  });
}

/** The failure of a query without required parameters. */
export const missingParameters = (...names: readonly string[]): InvalidInput =>
  new InvalidInput(
    'The query is not valid.',
    names.map((name) => ({ path: ['query', name], rule: 'missing', message: 'Field required' })),
  );

/** The failure of a query parameter with an invalid value, in the form of OpenAI. `expected` completes "it must be". */
export function invalidParameter(path: string, parameter: string, expected: string): InvalidInput {
  const message = `${path}: Invalid value for parameter '${parameter}': it must be ${expected}.`;
  return new InvalidInput(message, [{ path: ['query', parameter], rule: 'value', message }]);
}

/** Number of rows before a page (pages are numbered from 1), clamped to the largest safe integer. */
export const rowsBefore = (page: number, size: number): number => Math.min((page - 1) * size, Number.MAX_SAFE_INTEGER);

function issueOf({ rule, message, context }: Fault, name: string, input: string | undefined): Issue {
  return { rule, path: ['query', name], message, input, ...(context === undefined ? {} : { context }) };
}
