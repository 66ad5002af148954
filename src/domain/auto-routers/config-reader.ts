import { isJsonObject, type JsonObject } from '../json-object.ts';

/** A fault of the configuration of a router. */
export interface RouterFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

interface NumberRange {
  readonly min: number;
  readonly max: number;
  readonly isInteger?: true;
}

/** Maximum number of texts in a list. */
const MAX_TEXTS = 1_000;
/** Maximum number of characters of a text. */
const MAX_CHARACTERS = 256;

/**
 * Reads members of one map in the configuration of a router. A faulty member adds a fault to a list that all readers of
 * the configuration share. The method then returns what it returns for an absent member.
 */
export class ConfigReader {
  readonly #map: JsonObject;
  readonly #path: readonly (string | number)[];
  readonly #faults: RouterFault[];

  constructor(map: JsonObject, path: readonly (string | number)[], faults: RouterFault[]) {
    this.#map = map;
    this.#path = path;
    this.#faults = faults;
  }

  addFault(name: string, message: string): void {
    this.#faults.push({ path: [...this.#path, name], message });
  }

  /** Whether a member is present and not null. */
  has(name: string): boolean {
    return this.#map[name] !== undefined && this.#map[name] !== null;
  }

  /** The member; undefined when absent or null. */
  value(name: string): unknown {
    return this.#map[name] ?? undefined;
  }

  /** Adds a fault for each member that is not in `known`. */
  refuseOthers(known: readonly string[]): void {
    for (const name of Object.keys(this.#map))
      if (!known.includes(name) && this.has(name)) this.addFault(name, 'is not a member of this configuration');
  }

  /** Reader of an inner map. An absent map is read as an empty one. */
  map(name: string): ConfigReader {
    const value = this.value(name);
    if (value !== undefined && !isJsonObject(value)) this.addFault(name, 'must be a map');
    return new ConfigReader(isJsonObject(value) ? value : {}, [...this.#path, name], this.#faults);
  }

  /** Names of the members that are present and not null. */
  names(): readonly string[] {
    return Object.keys(this.#map).filter((name) => this.has(name));
  }

  /** A text; null when absent. */
  text(name: string, maxCharacters = MAX_CHARACTERS): string | null {
    const value = this.value(name);
    if (value === undefined) return null;
    if (typeof value === 'string' && value !== '' && value.length <= maxCharacters) return value;
    this.addFault(name, `must be a text of 1 to ${maxCharacters} characters`);
    return null;
  }

  /** A text. Empty after a fault. */
  requiredText(name: string, maxCharacters?: number): string {
    if (!this.has(name)) this.addFault(name, 'is required');
    return this.text(name, maxCharacters) ?? '';
  }

  /** A list of texts; empty when absent. */
  texts(name: string): readonly string[] {
    const value = this.value(name);
    if (value === undefined) return [];
    const isText = (entry: unknown): entry is string =>
      typeof entry === 'string' && entry.trim() !== '' && entry.length <= MAX_CHARACTERS;
    if (Array.isArray(value) && value.length <= MAX_TEXTS && value.every(isText)) return value;
    this.addFault(name, `must be a list of at most ${MAX_TEXTS} texts of 1 to ${MAX_CHARACTERS} characters`);
    return [];
  }

  /** A list; empty when absent. */
  list(name: string, maxEntries: number): readonly unknown[] {
    const value = this.value(name);
    if (value === undefined) return [];
    if (Array.isArray(value) && value.length <= maxEntries) return value;
    this.addFault(name, `must be a list of at most ${maxEntries} entries`);
    return [];
  }

  flag(name: string, defaultValue: boolean): boolean {
    const value = this.value(name);
    if (value === undefined) return defaultValue;
    if (typeof value === 'boolean') return value;
    this.addFault(name, 'must be true or false');
    return defaultValue;
  }

  number(name: string, defaultValue: number, { min, max, isInteger }: NumberRange): number {
    const value = this.value(name);
    if (value === undefined) return defaultValue;
    const isInRange = typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max;
    if (isInRange && (isInteger !== true || Number.isInteger(value))) return value;
    this.addFault(name, `must be ${isInteger === true ? 'an integer' : 'a number'} from ${min} to ${max}`);
    return defaultValue;
  }

  /** A number. The minimum of the range after a fault. */
  requiredNumber(name: string, range: NumberRange): number {
    if (!this.has(name)) this.addFault(name, 'is required');
    return this.number(name, range.min, range);
  }

  oneOf<const Value extends string>(name: string, values: readonly Value[], defaultValue: Value): Value {
    const value = this.value(name);
    if (value === undefined) return defaultValue;
    const found = values.find((known) => known === value);
    if (found === undefined) this.addFault(name, `must be one of ${values.join(', ')}`);
    return found ?? defaultValue;
  }
}
