/** Nobody outside knows it, so that nobody can choose ids that are all found in one place. Odd. */
const BASE = (Math.random() * 2 ** 32) | 1;

/** A number of 30 bits for an id. */
function numberOf(id: string): number {
  let number = 0;
  for (let at = 0; at < id.length; at += 1) number = (Math.imul(number, BASE) + id.charCodeAt(at)) | 0;
  return number >>> 2;
}

/**
 * Finds spans by their ids, as a map would. V8 enters every text that a map is asked for into a table that all of a thread
 * shares: ids are new with every span, so that each costs more there than all else that is looked at in it.
 */
export class SpanPlaces {
  readonly #ids: string[] = [];
  /** The last id of each number, and in front of each id the one before it with its number. */
  readonly #last = new Map<number, number>();
  readonly #before: number[] = [];

  /** Distinct, in the order in which they were added. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /** The place of an id, from 0; -1 where it was not added. */
  find(id: string): number {
    let place = this.#last.get(numberOf(id)) ?? -1;
    while (place >= 0 && this.#ids[place] !== id) place = this.#before[place] ?? -1;
    return place;
  }

  /** Adds an id behind all others; false where it is there. */
  add(id: string): boolean {
    const number = numberOf(id);
    const last = this.#last.get(number) ?? -1;
    for (let place = last; place >= 0; place = this.#before[place] ?? -1) if (this.#ids[place] === id) return false;
    this.#last.set(number, this.#ids.length);
    this.#before.push(last);
    this.#ids.push(id);
    return true;
  }
}
