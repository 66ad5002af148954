/** One box. `body` excludes its size and name. */
interface Box {
  readonly name: string;
  readonly body: Buffer;
}

/** Maximum number of boxes of one level that are read. */
const MAX_BOXES = 1_000;
/** Size and name of a box. */
const HEADER_BYTES = 8;
/** Size, name and 64-bit size of a box. */
const LONG_HEADER_BYTES = 16;
/** Value of the size field when a 64-bit size follows the name. */
const LONG_SIZE = 1;
/** Value of the size field when the box extends to the end. */
const SIZE_TO_END = 0;

/** Boxes of one level, in order. Stops before a truncated box. */
function* boxesIn(bytes: Buffer): Generator<Box> {
  let at = 0;
  for (let count = 0; count < MAX_BOXES && at + HEADER_BYTES <= bytes.length; count += 1) {
    const sizeField = bytes.readUInt32BE(at);
    const hasLongSize = sizeField === LONG_SIZE;
    const headerBytes = hasLongSize ? LONG_HEADER_BYTES : HEADER_BYTES;
    if (at + headerBytes > bytes.length) return;
    const shortSize = sizeField === SIZE_TO_END ? bytes.length - at : sizeField;
    const size = hasLongSize ? Number(bytes.readBigUInt64BE(at + HEADER_BYTES)) : shortSize;
    if (size < headerBytes || at + size > bytes.length) return;
    yield { name: bytes.toString('latin1', at + 4, at + 8), body: bytes.subarray(at + headerBytes, at + size) };
    at += size;
  }
}

const boxesOf = (bytes: Buffer, name: string): readonly Buffer[] =>
  [...boxesIn(bytes)].flatMap((box) => (box.name === name ? [box.body] : []));

/**
 * Duration in seconds of the only audio track. Null for no or several audio tracks, an unknown duration or a fragmented
 * file.
 */
export function mp4Seconds(bytes: Buffer): number | null {
  const [movie] = boxesOf(bytes, 'moov');
  if (movie === undefined) return null;
  const [movieHead] = boxesOf(movie, 'mvhd');
  const isFragmented = boxesOf(movie, 'mvex').length > 0;
  if (movieHead === undefined || isFragmented) return null;
  const [track, another] = boxesOf(movie, 'trak').filter(isSound);
  if (track === undefined || another !== undefined) return null;
  const [trackHead] = boxesOf(track, 'tkhd');
  const unitsPerSecond = timescaleOf(movieHead);
  const length = trackHead === undefined ? null : durationOf(trackHead);
  return unitsPerSecond === null || length === null ? null : length / unitsPerSecond;
}

function isSound(track: Buffer): boolean {
  const [media] = boxesOf(track, 'mdia');
  const [handler] = media === undefined ? [] : boxesOf(media, 'hdlr');
  const handlerType = handler?.toString('latin1', 8, 12);
  return handlerType === 'soun';
}

/** Whether a box has 64-bit times: its first byte is the version 1. Times of version 0 have 32 bits. */
const hasLongTimes = (head: Buffer): boolean => head[0] === 1;

/** Time units per second of the movie. Null when missing. */
function timescaleOf(head: Buffer): number | null {
  const at = hasLongTimes(head) ? 20 : 12;
  return head.length < at + 4 ? null : head.readUInt32BE(at) || null;
}

/** Duration of a track in time units. Null when unknown: all bits are set, or zero. */
function durationOf(head: Buffer): number | null {
  if (hasLongTimes(head)) {
    const length = head.length < 36 ? 0n : head.readBigUInt64BE(28);
    return length === 0n || length > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(length);
  }
  const length = head.length < 24 ? 0 : head.readUInt32BE(20);
  return length === 0 || length === 0xff_ff_ff_ff ? null : length;
}
