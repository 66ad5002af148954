/** Initial buffer size in bytes, and the minimum growth. */
const INITIAL_BYTES = 16_384;

/**
 * Writes protobuf backwards, because the length of a message precedes its content. Callers write fields in reverse
 * order. Tags must fit in one byte.
 */
export class ProtobufWriter {
  #bytes: Buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  /** Offset of the first written byte. */
  #at = INITIAL_BYTES;

  /** Number of written bytes. Callers read the mark before they write a message, and pass it to `message`. */
  get mark(): number {
    return this.#bytes.length - this.#at;
  }

  /** The written bytes. */
  finish(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }

  /** Writes tag and length of the message whose content was written since `mark`. */
  message(tag: number, mark: number): void {
    this.varint(tag, this.mark - mark);
  }

  text(tag: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#at -= length;
    this.#bytes.write(text, this.#at, length);
    this.varint(tag, length);
  }

  hex(tag: number, hex: string): void {
    const length = hex.length >> 1;
    this.#reserve(length);
    this.#at -= length;
    this.#bytes.write(hex, this.#at, length, 'hex');
    this.varint(tag, length);
  }

  fixed64(tag: number, value: bigint): void {
    this.#reserve(8);
    this.#at -= 8;
    this.#bytes.writeBigUInt64LE(value, this.#at);
    this.#writeTag(tag);
  }

  double(tag: number, value: number): void {
    this.#reserve(8);
    this.#at -= 8;
    this.#bytes.writeDoubleLE(value, this.#at);
    this.#writeTag(tag);
  }

  /** Signed 64-bit integer. A negative one takes ten bytes. */
  int64(tag: number, value: bigint): void {
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, value);
    while (rest > 0x7fn) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    this.#write(bytes);
    this.#writeTag(tag);
  }

  /** Unsigned integer below 2^53. */
  varint(tag: number, value: number): void {
    const bytes: number[] = [];
    let rest = value;
    while (rest > 0x7f) {
      bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    bytes.push(rest);
    this.#write(bytes);
    this.#writeTag(tag);
  }

  #write(bytes: readonly number[]): void {
    this.#reserve(bytes.length);
    this.#at -= bytes.length;
    this.#bytes.set(bytes, this.#at);
  }

  #writeTag(tag: number): void {
    this.#reserve(1);
    this.#at -= 1;
    this.#bytes[this.#at] = tag;
  }

  /** Grows the buffer so that this many bytes fit before the written ones. */
  #reserve(bytes: number): void {
    if (this.#at >= bytes) return;
    const written = this.mark;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, written + bytes + INITIAL_BYTES));
    this.#bytes.copy(grown, grown.length - written, this.#at);
    this.#at = grown.length - written;
    this.#bytes = grown;
  }
}
