import { RE2JS } from 're2js';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { lookupTable } from '../../wire/json/fields.ts';

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const number = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

/** At deeper levels, lists are empty, and of several alternatives the first without nesting is chosen. */
const PREFERRED_MAX_LEVEL = 12;
/** Maximum nesting depth of an instance. */
const MAX_LEVEL = 100;
/** Maximum length of a text or list. A greater minimum of the schema is not met. */
const MAX_LENGTH = 1_000;

/**
 * Limits of patterns: different patterns of one instance, characters of a pattern, characters with repetitions
 * expanded, and steps of the compiled program. Patterns above a limit are ignored.
 */
const MAX_PATTERNS = 20;
const MAX_PATTERN_LENGTH = 512;
const MAX_EXPANDED_LENGTH = 20_000;
const MAX_PATTERN_STEPS = 5_000;
/** A counted repetition: `{2}`, `{2,}` and `{2,5}`. */
const REPETITION = /\{(\d+)(?:,(\d*))?\}/g;
/** Maximum length of a text that is tried for a pattern. */
const MAX_PATTERN_TEXT_LENGTH = 16;

/** Maximum number of values of an instance. A schema can demand exponentially many, or refer to itself. */
const MAX_VALUES = 2_000;

/** Example texts by `format` (JSON Schema, section 7.3). */
const FORMATS = lookupTable<string>({
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'demo@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
});
/** Candidates for a text with a `pattern`. */
const PATTERN_TEXTS = ['demo', 'Demo', 'DEMO', '1', '1.0', 'A1', 'AAA', '12345', '2026-01-01', '+15550100', '#000000'];

/**
 * A value for a JSON Schema: the required properties, and the simplest valid value of each type. Supports `$ref` in the
 * document, `allOf`, `anyOf`, `oneOf`, `enum`, `const`, and the bounds of numbers, texts and lists. For a `pattern`
 * only some texts are tried, and lookaround is not supported. Throws InvalidInput for a schema that demands more than
 * 2,000 values or 100 levels.
 */
export const instanceOf = (schema: unknown): unknown => new InstanceBuilder(schema).valueFor(schema, 0);

class InstanceBuilder {
  readonly #root: unknown;
  #values = 0;
  readonly #patterns = new Map<string, RE2JS | null>();
  constructor(root: unknown) {
    this.#root = root;
  }

  valueFor(schema: unknown, level: number): unknown {
    this.#values += 1;
    if (this.#values > MAX_VALUES || level > MAX_LEVEL)
      throw new InvalidInput('The JSON schema demands too many values of the demo model.');
    if (!isJsonObject(schema)) return 'demo';
    const { $ref: reference, allOf, anyOf, oneOf, ...rest } = schema;
    if (typeof reference === 'string') return this.valueFor(mergedSchema([rest, this.#at(reference)]), level);
    if (Array.isArray(allOf)) {
      const parts = allOf.map((one) => this.#resolved(one));
      return this.valueFor(mergedSchema([rest, ...parts]), level);
    }
    const alternatives = list(anyOf ?? oneOf);
    if (alternatives.length > 0) {
      const alternative = this.#alternativeOf(alternatives, level);
      return this.valueFor(mergedSchema([rest, alternative]), level);
    }
    if ('const' in schema) return schema['const'];
    const [firstChoice] = list(schema['enum']);
    return firstChoice === undefined ? this.#valueOfType(schema, level) : firstChoice;
  }

  #valueOfType(schema: JsonObject, level: number): unknown {
    switch (typeOf(schema) ?? 'string') {
      case 'null':
        return null;
      case 'boolean':
        return true;
      case 'integer':
      case 'number':
        return numberFor(schema);
      case 'array':
        return this.#listFor(schema, level);
      case 'object':
        return this.#objectFor(schema, level);
      default:
        return this.#textFor(schema);
    }
  }

  #objectFor(schema: JsonObject, level: number): JsonObject {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const names = list(schema['required']).filter((name) => typeof name === 'string');
    return Object.fromEntries(names.map((name) => [name, this.valueFor(properties[name], level + 1)]));
  }

  #listFor(schema: JsonObject, level: number): readonly unknown[] {
    const fixed = list(schema['prefixItems']);
    const least = Math.min(number(schema['minItems']) ?? fixed.length, MAX_LENGTH);
    const length = level > PREFERRED_MAX_LEVEL ? 0 : least;
    return Array.from({ length }, (_, index) => this.valueFor(fixed[index] ?? schema['items'], level + 1));
  }

  #textFor(schema: JsonObject): string {
    const { format, pattern } = schema;
    if (typeof format === 'string' && FORMATS[format] !== undefined) return FORMATS[format];
    const least = Math.min(number(schema['minLength']) ?? 0, MAX_LENGTH);
    const most = number(schema['maxLength']) ?? MAX_LENGTH;
    const fitLength = (text: string): string => text.padEnd(least, 'x').slice(0, most);
    const regex = typeof pattern === 'string' ? this.#compiled(pattern) : null;
    if (regex === null) return fitLength('demo');
    const texts = PATTERN_TEXTS.map(fitLength).filter((text) => text.length <= MAX_PATTERN_TEXT_LENGTH);
    return texts.find((text) => regex.test(text)) ?? fitLength('demo');
  }

  /** The compiled pattern. Null for one that is invalid, not supported, or above a limit. */
  #compiled(pattern: string): RE2JS | null {
    const known = this.#patterns.get(pattern);
    if (known !== undefined) return known;
    if (this.#patterns.size === MAX_PATTERNS) return null;
    const regex = compile(pattern);
    this.#patterns.set(pattern, regex);
    return regex;
  }

  /** The first alternative. Deeper than `PREFERRED_MAX_LEVEL`, the first one without nesting. */
  #alternativeOf(alternatives: readonly unknown[], level: number): JsonObject {
    const resolved = alternatives.map((one) => this.#resolved(one));
    const flat = resolved.find((one) => !['object', 'array'].includes(typeOf(one) ?? ''));
    return (level > PREFERRED_MAX_LEVEL ? flat : undefined) ?? resolved[0] ?? {};
  }

  #resolved(schema: unknown): JsonObject {
    if (!isJsonObject(schema)) return {};
    const { $ref: reference, ...rest } = schema;
    return typeof reference === 'string' ? mergedSchema([rest, this.#at(reference)]) : schema;
  }

  /** The schema at a JSON pointer of the document. Empty when it is missing or in another document. */
  #at(reference: string): JsonObject {
    if (!reference.startsWith('#')) return {};
    const names = reference.split('/').slice(1);
    const found = names.reduce<unknown>((inner, name) => {
      const key = percentDecoded(name).replaceAll('~1', '/').replaceAll('~0', '~');
      return isJsonObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined;
    }, this.#root);
    return isJsonObject(found) ? found : {};
  }
}

/** Merges schemas: the properties and required names of all. Of other keywords, the last value applies. */
function mergedSchema(schemas: readonly JsonObject[]): JsonObject {
  const properties = Object.assign({}, ...schemas.map((one) => one['properties'])) as JsonObject;
  const required = [...new Set(schemas.flatMap((one) => list(one['required'])))];
  const all = Object.assign({}, ...schemas) as JsonObject;
  return {
    ...all,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** The first type other than `null`, else `null`. Without a `type`, the type that the other keywords imply. */
function typeOf({ type, properties, items, prefixItems }: JsonObject): string | null {
  const types = typeof type === 'string' ? [type] : list(type).filter((one) => typeof one === 'string');
  const preferred = types.find((one) => one !== 'null') ?? types[0];
  if (preferred !== undefined) return preferred.toLowerCase();
  if (isJsonObject(properties)) return 'object';
  return items !== undefined || prefixItems !== undefined ? 'array' : null;
}

/**
 * 1, or the bound of the schema nearest to 1. Raised to a multiple of `multipleOf`, or lowered to a multiple where the
 * maximum requires it.
 */
function numberFor(schema: JsonObject): number {
  const step = number(schema['multipleOf']) ?? (typeOf(schema) === 'integer' ? 1 : 0);
  // An exclusive bound is replaced by an inclusive one: one step further inside, or 0.5 without a step.
  const distance = step === 0 ? 0.5 : step;
  const above = number(schema['exclusiveMinimum']) ?? -Infinity;
  const below = number(schema['exclusiveMaximum']) ?? Infinity;
  const least = Math.max(number(schema['minimum']) ?? -Infinity, above + distance);
  const most = Math.min(number(schema['maximum']) ?? Infinity, below - distance);
  const preferred = Math.min(Math.max(1, least), most);
  if (step === 0) {
    // Between close exclusive bounds, a distance of 0.5 leaves no number. The middle between them is valid.
    const areTooClose = least > most && Number.isFinite(above) && Number.isFinite(below);
    return areTooClose ? (above + below) / 2 : preferred;
  }
  const up = Math.ceil(preferred / step) * step;
  return up <= most ? up : Math.floor(preferred / step) * step;
}

/**
 * Compiles a pattern for an engine with run time linear in the text, because patterns come from callers. Null for a
 * pattern that is invalid, not supported, or above a limit.
 */
function compile(pattern: string): RE2JS | null {
  if (pattern.length > MAX_PATTERN_LENGTH || expandedLength(pattern) > MAX_EXPANDED_LENGTH) return null;
  try {
    const regex = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return regex.programSize() > MAX_PATTERN_STEPS ? null : regex;
  } catch {
    return null;
  }
}

/** Upper bound of the length of a pattern with its repetitions expanded, as if each one contained all others. */
const expandedLength = (pattern: string): number =>
  pattern
    .matchAll(REPETITION)
    .reduce((length, [, min, max]) => length * Math.max(1, Number(min), Number(max ?? 0)), pattern.length);

/** A name without percent encoding. A name with invalid encoding stays unchanged. */
function percentDecoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
