import type { JsonObject } from '../../../src/domain/json-object.ts';
import { flagFrom, integerFrom } from '../../../src/domain/catalog/numbers.ts';
import { InvalidInput, type Issue } from '../../../src/domain/errors.ts';
import { type Described, described, objectSchema, schemaOf } from './schema.ts';

/** Reads one query parameter; `input` is undefined when it was not sent. Throws a fault as an Issue without its place. */
type Reader<Value> = (input: string | undefined) => Value | Fault;

class Fault {
  readonly rule: string;
  readonly message: string;
  readonly context: Readonly<Record<string, number>> | undefined;
  constructor(rule: string, message: string, context?: Readonly<Record<string, number>>) {
    this.rule = rule;
    this.message = message;
    this.context = context;
  }
}

/** Faults of a text that is no integer, as `integerFrom` names them. */
export const INTEGER_FAULTS = {
  malformed: new Fault('int_parsing', 'Input should be a valid integer, unable to parse string as an integer'),
  'too long': new Fault('int_parsing_size', 'Unable to parse input string as an integer, exceeded maximum size'),
} as const;
const FLAG_FAULT = new Fault('bool_parsing', 'Input should be a valid boolean, unable to interpret input');

/** Any text; null when not sent. */
export const text: Reader<string | null> = described({ type: 'string' }, (input) => input ?? null);

const MISSING = new Fault('missing', 'Field required');

/** A text that must be sent. */
export const requiredText: Reader<string> = described({ type: 'string' }, (input) => input ?? MISSING);

/** One fixed text that must be sent. */
export const requiredLiteral = (expected: string): Reader<string> =>
  described({ const: expected }, (input) =>
    input === undefined
      ? MISSING
      : input === expected
        ? input
        : new Fault('literal_error', `Input should be '${expected}'`),
  );

/** Text up to a number of characters; null when not sent. */
export const textUpTo = (most: number): Reader<string | null> =>
  described({ type: 'string', maxLength: most }, (input) =>
    input !== undefined && input.length > most
      ? new Fault('string_too_long', `String should have at most ${most} characters`, { max_length: most })
      : (input ?? null),
  );

/** A boolean in any spelling of the reference; undefined when not sent. */
export const flag: Reader<boolean | undefined> = described({ type: 'boolean' }, (input) =>
  input === undefined ? undefined : (flagFrom(input) ?? FLAG_FAULT),
);

/** An integer of any size within bounds, both inclusive. */
export function integer(bounds: {
  readonly least: number;
  readonly most?: number;
  readonly otherwise: number;
}): Reader<bigint> {
  const { least, most, otherwise } = bounds;
  const range = { minimum: least, ...(most === undefined ? {} : { maximum: most }) };
  return described({ type: 'integer', ...range, default: otherwise }, (input) => {
    if (input === undefined) return BigInt(otherwise);
    const read = integerFrom(input);
    if ('fault' in read) return INTEGER_FAULTS[read.fault];
    if (read.value < least)
      return new Fault('greater_than_equal', `Input should be greater than or equal to ${least}`, { ge: least });
    if (most !== undefined && read.value > most)
      return new Fault('less_than_equal', `Input should be less than or equal to ${most}`, { le: most });
    return read.value;
  });
}

/**
 * A parser of query text: the readers' order is the order of the faults. Of a repeated parameter the last counts,
 * unknown ones are ignored. Throws InvalidInput with every fault and its place.
 */
export function query<Values extends JsonObject>(readers: {
  readonly [Name in keyof Values]: Reader<Values[Name]>;
}): ((search: string) => Values) & Described {
  const named = Object.entries(readers) as [string, Reader<unknown>][];
  const schema = objectSchema(
    Object.fromEntries(named.map(([name, read]) => [name, schemaOf(read)])),
    named.filter(([, read]) => read(undefined) instanceof Fault).map(([name]) => name),
  );
  return described(schema, (search) => {
    const parameters = new Map(new URLSearchParams(search));
    const values: Record<string, unknown> = {};
    const issues: Issue[] = [];
    for (const [name, read] of named) {
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

/** Number of rows before a page, within the exact range of a number. */
export const rowsBefore = (page: number, size: number): number => Math.min((page - 1) * size, Number.MAX_SAFE_INTEGER);

function issueOf({ rule, message, context }: Fault, name: string, input: string | undefined): Issue {
  return { rule, path: ['query', name], message, input, ...(context === undefined ? {} : { context }) };
}
