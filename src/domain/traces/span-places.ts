/** Random odd multiplier of the hash, so that clients cannot choose ids that collide. */
const BASE = (Math.random() * 2 ** 32) | 1;

/** 30-bit hash of an id: V8 stores numbers of this size without an allocation. */
function numberOf(id: string): number {
  let number = 0;
  for (let at = 0; at < id.length; at += 1) number = (Math.imul(number, BASE) + id.charCodeAt(at)) | 0;
  return number >>> 2;
}

/**
 * Hash table from span ids to their places, numbered in the order of `add`. It replaces a `Map`, for which V8 interns
 * every id: that costs more than reading the rest of the span.
 */
export class SpanPlaces {
  readonly #ids: string[] = [];
  /** Latest place of each hash, and for each place the previous place with the same hash; -1 without one. */
  readonly #last = new Map<number, number>();
  readonly #before: number[] = [];

  /** Distinct ids, in the order of `add`. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /** The place of an id, from 0; -1 when it is unknown. */
  find(id: string): number {
    let place = this.#last.get(numberOf(id)) ?? -1;
    while (place >= 0 && this.#ids[place] !== id) place = this.#before[place] ?? -1;
    return place;
  }

  /** Appends an id; false when it is known already. */
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
