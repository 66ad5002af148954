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

/** Maximum number of texts in a list, and of characters in a text. */
const MOST_TEXTS = 1_000;
const MOST_CHARACTERS = 256;

/** Reads members of one map of the configuration of a router. Collects faults; a faulty member has its default. */
export class ConfigReader {
  readonly #map: JsonObject;
  readonly #path: readonly (string | number)[];
  readonly #faults: RouterFault[];

  constructor(map: JsonObject, path: readonly (string | number)[], faults: RouterFault[]) {
    this.#map = map;
    this.#path = path;
    this.#faults = faults;
  }

  fault(name: string, message: string): void {
    this.#faults.push({ path: [...this.#path, name], message });
  }

  /** Whether a member is present and not null. */
  has(name: string): boolean {
    return this.#map[name] !== undefined && this.#map[name] !== null;
  }

  value(name: string): unknown {
    return this.#map[name] ?? undefined;
  }

  /** Faults for members that are not known. */
  only(known: readonly string[]): void {
    for (const name of Object.keys(this.#map))
      if (!known.includes(name) && this.has(name)) this.fault(name, 'is not a member of this configuration');
  }

  /** A map; empty when absent. */
  map(name: string): ConfigReader {
    const value = this.value(name);
    if (value !== undefined && !isJsonObject(value)) this.fault(name, 'must be a map');
    return new ConfigReader(isJsonObject(value) ? value : {}, [...this.#path, name], this.#faults);
  }

  names(): readonly string[] {
    return Object.keys(this.#map).filter((name) => this.has(name));
  }

  /** A text; null when absent. */
  text(name: string, most = MOST_CHARACTERS): string | null {
    const value = this.value(name);
    if (value === undefined) return null;
    if (typeof value === 'string' && value !== '' && value.length <= most) return value;
    this.fault(name, `must be a text of 1 to ${most} characters`);
    return null;
  }

  requiredText(name: string, most?: number): string {
    if (!this.has(name)) this.fault(name, 'is required');
    return this.text(name, most) ?? '';
  }

  texts(name: string): readonly string[] {
    const value = this.value(name);
    if (value === undefined) return [];
    const isText = (one: unknown): one is string =>
      typeof one === 'string' && one.trim() !== '' && one.length <= MOST_CHARACTERS;
    if (Array.isArray(value) && value.length <= MOST_TEXTS && value.every(isText)) return value;
    this.fault(name, `must be a list of at most ${MOST_TEXTS} texts of 1 to ${MOST_CHARACTERS} characters`);
    return [];
  }

  list(name: string, most: number): readonly unknown[] {
    const value = this.value(name);
    if (value === undefined) return [];
    if (Array.isArray(value) && value.length <= most) return value;
    this.fault(name, `must be a list of at most ${most} entries`);
    return [];
  }

  flag(name: string, otherwise: boolean): boolean {
    const value = this.value(name);
    if (value === undefined) return otherwise;
    if (typeof value === 'boolean') return value;
    this.fault(name, 'must be true or false');
    return otherwise;
  }

  number(name: string, otherwise: number, { min, max, isInteger }: NumberRange): number {
    const value = this.value(name);
    if (value === undefined) return otherwise;
    const isFit = typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max;
    if (isFit && (isInteger !== true || Number.isInteger(value))) return value;
    this.fault(name, `must be ${isInteger === true ? 'an integer' : 'a number'} from ${min} to ${max}`);
    return otherwise;
  }

  requiredNumber(name: string, range: NumberRange): number {
    if (!this.has(name)) this.fault(name, 'is required');
    return this.number(name, range.min, range);
  }

  oneOf<const Value extends string>(name: string, values: readonly Value[], otherwise: Value): Value {
    const value = this.value(name);
    if (value === undefined) return otherwise;
    const found = values.find((one) => one === value);
    if (found === undefined) this.fault(name, `must be one of ${values.join(', ')}`);
    return found ?? otherwise;
  }
}
