/** A box, its name and head left out. */
interface Box {
  readonly name: string;
  readonly body: Buffer;
}

/** Most boxes beside each other that are looked at. */
const MOST_BOXES = 1_000;

/** The boxes that lie one behind the other; ends before one that is not all there. */
function* boxesIn(bytes: Buffer): Generator<Box> {
  for (let at = 0, count = 0; count < MOST_BOXES && at + 8 <= bytes.length; count += 1) {
    const short = bytes.readUInt32BE(at);
    if (short === 1 && at + 16 > bytes.length) return;
    const head = short === 1 ? 16 : 8;
    const size = short === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : short === 0 ? bytes.length - at : short;
    if (size < head || at + size > bytes.length) return;
    yield { name: bytes.toString('latin1', at + 4, at + 8), body: bytes.subarray(at + head, at + size) };
    at += size;
  }
}

const boxesOf = (bytes: Buffer, name: string): readonly Buffer[] =>
  [...boxesIn(bytes)].flatMap((box) => (box.name === name ? [box.body] : []));

/** What is played of the one track with sound; null where there are several, or the file is in fragments. */
export function mp4Seconds(bytes: Buffer): number | null {
  const [movie] = boxesOf(bytes, 'moov');
  const [head] = movie === undefined ? [] : boxesOf(movie, 'mvhd');
  if (movie === undefined || head === undefined || boxesOf(movie, 'mvex').length > 0) return null;
  const [track, another] = boxesOf(movie, 'trak').filter(isSound);
  const [trackHead] = track === undefined || another !== undefined ? [] : boxesOf(track, 'tkhd');
  const [unit, length] = [unitOf(head), trackHead === undefined ? null : lengthOf(trackHead)];
  return unit === null || length === null ? null : length / unit;
}

function isSound(track: Buffer): boolean {
  const [media] = boxesOf(track, 'mdia');
  const [handler] = media === undefined ? [] : boxesOf(media, 'hdlr');
  return handler?.toString('latin1', 8, 12) === 'soun';
}

/** Parts of a second in which the movie counts. */
function unitOf(head: Buffer): number | null {
  const at = head[0] === 1 ? 20 : 12;
  return head.length < at + 4 ? null : head.readUInt32BE(at) || null;
}

/** All bits set say that it is not known. */
function lengthOf(head: Buffer): number | null {
  if (head[0] === 1) {
    const length = head.length < 36 ? 0n : head.readBigUInt64BE(28);
    return length === 0n || length > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(length);
  }
  const length = head.length < 24 ? 0 : head.readUInt32BE(20);
  return length === 0 || length === 0xff_ff_ff_ff ? null : length;
}
