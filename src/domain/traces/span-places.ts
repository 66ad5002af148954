/** Random odd multiplier of the hash, so that clients cannot choose ids that collide. */
const BASE = (Math.random() * 2 ** 32) | 1;

/** 30-bit hash of an id: V8 stores numbers of this size without an allocation. */
function hashOf(id: string): number {
  let hash = 0;
  for (let at = 0; at < id.length; at += 1) hash = (Math.imul(hash, BASE) + id.charCodeAt(at)) | 0;
  return hash >>> 2;
}

/**
 * Hash table from span ids to their places, numbered in the order of `add`. It replaces a `Map`, for which V8 interns
 * every id: that costs more than reading the rest of the span.
 */
export class SpanPlaces {
  readonly #ids: string[] = [];
  /** By hash: the latest place of an id with this hash. */
  readonly #latest = new Map<number, number>();
  /** By place: the previous place of an id with the same hash; -1 without one. */
  readonly #previous: number[] = [];

  /** Distinct ids, in the order of `add`. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /** The place of an id, from 0; -1 when it is unknown. */
  find(id: string): number {
    let place = this.#latest.get(hashOf(id)) ?? -1;
    while (place >= 0 && this.#ids[place] !== id) place = this.#previous[place] ?? -1;
    return place;
  }

  /** Appends an id; false when it is known already. */
  add(id: string): boolean {
    const hash = hashOf(id);
    const latest = this.#latest.get(hash) ?? -1;
    for (let place = latest; place >= 0; place = this.#previous[place] ?? -1) if (this.#ids[place] === id) return false;
    this.#latest.set(hash, this.#ids.length);
    this.#previous.push(latest);
    this.#ids.push(id);
    return true;
  }
}
