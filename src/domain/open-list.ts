/** Position of a value in an `OpenList`. Only the list reads and changes it. */
export class Place<Value> {
  readonly value: Value;
  isOpen = true;
  previous: Place<Value> | null;
  next: Place<Value> | null = null;

  constructor(value: Value, previous: Place<Value> | null) {
    this.value = value;
    this.previous = previous;
  }
}

/**
 * List of running calls and similar values, the oldest first. It replaces a Set or Map for values that are added and
 * removed with every call.
 *
 * V8 gives a Set a new table after every few changes, and each table refers to the next one. Once one of them is in the
 * old generation, all later tables and their values are kept until the next full collection. A removed place of this
 * list refers to no other place.
 */
export class OpenList<Value> {
  #first: Place<Value> | null = null;
  #last: Place<Value> | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Null when it is empty. */
  get oldest(): Value | null {
    return this.#first?.value ?? null;
  }

  add(value: Value): Place<Value> {
    const place = new Place(value, this.#last);
    if (this.#last === null) this.#first = place;
    else this.#last.next = place;
    this.#last = place;
    this.#size += 1;
    return place;
  }

  /** Returns whether the place was in the list. */
  remove(place: Place<Value>): boolean {
    if (!place.isOpen) return false;
    const { previous, next } = place;
    if (previous === null) this.#first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
    place.isOpen = false;
    place.previous = null;
    place.next = null;
    this.#size -= 1;
    return true;
  }

  /** The values that are in the list at the start of the iteration. Values that are removed meanwhile are skipped. */
  *[Symbol.iterator](): Iterator<Value, void> {
    const places: Place<Value>[] = [];
    for (let place = this.#first; place !== null; place = place.next) places.push(place);
    for (const place of places) if (place.isOpen) yield place.value;
  }
}
