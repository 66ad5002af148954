/** A value that must not be shown: printing, logging or serialising it yields a mark instead. */
export class Secret {
  readonly #value: string;
  constructor(value: string) {
    this.#value = value;
  }
  /** The value itself; call it only where it goes onto the wire it is for. */
  reveal(): string {
    return this.#value;
  }
  toString(): string {
    return '<secret>';
  }
  toJSON(): string {
    return '<secret>';
  }
}
