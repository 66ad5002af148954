import type { ExecutionResult } from 'graphql';
import { MAX_ERRORS } from '../../schema/base/limits.ts';
import { tooLarge } from '../../schema/base/too-large.ts';
import type { Work } from '../../schema/base/work.ts';
import type { Turns } from '../domain/event-loop-turns.ts';

/** Maximum size of one answer, and of one event of a subscription, in bytes. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Maximum weight, in characters, of a value that is serialised in one call. */
const PIECE_CHARACTERS = 256 * 1024;
/** Weight of each value in addition to its characters. */
const VALUE_WEIGHT = 8;

/** Answers within `MAX_ANSWER_BYTES`. Larger ones become an error with the code TOO_LARGE. */
export interface Answers {
  /** The same result, or an error if it is too large. Serialises a large result in several turns of the event loop. */
  bounded<Result extends ExecutionResult>(result: Result): Result | Promise<Result | ExecutionResult>;
  /** Bounds and serialises a result. The JSON is cached until the data of the result is garbage-collected. */
  encoded(result: ExecutionResult): Promise<ExecutionResult>;
  /** The JSON of a result. */
  textOf(result: ExecutionResult): string;
  /** The JSON of the data of a serialised result; null for others. */
  dataTextOf(data: unknown): string | null;
}

class AnswerTooLarge extends Error {}

/**
 * The result of an execution, or the refusal of too much work. Of more than `MAX_ERRORS` errors, the first ones are
 * kept, and one more error has the number of the others.
 */
export function resultWithinLimits(result: ExecutionResult, { refusal }: Pick<Work, 'refusal'>): ExecutionResult {
  if (refusal !== null) return { errors: [refusal] };
  const { errors } = result;
  if (errors === undefined || errors.length <= MAX_ERRORS) return result;
  const more = tooLarge(`${errors.length - MAX_ERRORS} further errors are not listed.`);
  return { ...result, errors: [...errors.slice(0, MAX_ERRORS), more] };
}

export function createAnswers(turns: Turns): Answers {
  const texts = new WeakMap<object, string>();

  async function encode(result: ExecutionResult, data: object): Promise<ExecutionResult> {
    try {
      texts.set(data, await new JsonEncoder(turns).textOf(data));
      return result;
    } catch (error) {
      if (!(error instanceof AnswerTooLarge)) throw error;
      return { errors: [tooLarge(`The answer has more than ${MAX_ANSWER_BYTES} bytes. Ask for less at once.`)] };
    }
  }

  const dataTextOf = (data: unknown): string | null =>
    typeof data === 'object' && data !== null ? (texts.get(data) ?? null) : null;

  return {
    bounded(result) {
      const { data } = result;
      if (data === null || data === undefined || texts.has(data)) return result;
      const isSmall = weightOf(data, PIECE_CHARACTERS) <= PIECE_CHARACTERS;
      return isSmall ? result : encode(result, data);
    },
    encoded: async (result) =>
      result.data === null || result.data === undefined ? result : await encode(result, result.data),
    textOf(result) {
      const text = dataTextOf(result.data);
      if (text === null) return JSON.stringify(result);
      const members = Object.entries(result).flatMap(([name, value]) => {
        const member = name === 'data' ? text : JSON.stringify(value);
        return member === undefined ? [] : [`${JSON.stringify(name)}:${member}`];
      });
      return `{${members.join(',')}}`;
    },
    dataTextOf,
  };
}

/** The weight of a value in characters; stops soon after it exceeds `max`. */
export function weightOf(value: unknown, max: number): number {
  if (typeof value === 'string') return VALUE_WEIGHT + value.length;
  if (typeof value !== 'object' || value === null) return VALUE_WEIGHT;
  let weight = VALUE_WEIGHT;
  if (Array.isArray(value)) {
    for (const item of value) {
      weight += weightOf(item, max - weight);
      if (weight > max) break;
    }
    return weight;
  }
  for (const name in value) {
    weight += name.length + weightOf(value[name as keyof typeof value], max - weight);
    if (weight > max) break;
  }
  return weight;
}

/** Whether a value has `toJSON`, as dates do. */
const hasToJson = (value: object): boolean => 'toJSON' in value && typeof value.toJSON === 'function';

/** Serialises a value in pieces, and yields to the event loop between them. */
class JsonEncoder {
  readonly #turns: Turns;
  readonly #pieces: string[] = [];
  #bytes = 0;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  async textOf(value: object): Promise<string> {
    await this.#write(value);
    return this.#pieces.join('');
  }

  #push(piece: string): void {
    this.#bytes += Buffer.byteLength(piece);
    if (this.#bytes > MAX_ANSWER_BYTES) throw new AnswerTooLarge();
    this.#pieces.push(piece);
  }

  async #write(value: unknown): Promise<void> {
    await this.#turns.due();
    if (typeof value === 'string') await this.#writeText(value);
    else if (Array.isArray(value)) await this.#writeList(value);
    else if (typeof value === 'object' && value !== null && !hasToJson(value)) await this.#writeObject(value);
    else this.#push(JSON.stringify(value) ?? 'null');
  }

  async #writeText(text: string): Promise<void> {
    this.#push('"');
    let start = 0;
    while (start < text.length) {
      let end = Math.min(start + PIECE_CHARACTERS, text.length);
      // A surrogate pair is not split.
      if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end += 1;
      this.#push(JSON.stringify(text.slice(start, end)).slice(1, -1));
      start = end;
      await this.#turns.due();
    }
    this.#push('"');
  }

  async #writeList(items: readonly unknown[]): Promise<void> {
    this.#push('[');
    let separator = '';
    let start = 0;
    while (start < items.length) {
      let weight = 0;
      let end = start;
      // A piece is full at a quarter of the maximum, because its last item adds its whole weight.
      while (end < items.length && weight <= PIECE_CHARACTERS / 4) {
        const itemWeight = weightOf(items[end], PIECE_CHARACTERS);
        // An item that exceeds the maximum is alone in its piece, and is written in parts.
        if (end > start && itemWeight > PIECE_CHARACTERS) break;
        weight += itemWeight;
        end += 1;
      }
      this.#push(separator);
      separator = ',';
      if (weight > PIECE_CHARACTERS && end === start + 1) await this.#write(items[start]);
      else this.#push(JSON.stringify(items.slice(start, end)).slice(1, -1));
      start = end;
      await this.#turns.due();
    }
    this.#push(']');
  }

  async #writeObject(value: object): Promise<void> {
    this.#push('{');
    let separator = '';
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      this.#push(`${separator}${JSON.stringify(name)}:`);
      separator = ',';
      if (weightOf(member, PIECE_CHARACTERS) > PIECE_CHARACTERS) await this.#write(member);
      else this.#push(JSON.stringify(member));
      const due = this.#turns.due();
      if (due !== null) await due;
    }
    this.#push('}');
  }
}
