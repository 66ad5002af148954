/** A text as bytes that stay as they are. */
export interface SlabPlace {
  readonly slab: Buffer;
  readonly start: number;
  readonly end: number;
}

const SLAB_BYTES = 1 << 18;
/** A UTF-16 unit is at most this many bytes of UTF-8. */
const MOST_BYTES_PER_UNIT = 3;

/**
 * Writes texts behind one another into large pieces of memory, each of which goes with the last of its places. Texts
 * that wait for some time are moved about by the collector again and again; bytes outside of its heap are not.
 */
export function createTextSlabs(): (text: string) => SlabPlace {
  let slab = Buffer.alloc(0);
  let used = 0;
  return (text) => {
    const most = text.length * MOST_BYTES_PER_UNIT;
    if (used + most > slab.length) {
      slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, most));
      used = 0;
    }
    const start = used;
    used += slab.write(text, start);
    return { slab, start, end: used };
  };
}

/** The text that was written there. */
export const textAt = ({ slab, start, end }: SlabPlace): string => slab.toString('utf8', start, end);

/** The same bytes in as few pieces as can be: places that follow one another are one. */
export function joined(places: Iterable<SlabPlace>): readonly SlabPlace[] {
  const pieces: SlabPlace[] = [];
  let open: { readonly slab: Buffer; readonly start: number; end: number } | null = null;
  for (const { slab, start, end } of places) {
    if (open !== null && open.slab === slab && open.end === start) open.end = end;
    else pieces.push((open = { slab, start, end }));
  }
  return pieces;
}
