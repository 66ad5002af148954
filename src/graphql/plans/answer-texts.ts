/** Maximum characters of all texts. A further text evicts the oldest ones. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** Texts of more characters are not cached. */
const MAX_TEXT_CHARACTERS = 64 * 1024;

interface CachedText {
  /** The object on which the value depends. Weak, so that a text does not keep a replaced catalog in memory. */
  readonly basis: WeakRef<object>;
  readonly text: string;
}

/** JSON of root fields whose values depend on one unchanging object alone, bounded by characters. */
export class AnswerTexts {
  readonly #texts = new Map<string, CachedText>();
  #characters = 0;
  #fieldCount = 0;

  /** A unique number for a field of a plan, as part of its cache keys. */
  nextField(): number {
    this.#fieldCount += 1;
    return this.#fieldCount;
  }

  /** The cached text of a key, if it was computed from the same object; else undefined. */
  get(key: string, basis: object): string | undefined {
    const known = this.#texts.get(key);
    return known?.basis.deref() === basis ? known.text : undefined;
  }

  set(key: string, basis: object, text: string): void {
    if (text.length > MAX_TEXT_CHARACTERS) return;
    this.#remove(key);
    this.#texts.set(key, { basis: new WeakRef(basis), text });
    this.#characters += text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#characters <= MAX_CHARACTERS) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#characters -= this.#texts.get(key)?.text.length ?? 0;
    this.#texts.delete(key);
  }
}
