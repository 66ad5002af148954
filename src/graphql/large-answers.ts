import { randomUUID } from 'node:crypto';

const PLACEHOLDER_MEMBER = 'lensgate.large';
const PLACEHOLDER = /\{"lensgate\.large":"([\da-f-]{36})"\}/;

/**
 * JSON of large answers. The protocol libraries serialise a result in one call, which blocks the event loop. The JSON
 * of a large result exists already, so the libraries get a placeholder instead of its data.
 */
export class LargeAnswers {
  readonly #texts = new Map<string, string>();

  /** The result with a placeholder instead of its data; unchanged when `dataText` is null. */
  replaceData<Result extends object>(result: Result, dataText: string | null): Result {
    if (dataText === null) return result;
    const name = randomUUID();
    this.#texts.set(name, dataText);
    return { ...result, data: { [PLACEHOLDER_MEMBER]: name } };
  }

  /** Replaces the placeholder of a message with the JSON. */
  restoreData(message: string): string {
    if (this.#texts.size === 0) return message;
    const [place, name = ''] = PLACEHOLDER.exec(message) ?? [];
    const dataText = this.#texts.get(name);
    if (place === undefined || dataText === undefined) return message;
    this.#texts.delete(name);
    return message.replace(place, () => dataText);
  }
}
