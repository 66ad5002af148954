/** Two texts that stand behind one another, and stay as they are. */
export interface SlabPlace {
  readonly slab: Buffer;
  readonly start: number;
  /** Where the first ends and the second begins. */
  readonly middle: number;
  readonly end: number;
}

const SLAB_BYTES = 1 << 18;
/** A UTF-16 unit is at most this many bytes of UTF-8. */
const MOST_BYTES_PER_UNIT = 3;

/**
 * Writes texts behind one another into large pieces of memory, each of which goes with the last of its places. Texts
 * that wait for some time are moved about by the collector again and again; bytes outside of its heap are not.
 */
export function createTextSlabs(): (first: string, second: string) => SlabPlace {
  let slab = Buffer.alloc(0);
  let used = 0;
  return (first, second) => {
    const most = (first.length + second.length) * MOST_BYTES_PER_UNIT;
    if (used + most > slab.length) {
      slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, most));
      used = 0;
    }
    const start = used;
    const middle = start + slab.write(first, start);
    used = middle + slab.write(second, middle);
    return { slab, start, middle, end: used };
  };
}
