import { isJsonObject, type JsonObject } from '../../../src/domain/json-object.ts';
import { flagFrom } from '../../../src/domain/catalog/numbers.ts';
import { InvalidInput, type Issue } from '../../../src/domain/errors.ts';
import { utcTimeFrom } from '../../../src/domain/utc-time.ts';
import { parseObject, NOT_AN_OBJECT } from './body-fields.ts';
import {
  defaultOf,
  type Described,
  described,
  objectSchema,
  orNullSchema,
  schemaOf,
  type JsonSchema,
} from './schema.ts';

type Path = readonly (string | number)[];
type Fault = Pick<Issue, 'rule' | 'message'>;

/**
 * Reads a value at a path; adds an issue for each fault and returns undefined for an invalid value. The rules and texts
 * are those of the reference's validation, with its coercions: `"24"` is an integer, `"yes"` a boolean.
 */
export type Reader<Value> = (input: unknown, path: Path, issues: Issue[]) => Value | undefined;

const addFault = (path: Path, issues: Issue[], rule: string, message: string): undefined => {
  issues.push({ path, rule, message });
  return undefined;
};

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A text. `min` and `max` are lengths in characters. */
export const textOf = ({
  min = 0,
  max = Number.POSITIVE_INFINITY,
  pattern,
}: { readonly min?: number; readonly max?: number; readonly pattern?: RegExp } = {}): Reader<string> =>
  described(
    {
      type: 'string',
      ...(min === 0 ? {} : { minLength: min }),
      ...(max === Number.POSITIVE_INFINITY ? {} : { maxLength: max }),
      ...(pattern === undefined ? {} : { pattern: pattern.source }),
    },
    (input, path, issues) => {
      if (typeof input !== 'string') return addFault(path, issues, 'string_type', 'Input should be a valid string');
      if (input.length < min)
        return addFault(path, issues, 'string_too_short', `String should have at least ${plural(min, 'character')}`);
      if (input.length > max)
        return addFault(path, issues, 'string_too_long', `String should have at most ${plural(max, 'character')}`);
      if (pattern !== undefined && !pattern.test(input))
        return addFault(path, issues, 'string_pattern_mismatch', `String should match pattern '${pattern.source}'`);
      return input;
    },
  );

interface Bounds {
  readonly min?: number;
  /** Exclusive minimum. */
  readonly above?: number;
  readonly max?: number;
}

const rangeOf = ({ min, above, max }: Bounds) => ({
  ...(min === undefined ? {} : { minimum: min }),
  ...(above === undefined ? {} : { exclusiveMinimum: above }),
  ...(max === undefined ? {} : { maximum: max }),
});

function boundsFault(value: number, { min, above, max }: Bounds): Fault | null {
  if (above !== undefined && value <= above)
    return { rule: 'greater_than', message: `Input should be greater than ${above}` };
  if (min !== undefined && value < min)
    return { rule: 'greater_than_equal', message: `Input should be greater than or equal to ${min}` };
  if (max !== undefined && value > max)
    return { rule: 'less_than_equal', message: `Input should be less than or equal to ${max}` };
  return null;
}

function checkBounds(value: number, bounds: Bounds, path: Path, issues: Issue[]): number | undefined {
  const fault = boundsFault(value, bounds);
  return fault === null ? value : addFault(path, issues, fault.rule, fault.message);
}

const INTEGER = 'Input should be a valid integer';
const NOT_FINITE = 'Input should be a finite number';

/** A whole number within the bounds that a double represents exactly. */
export const wholeOf = (bounds: Bounds = {}): Reader<number> =>
  described({ type: 'integer', ...rangeOf(bounds) }, (input, path, issues) => {
    const text = typeof input === 'string' ? input.trim() : null;
    // A number of up to 15 digits is always a safe integer. As in the reference, `24.0` is an integer.
    if (text !== null && !/^[+-]?\d{1,15}(\.0+)?$/.test(text))
      return addFault(path, issues, 'int_parsing', `${INTEGER}, unable to parse string as an integer`);
    const value = text !== null || typeof input === 'boolean' ? Number(input) : input;
    if (typeof value !== 'number') return addFault(path, issues, 'int_type', INTEGER);
    if (!Number.isFinite(value)) return addFault(path, issues, 'finite_number', NOT_FINITE);
    if (!Number.isInteger(value))
      return addFault(path, issues, 'int_from_float', `${INTEGER}, got a number with a fractional part`);
    const withinBounds = checkBounds(value, bounds, path, issues);
    if (withinBounds === undefined || Number.isSafeInteger(value)) return withinBounds;
    const message = 'Unable to parse input string as an integer, exceeded maximum size';
    return addFault(path, issues, 'int_parsing_size', message);
  });

/** A finite number within the bounds. */
export const numberOf = (bounds: Bounds = {}): Reader<number> =>
  described({ type: 'number', ...rangeOf(bounds) }, (input, path, issues) => {
    const text = typeof input === 'string' ? input.trim() : null;
    const value = text !== null || typeof input === 'boolean' ? Number(input) : input;
    if (text !== null && (text === '' || Number.isNaN(value)))
      return addFault(
        path,
        issues,
        'float_parsing',
        'Input should be a valid number, unable to parse string as a number',
      );
    if (typeof value !== 'number') return addFault(path, issues, 'float_type', 'Input should be a valid number');
    if (!Number.isFinite(value)) return addFault(path, issues, 'finite_number', NOT_FINITE);
    return checkBounds(value, bounds, path, issues);
  });

/** A boolean, also as 0, 1 or a word such as `yes`. */
export const flag: Reader<boolean> = described({ type: 'boolean' }, (input, path, issues) => {
  if (typeof input === 'boolean') return input;
  if (typeof input !== 'string' && input !== 0 && input !== 1)
    return addFault(path, issues, 'bool_type', 'Input should be a valid boolean');
  const value = flagFrom(String(input));
  if (value !== undefined && value !== null) return value;
  return addFault(path, issues, 'bool_parsing', 'Input should be a valid boolean, unable to interpret input');
});

/** One of a few texts. */
export function choiceOf<Choice extends string>(...choices: readonly Choice[]): Reader<Choice> {
  const quoted = choices.map((choice) => `'${choice}'`);
  const expected = quoted.length === 1 ? quoted[0] : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  return described(
    { type: 'string', enum: choices },
    (input, path, issues) =>
      choices.find((choice) => choice === input) ??
      addFault(path, issues, 'literal_error', `Input should be ${expected}`),
  );
}

/** An ISO 8601 instant with a time zone. */
export const instant: Reader<Date> = described({ type: 'string', format: 'date-time' }, (input, path, issues) => {
  if (typeof input !== 'string') return addFault(path, issues, 'datetime_type', 'Input should be a valid datetime');
  const value = utcTimeFrom(input);
  if (value === null)
    return addFault(path, issues, 'datetime_from_date_parsing', 'Input should be a valid datetime or date');
  if (!/(?:Z|[+-]\d\d:?\d\d)$/i.test(input.trim()))
    return addFault(path, issues, 'timezone_aware', 'Input should have timezone info');
  return value;
});

/** Wraps a reader. Null is accepted as null. */
export const orNull = <Value>(inner: Reader<Value>): Reader<Value | null> =>
  described(orNullSchema(schemaOf(inner)), (input, path, issues) =>
    input === null ? null : inner(input, path, issues),
  );

/** A list. `min` and `max` are numbers of items. */
export const listOf = <Item>(
  inner: Reader<Item>,
  { min = 0, max = Number.POSITIVE_INFINITY }: { readonly min?: number; readonly max?: number } = {},
): Reader<readonly Item[]> =>
  described(
    {
      type: 'array',
      items: schemaOf(inner),
      ...(min === 0 ? {} : { minItems: min }),
      ...(max === Number.POSITIVE_INFINITY ? {} : { maxItems: max }),
    },
    (input, path, issues) => {
      if (!Array.isArray(input)) return addFault(path, issues, 'list_type', 'Input should be a valid list');
      const ending = `after validation, not ${input.length}`;
      if (input.length < min)
        return addFault(path, issues, 'too_short', `List should have at least ${plural(min, 'item')} ${ending}`);
      if (input.length > max)
        return addFault(path, issues, 'too_long', `List should have at most ${plural(max, 'item')} ${ending}`);
      const issueCount = issues.length;
      const items = input.map((item, at) => inner(item, [...path, at], issues));
      return issues.length > issueCount ? undefined : (items as readonly Item[]);
    },
  );

/** A member of an object: its reader, and its default. A member without a default is required. */
export interface Member<Value> {
  readonly read: Reader<Value>;
  readonly defaultValue?: Value;
}

/** A member without a default. */
export const required = <Value>(read: Reader<Value>): Member<Value> => ({ read });
/** A member with a default. */
export const optional = <Value>(read: Reader<Value>, defaultValue: Value): Member<Value> => ({ read, defaultValue });

/** An object of known members, a Pydantic model in the reference; an unknown member is a fault. */
export function modelOf<Values extends JsonObject>(members: {
  readonly [Name in keyof Values]: Member<Values[Name]>;
}): Reader<Values> {
  const entries = Object.entries(members) as [string, Member<unknown>][];
  const properties = entries.map(([name, { read, defaultValue }]): [string, JsonSchema] => [
    name,
    { ...schemaOf(read), ...defaultOf(schemaOf(read), defaultValue) },
  ]);
  const requiredNames = entries.filter(([, member]) => !('defaultValue' in member)).map(([name]) => name);
  const schema = { ...objectSchema(Object.fromEntries(properties), requiredNames), additionalProperties: false };
  return described(schema, (input, path, issues) => {
    if (!isJsonObject(input)) return addFault(path, issues, NOT_AN_OBJECT.rule, NOT_AN_OBJECT.message);
    const issueCount = issues.length;
    const values = entries.map(([name, member]) => {
      if (Object.hasOwn(input, name)) return [name, member.read(input[name], [...path, name], issues)];
      if ('defaultValue' in member) return [name, member.defaultValue];
      return [name, addFault([...path, name], issues, 'missing', 'Field required')];
    });
    for (const name of Object.keys(input))
      if (!Object.hasOwn(members, name))
        addFault([...path, name], issues, 'extra_forbidden', 'Extra inputs are not permitted');
    return issues.length > issueCount ? undefined : (Object.fromEntries(values) as Values);
  });
}

/** A parser of a query; an unknown parameter is a fault. Throws InvalidInput with every fault. */
export const queryOf = <Value>(read: Reader<Value>): ((search: string) => Value) & Described =>
  described(schemaOf(read), (search: string) => {
    const issues: Issue[] = [];
    const value = read(Object.fromEntries(new URLSearchParams(search)), ['query'], issues);
    if (issues.length > 0 || value === undefined) throw new InvalidInput('The query is not valid.', issues);
    return value;
  });

/** A parser of a JSON body. Throws InvalidInput with every fault. */
export const bodyOf = <Value>(read: Reader<Value>): ((body: Uint8Array) => Value) & Described =>
  described(schemaOf(read), (body: Uint8Array) => {
    const issues: Issue[] = [];
    const value = read(parseObject(body), ['body'], issues);
    if (issues.length > 0 || value === undefined) throw new InvalidInput('The body is not valid.', issues);
    return value;
  });
