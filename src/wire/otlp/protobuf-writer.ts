const FIRST_BYTES = 16_384;

/**
 * Writes protobuf from its end to its beginning, because a message's length stands before it: what is written is known
 * by then. Fields are therefore written last to first. Tags are of one byte.
 */
export class ProtobufWriter {
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_BYTES);
  /** Where what is written begins. */
  #at = FIRST_BYTES;

  /** A place to measure a message from: take it before its last field is written. */
  get mark(): number {
    return this.#bytes.length - this.#at;
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }

  /** Closes a message begun at `mark`. */
  message(tag: number, mark: number): void {
    this.varint(tag, this.mark - mark);
  }

  text(tag: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#room(length);
    this.#at -= length;
    this.#bytes.write(text, this.#at, length);
    this.varint(tag, length);
  }

  hex(tag: number, hex: string): void {
    const length = hex.length >> 1;
    this.#room(length);
    this.#at -= length;
    this.#bytes.write(hex, this.#at, length, 'hex');
    this.varint(tag, length);
  }

  fixed64(tag: number, value: bigint): void {
    this.#room(9);
    this.#at -= 8;
    this.#bytes.writeBigUInt64LE(value, this.#at);
    this.#bytes[--this.#at] = tag;
  }

  double(tag: number, value: number): void {
    this.#room(9);
    this.#at -= 8;
    this.#bytes.writeDoubleLE(value, this.#at);
    this.#bytes[--this.#at] = tag;
  }

  /** A signed 64-bit integer, which takes ten bytes when it is negative. */
  int64(tag: number, value: bigint): void {
    const digits: number[] = [];
    for (let rest = BigInt.asUintN(64, value); ; rest >>= 7n) {
      digits.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
      if (rest <= 0x7fn) break;
    }
    this.#put(digits);
    this.#bytes[--this.#at] = tag;
  }

  /** An unsigned integer below 2^53. */
  varint(tag: number, value: number): void {
    const digits: number[] = [];
    for (let rest = value; ; rest = Math.floor(rest / 128)) {
      digits.push((rest % 128) | (rest > 127 ? 0x80 : 0));
      if (rest <= 127) break;
    }
    this.#put(digits);
    this.#bytes[--this.#at] = tag;
  }

  /** Room for these digits and a tag before them. */
  #put(digits: readonly number[]): void {
    this.#room(digits.length + 1);
    this.#at -= digits.length;
    this.#bytes.set(digits, this.#at);
  }

  #room(bytes: number): void {
    if (this.#at >= bytes) return;
    const written = this.mark;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, written + bytes + FIRST_BYTES));
    this.#bytes.copy(grown, grown.length - written, this.#at);
    this.#at = grown.length - written;
    this.#bytes = grown;
  }
}
