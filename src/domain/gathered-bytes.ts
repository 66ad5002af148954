/**
 * Largest chunk that is copied into a block, in bytes. The object of a small chunk uses more memory than its content.
 */
const SMALL_CHUNK_BYTES = 4 * 1024;
/** Sizes of the first and the largest block. */
const MIN_BLOCK_BYTES = 256;
const MAX_BLOCK_BYTES = 64 * 1024;

/** A copy with its own memory. (`Buffer.allocUnsafe` would take a part of Node's shared pool for a small copy.) */
function compactCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/**
 * Joins chunks to one body. It uses at most about twice the memory of the added bytes, for chunks of any size. A chunk
 * must not change after it was added.
 */
export class GatheredBytes {
  /** The first chunk, while it is the only one: most bodies are one chunk, which needs no copy. */
  #only: Uint8Array | null = null;
  #chunks: Uint8Array[] | null = null;
  /** The block that small chunks are copied into, and how much of it is filled. */
  #block: Buffer | null = null;
  #filled = 0;
  #blockSize = MIN_BLOCK_BYTES;
  #size = 0;

  /** Bytes gathered so far. */
  get size(): number {
    return this.#size;
  }

  /** Number of objects that it holds, and the size of their memory. */
  get held(): { readonly objects: number; readonly bytes: number } {
    const all = [this.#only, ...(this.#chunks ?? []), this.#block].filter((one) => one !== null);
    return { objects: all.length, bytes: all.reduce((sum, { buffer }) => sum + buffer.byteLength, 0) };
  }

  add(chunk: Uint8Array): void {
    if (this.#size === 0) {
      this.#only = chunk;
      this.#size = chunk.length;
      return;
    }
    const chunks = this.#chunkList();
    if (chunk.length > SMALL_CHUNK_BYTES) {
      this.#closeBlock();
      chunks.push(chunk);
    } else this.#copy(chunk);
    this.#size += chunk.length;
  }

  /** The chunks as a list. */
  #chunkList(): Uint8Array[] {
    if (this.#chunks !== null) return this.#chunks;
    this.#chunks = this.#only === null ? [] : [this.#only];
    this.#only = null;
    return this.#chunks;
  }

  /** Copies all bytes to the start of `target`. */
  copyTo(target: Uint8Array): void {
    this.#closeBlock();
    let at = 0;
    for (const chunk of this.#chunkList()) {
      target.set(chunk, at);
      at += chunk.length;
    }
  }

  /** Returns all bytes as one array and releases them here. */
  take(): Uint8Array {
    this.#closeBlock();
    const whole = this.#only ?? Buffer.concat(this.#chunkList(), this.#size);
    this.drop();
    return whole;
  }

  /** Releases all bytes. */
  drop(): void {
    this.#only = null;
    this.#chunks = null;
    this.#block = null;
    this.#filled = 0;
    this.#size = 0;
  }

  #copy(chunk: Uint8Array): void {
    let from = 0;
    while (from < chunk.length) {
      const block = this.#openBlock();
      const part = chunk.subarray(from, from + block.length - this.#filled);
      block.set(part, this.#filled);
      this.#filled += part.length;
      from += part.length;
    }
  }

  /**
   * The current block, or a new one when there is none or it is full. The block after a full one has double its size,
   * up to `MAX_BLOCK_BYTES`. Any other new block has `MIN_BLOCK_BYTES`.
   */
  #openBlock(): Buffer {
    if (this.#block !== null && this.#filled < this.#block.length) return this.#block;
    this.#blockSize = this.#block === null ? MIN_BLOCK_BYTES : Math.min(this.#blockSize * 2, MAX_BLOCK_BYTES);
    this.#closeBlock();
    this.#block = Buffer.allocUnsafeSlow(this.#blockSize);
    return this.#block;
  }

  #closeBlock(): void {
    const block = this.#block;
    if (block === null) return;
    // An unfilled block would keep its whole memory, so its bytes are copied.
    this.#chunkList().push(this.#filled === block.length ? block : compactCopy(block.subarray(0, this.#filled)));
    this.#block = null;
    this.#filled = 0;
  }
}
