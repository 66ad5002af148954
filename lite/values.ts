import { isJsonObject, type JsonObject } from '../src/domain/json-object.ts';
import { UsageFailure } from './failure.ts';

/** The items of a list; an empty list for any other value. */
export const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
export const numberOrNull = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** Options and arguments of one command line. Methods throw UsageFailure for a value of another type. */
export class Values {
  readonly #values: JsonObject;
  /** Arguments in the order of the command line. */
  readonly operands: readonly string[];

  constructor(values: JsonObject, operands: readonly string[]) {
    this.#values = values;
    this.operands = operands;
  }

  /** A required argument, by its index. */
  operand(index: number): string {
    return this.operands[index] ?? '';
  }

  text(name: string): string | null {
    return textOrNull(this.#values[name]);
  }

  texts(name: string): readonly string[] {
    return itemsOf(this.#values[name]).map(String);
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  /** Whether the option was given. */
  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  number(name: string): number | null {
    const text = this.text(name);
    if (text === null) return null;
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!Number.isFinite(value)) throw invalid(name, `'${text}' is not a valid float.`);
    return value;
  }

  integer(name: string): number | null {
    const text = this.text(name);
    if (text === null) return null;
    if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
      throw invalid(name, `'${text}' is not a valid integer.`);
    return Number(text);
  }

  /** Items between commas, trimmed, without empty ones. Null where the option is absent. */
  list(name: string): readonly string[] | null {
    const text = this.text(name);
    return text === null
      ? null
      : text
          .split(',')
          .map((item) => item.trim())
          .filter(Boolean);
  }

  /** A JSON object. Null where the option is absent. */
  json(name: string): JsonObject | null {
    const text = this.text(name);
    if (text === null) return null;
    const value = parseJson(text);
    if (!isJsonObject(value)) throw new UsageFailure('Invalid value: Invalid JSON: expected an object');
    return value;
  }

  /** `name=value` pairs of a repeated option, read by `valueOf`. Values of names in `TEXT_MEMBER` stay text. */
  pairs(name: string): JsonObject {
    return Object.fromEntries(
      this.texts(name).map((pair) => {
        const at = pair.indexOf('=');
        if (at < 1) throw invalid(name, `'${pair}' is not in the form key=value.`);
        const [key, text] = [pair.slice(0, at), pair.slice(at + 1)];
        return [key, TEXT_MEMBER.test(key) ? text : valueOf(text)];
      }),
    );
  }
}

const invalid = (name: string, reason: string): UsageFailure =>
  new UsageFailure(`Invalid value for '--${name}': ${reason}`);

/** Parses JSON of the command line. Throws UsageFailure, without the text, which may be a secret. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageFailure('Invalid value: Invalid JSON format');
  }
}

/** Names of members whose values are texts, even if they look like numbers. */
const TEXT_MEMBER = /(?:^|_)(?:base|id|key|model|name|password|secret|version)$/;

/** Parses numbers, booleans, null, lists and objects as JSON. Other texts, and numbers of over 15 digits, stay text. */
function valueOf(text: string): unknown {
  if (!/^(?:true|false|null|-?\d{1,15}(?:\.\d+)?(?:[eE][+-]?\d{1,3})?|[[{].*)$/s.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
