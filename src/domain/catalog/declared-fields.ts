import type { JsonObject } from '../json-object.ts';
import { decimalFrom, flagFrom, integerFrom } from './numbers.ts';

/** Type of a declared field; each may also be null. */
type Kind = 'text' | 'integer' | 'price' | 'flag';

/**
 * Types of the fields that every response for an entry has, in the order of the response. `id` and `object` precede
 * them. The values come from the row of the entry.
 */
const KINDS = {
  provider: 'text',
  mode: 'text',
  max_input_tokens: 'integer',
  max_output_tokens: 'integer',
  max_tokens: 'integer',
  input_cost_per_token: 'price',
  output_cost_per_token: 'price',
  cache_read_input_token_cost: 'price',
  input_cost_per_audio_token: 'price',
  output_cost_per_reasoning_token: 'price',
  deprecation_date: 'text',
  supports_function_calling: 'flag',
  supports_parallel_function_calling: 'flag',
  supports_vision: 'flag',
  supports_audio_input: 'flag',
  supports_audio_output: 'flag',
  supports_prompt_caching: 'flag',
  supports_reasoning: 'flag',
  supports_response_schema: 'flag',
  supports_system_messages: 'flag',
  supports_web_search: 'flag',
} as const satisfies Record<string, Kind>;

type FieldName = keyof typeof KINDS;
interface ValueOf {
  text: string;
  integer: number;
  price: number;
  flag: boolean;
}

/**
 * Values of the declared fields: prices in USD per token, limits in tokens, texts as in the price map. Null where the
 * map has no value of the type.
 */
export type DeclaredFields = { readonly [Name in FieldName]: ValueOf[(typeof KINDS)[Name]] | null };

const FIELD_NAMES = Object.keys(KINDS) as FieldName[];

/** The provider is the only field with another name in the price map. */
const keyOf = (name: FieldName): string => (name === 'provider' ? 'litellm_provider' : name);

/**
 * Keys that `extraFieldsOf` leaves out: the declared fields by their key in the price map, and all names of the
 * response.
 */
const DECLARED_KEYS: ReadonlySet<string> = new Set(['id', 'object', 'provider', ...FIELD_NAMES.map(keyOf)]);

/** A token limit of a row, which may be text; undefined when it is not a safe integer. */
export function tokenLimitOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined;
  if (typeof value !== 'string') return undefined;
  const read = integerFrom(value);
  return 'value' in read && Number.isSafeInteger(Number(read.value)) ? Number(read.value) : undefined;
}

function priceOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return typeof value === 'string' ? (decimalFrom(value) ?? undefined) : undefined;
}

function flagOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (value === 0 || value === 1) return value === 1;
  return typeof value === 'string' ? (flagFrom(value) ?? undefined) : undefined;
}

/**
 * The value of a declared field. Values of another type are converted where the reference service converts them. Null
 * when absent, undefined for a value that cannot be converted.
 */
function convert(kind: Kind, value: unknown): string | number | boolean | null | undefined {
  if (value === undefined || value === null) return null;
  switch (kind) {
    case 'text':
      return typeof value === 'string' ? value : undefined;
    case 'integer':
      return tokenLimitOf(value);
    case 'price':
      return priceOf(value);
    case 'flag':
      return flagOf(value);
  }
}

/** One declared field of a row. A value of the wrong kind is null. */
export function declaredFieldOf<Name extends FieldName>(
  { row }: { readonly row: JsonObject },
  name: Name,
): DeclaredFields[Name] {
  return (convert(KINDS[name], row[keyOf(name)]) ?? null) as DeclaredFields[Name];
}

/** The declared fields of a row, in the order of the response. */
export function declaredFieldsOf(entry: { readonly row: JsonObject }): DeclaredFields {
  return Object.fromEntries(
    FIELD_NAMES.map((name) => [name, declaredFieldOf(entry, name)]),
  ) as unknown as DeclaredFields;
}

/** All keys of the row that are not declared fields, with their values, in the price map's order. */
export function extraFieldsOf({ row }: { readonly row: JsonObject }): readonly (readonly [string, unknown])[] {
  return Object.entries(row).filter(([key]) => !DECLARED_KEYS.has(key));
}

/** The first declared field with a value of the wrong kind, as a text that may be shown; null when there is none. */
export function rowFault(id: string, row: JsonObject): string | null {
  for (const name of FIELD_NAMES) {
    if (convert(KINDS[name], row[keyOf(name)]) !== undefined) continue;
    return `entry '${id.slice(0, 100)}': ${keyOf(name)} is not of type ${KINDS[name]}`;
  }
  return null;
}
