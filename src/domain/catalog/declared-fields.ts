import { decimalFrom, flagFrom, integerFrom } from './numbers.ts';

type Row = Readonly<Record<string, unknown>>;

/** What a declared field may hold, beside null. */
type Kind = 'text' | 'integer' | 'price' | 'flag';

/** Every declared field that is read from a row, in the order of the wire; `id` and `object` come before. */
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

/** Prices in USD per token, limits in tokens, dates as `YYYY-MM-DD`; null where the price map says nothing. */
export type DeclaredFields = { readonly [Name in FieldName]: ValueOf[(typeof KINDS)[Name]] | null };

const FIELD_NAMES = Object.keys(KINDS) as FieldName[];

/** The provider is the one field that the price map calls by another name. */
const keyOf = (name: FieldName): string => (name === 'provider' ? 'litellm_provider' : name);

/** The keys of a row that declared fields are read from. */
const DECLARED_KEYS: ReadonlySet<string> = new Set(['id', 'object', 'provider', ...FIELD_NAMES.map(keyOf)]);

/** A limit in tokens as a row writes it, which may be text; undefined when it is none. */
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

/** The value as its kind, converted where the reference service converts; undefined when it is no such thing. */
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

/** The declared fields of a row, in the order of the wire. A value of the wrong kind reads as null. */
export function declaredFieldsOf({ row }: { readonly row: Row }): DeclaredFields {
  const fields: Record<string, unknown> = {};
  for (const name of FIELD_NAMES) fields[name] = convert(KINDS[name], row[keyOf(name)]) ?? null;
  return fields as unknown as DeclaredFields;
}

/** Every other key of the row, with its value, in the price map's order. */
export function extraFieldsOf({ row }: { readonly row: Row }): readonly (readonly [string, unknown])[] {
  return Object.entries(row).filter(([key]) => !DECLARED_KEYS.has(key));
}

/** The first declared field whose value is of the wrong kind, as a text fit to show; null when all are sound. */
export function faultOf(id: string, row: Row): string | null {
  for (const name of FIELD_NAMES) {
    if (convert(KINDS[name], row[keyOf(name)]) !== undefined) continue;
    return `entry '${id.slice(0, 100)}': ${keyOf(name)} is no ${KINDS[name]}`;
  }
  return null;
}
