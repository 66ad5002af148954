/** A stretch of bytes that was written and stays as it is. */
export interface Slice {
  readonly slab: Buffer;
  readonly start: number;
  readonly end: number;
}

const SLAB_BYTES = 1 << 18;
/** A UTF-16 unit is at most this many bytes of UTF-8. */
const MOST_BYTES_PER_UNIT = 3;

/**
 * Writes texts behind one another into large pieces of memory, each of which goes with the last of its slices. Texts
 * that wait for some time are moved about by the collector again and again; bytes outside of its heap are not.
 */
export function createTextSlabs(): (text: string) => Slice {
  let slab = Buffer.alloc(0);
  let used = 0;
  return (text) => {
    if (used + text.length * MOST_BYTES_PER_UNIT > slab.length) {
      slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, text.length * MOST_BYTES_PER_UNIT));
      used = 0;
    }
    const start = used;
    used += slab.write(text, start);
    return { slab, start, end: used };
  };
}
