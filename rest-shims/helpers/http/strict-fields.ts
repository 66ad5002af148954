import { isJsonObject, type JsonObject } from '../../../src/domain/json-object.ts';
import { flagFrom } from '../../../src/domain/catalog/numbers.ts';
import { InvalidInput, type Issue } from '../../../src/domain/errors.ts';
import { parseObject, NO_OBJECT } from './body-fields.ts';
import { type Described, described, objectSchema, orNullSchema, schemaOf, type JsonSchema } from './schema.ts';

type Path = readonly (string | number)[];
type Fault = Pick<Issue, 'rule' | 'message'>;

/**
 * Reads a value at a path; adds every fault and returns undefined for an invalid value. The rules and texts are those of
 * the reference's validation, with its coercions: `"24"` is an integer, `"yes"` a boolean.
 */
export type Reader<Value> = (input: unknown, path: Path, issues: Issue[]) => Value | undefined;

const fault = (path: Path, issues: Issue[], rule: string, message: string): undefined => {
  issues.push({ path, rule, message });
  return undefined;
};

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A text within bounds, in characters. */
export const textOf = ({
  least = 0,
  most = Number.POSITIVE_INFINITY,
  pattern,
}: { readonly least?: number; readonly most?: number; readonly pattern?: RegExp } = {}): Reader<string> =>
  described(
    {
      type: 'string',
      ...(least === 0 ? {} : { minLength: least }),
      ...(most === Number.POSITIVE_INFINITY ? {} : { maxLength: most }),
      ...(pattern === undefined ? {} : { pattern: pattern.source }),
    },
    (input, path, issues) => {
      if (typeof input !== 'string') return fault(path, issues, 'string_type', 'Input should be a valid string');
      if (input.length < least)
        return fault(path, issues, 'string_too_short', `String should have at least ${plural(least, 'character')}`);
      if (input.length > most)
        return fault(path, issues, 'string_too_long', `String should have at most ${plural(most, 'character')}`);
      if (pattern !== undefined && !pattern.test(input))
        return fault(path, issues, 'string_pattern_mismatch', `String should match pattern '${pattern.source}'`);
      return input;
    },
  );

interface Bounds {
  readonly least?: number;
  readonly above?: number;
  readonly most?: number;
}

const rangeOf = ({ least, above, most }: Bounds) => ({
  ...(least === undefined ? {} : { minimum: least }),
  ...(above === undefined ? {} : { exclusiveMinimum: above }),
  ...(most === undefined ? {} : { maximum: most }),
});

function outside(value: number, { least, above, most }: Bounds): Fault | null {
  if (above !== undefined && value <= above)
    return { rule: 'greater_than', message: `Input should be greater than ${above}` };
  if (least !== undefined && value < least)
    return { rule: 'greater_than_equal', message: `Input should be greater than or equal to ${least}` };
  if (most !== undefined && value > most)
    return { rule: 'less_than_equal', message: `Input should be less than or equal to ${most}` };
  return null;
}

function bounded(value: number, bounds: Bounds, path: Path, issues: Issue[]): number | undefined {
  const broken = outside(value, bounds);
  return broken === null ? value : fault(path, issues, broken.rule, broken.message);
}

const INTEGER = 'Input should be a valid integer';

/** A whole number within bounds. */
export const wholeOf = (bounds: Bounds = {}): Reader<number> =>
  described({ type: 'integer', ...rangeOf(bounds) }, (input, path, issues) => {
    const text = typeof input === 'string' ? input.trim() : null;
    if (text !== null && !/^[+-]?\d{1,15}(\.0+)?$/.test(text))
      return fault(path, issues, 'int_parsing', `${INTEGER}, unable to parse string as an integer`);
    const value = text !== null || typeof input === 'boolean' ? Number(input) : input;
    if (typeof value !== 'number') return fault(path, issues, 'int_type', INTEGER);
    if (!Number.isSafeInteger(value))
      return fault(path, issues, 'int_from_float', `${INTEGER}, got a number with a fractional part`);
    return bounded(value, bounds, path, issues);
  });

/** A finite number within bounds. */
export const numberOf = (bounds: Bounds = {}): Reader<number> =>
  described({ type: 'number', ...rangeOf(bounds) }, (input, path, issues) => {
    const text = typeof input === 'string' ? input.trim() : null;
    const value = text !== null || typeof input === 'boolean' ? Number(input) : input;
    if (text !== null && (text === '' || Number.isNaN(value)))
      return fault(path, issues, 'float_parsing', 'Input should be a valid number, unable to parse string as a number');
    if (typeof value !== 'number') return fault(path, issues, 'float_type', 'Input should be a valid number');
    if (!Number.isFinite(value)) return fault(path, issues, 'finite_number', 'Input should be a finite number');
    return bounded(value, bounds, path, issues);
  });

export const flagOf: Reader<boolean> = described({ type: 'boolean' }, (input, path, issues) => {
  if (typeof input === 'boolean') return input;
  if (typeof input !== 'string' && input !== 0 && input !== 1)
    return fault(path, issues, 'bool_type', 'Input should be a valid boolean');
  const value = flagFrom(String(input));
  if (value !== undefined && value !== null) return value;
  return fault(path, issues, 'bool_parsing', 'Input should be a valid boolean, unable to interpret input');
});

/** One of a few texts. */
export function choiceOf<Choice extends string>(...choices: readonly Choice[]): Reader<Choice> {
  const quoted = choices.map((choice) => `'${choice}'`);
  const expected = quoted.length === 1 ? quoted[0] : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  return described(
    { type: 'string', enum: choices },
    (input, path, issues) =>
      choices.find((choice) => choice === input) ?? fault(path, issues, 'literal_error', `Input should be ${expected}`),
  );
}

/** An instant with its zone, ISO 8601. */
export const instantOf: Reader<Date> = described({ type: 'string', format: 'date-time' }, (input, path, issues) => {
  if (typeof input !== 'string') return fault(path, issues, 'datetime_type', 'Input should be a valid datetime');
  const value = new Date(input);
  if (Number.isNaN(value.getTime()))
    return fault(path, issues, 'datetime_from_date_parsing', 'Input should be a valid datetime or date');
  if (!/(?:Z|[+-]\d\d:?\d\d)$/i.test(input.trim()))
    return fault(path, issues, 'timezone_aware', 'Input should have timezone info');
  return value;
});

export const orNull = <Value>(inner: Reader<Value>): Reader<Value | null> =>
  described(orNullSchema(schemaOf(inner)), (input, path, issues) =>
    input === null ? null : inner(input, path, issues),
  );

export const listOf = <Item>(
  inner: Reader<Item>,
  { least = 0, most = Number.POSITIVE_INFINITY }: { readonly least?: number; readonly most?: number } = {},
): Reader<readonly Item[]> =>
  described(
    {
      type: 'array',
      items: schemaOf(inner),
      ...(least === 0 ? {} : { minItems: least }),
      ...(most === Number.POSITIVE_INFINITY ? {} : { maxItems: most }),
    },
    (input, path, issues) => {
      if (!Array.isArray(input)) return fault(path, issues, 'list_type', 'Input should be a valid list');
      const after = `item${least === 1 || most === 1 ? '' : 's'} after validation, not ${input.length}`;
      if (input.length < least) return fault(path, issues, 'too_short', `List should have at least ${least} ${after}`);
      if (input.length > most) return fault(path, issues, 'too_long', `List should have at most ${most} ${after}`);
      const before = issues.length;
      const items = input.map((item, at) => inner(item, [...path, at], issues));
      return issues.length > before ? undefined : (items as readonly Item[]);
    },
  );

/** A member of a model: how it is read, and its value when it is left out. Without one it is required. */
export interface Member<Value> {
  readonly read: Reader<Value>;
  readonly otherwise?: Value;
}

export const required = <Value>(read: Reader<Value>): Member<Value> => ({ read });
export const optional = <Value>(read: Reader<Value>, otherwise: Value): Member<Value> => ({ read, otherwise });

/** An object of known members; a further one is a fault. */
export function modelOf<Values extends JsonObject>(members: {
  readonly [Name in keyof Values]: Member<Values[Name]>;
}): Reader<Values> {
  const named = Object.entries(members) as [string, Member<unknown>][];
  const properties = named.map(([name, { read, ...rest }]): [string, JsonSchema] => [
    name,
    // A default that is an object, such as an empty list, is left out of the schema.
    {
      ...schemaOf(read),
      ...(['string', 'number', 'boolean'].includes(typeof rest.otherwise) ? { default: rest.otherwise } : {}),
    },
  ]);
  const needed = named.filter(([, member]) => !('otherwise' in member)).map(([name]) => name);
  const schema = { ...objectSchema(Object.fromEntries(properties), needed), additionalProperties: false };
  return described(schema, (input, path, issues) => {
    if (!isJsonObject(input)) return fault(path, issues, NO_OBJECT.rule, NO_OBJECT.message);
    const before = issues.length;
    const values = named.map(([name, { read, ...rest }]) => {
      if (Object.hasOwn(input, name)) return [name, read(input[name], [...path, name], issues)];
      if ('otherwise' in rest) return [name, rest.otherwise];
      return [name, fault([...path, name], issues, 'missing', 'Field required')];
    });
    for (const name of Object.keys(input))
      if (!Object.hasOwn(members, name))
        fault([...path, name], issues, 'extra_forbidden', 'Extra inputs are not permitted');
    return issues.length > before ? undefined : (Object.fromEntries(values) as Values);
  });
}

/** The parser of query text; a further parameter is a fault. Throws InvalidInput with every fault. */
export const queryOf = <Value>(read: Reader<Value>): ((search: string) => Value) & Described =>
  described(schemaOf(read), (search: string) => {
    const issues: Issue[] = [];
    const value = read(Object.fromEntries(new URLSearchParams(search)), ['query'], issues);
    if (issues.length > 0 || value === undefined) throw new InvalidInput('The query is not valid.', issues);
    return value;
  });

/** The parser of a JSON body. Throws InvalidInput with every fault. */
export const bodyOf = <Value>(read: Reader<Value>): ((body: Uint8Array) => Value) & Described =>
  described(schemaOf(read), (body: Uint8Array) => {
    const issues: Issue[] = [];
    const value = read(parseObject(body), ['body'], issues);
    if (issues.length > 0 || value === undefined) throw new InvalidInput('The body is not valid.', issues);
    return value;
  });
