/** A value that must not be shown: printing, logging or serialising it yields `<secret>`. */
export class Secret {
  readonly #value: string;
  constructor(value: string) {
    this.#value = value;
  }
  /** The value itself. Call this only to send the value to its recipient. */
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
