/** One box. `body` excludes its size and name. */
interface Box {
  readonly name: string;
  readonly body: Buffer;
}

/** Maximum number of boxes of one level that are read. */
const MAX_BOXES = 1_000;

/** Boxes of one level, in order. Stops before a truncated box. */
function* boxesIn(bytes: Buffer): Generator<Box> {
  for (let at = 0, count = 0; count < MAX_BOXES && at + 8 <= bytes.length; count += 1) {
    // 1 means that a 64-bit size follows the name, 0 that the box extends to the end.
    const sizeField = bytes.readUInt32BE(at);
    if (sizeField === 1 && at + 16 > bytes.length) return;
    const head = sizeField === 1 ? 16 : 8;
    const size =
      sizeField === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : sizeField === 0 ? bytes.length - at : sizeField;
    if (size < head || at + size > bytes.length) return;
    yield { name: bytes.toString('latin1', at + 4, at + 8), body: bytes.subarray(at + head, at + size) };
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
  const [head] = movie === undefined ? [] : boxesOf(movie, 'mvhd');
  if (movie === undefined || head === undefined || boxesOf(movie, 'mvex').length > 0) return null;
  const [track, another] = boxesOf(movie, 'trak').filter(isSound);
  const [trackHead] = track === undefined || another !== undefined ? [] : boxesOf(track, 'tkhd');
  const [unitsPerSecond, length] = [timescaleOf(head), trackHead === undefined ? null : durationOf(trackHead)];
  return unitsPerSecond === null || length === null ? null : length / unitsPerSecond;
}

function isSound(track: Buffer): boolean {
  const [media] = boxesOf(track, 'mdia');
  const [handler] = media === undefined ? [] : boxesOf(media, 'hdlr');
  return handler?.toString('latin1', 8, 12) === 'soun';
}

/** Time units per second of the movie. Null when missing. Boxes of version 1 (the first byte) have 64-bit times. */
function timescaleOf(head: Buffer): number | null {
  const at = head[0] === 1 ? 20 : 12;
  return head.length < at + 4 ? null : head.readUInt32BE(at) || null;
}

/** Duration of a track in time units. Null when unknown: all bits are set, or zero. */
function durationOf(head: Buffer): number | null {
  if (head[0] === 1) {
    const length = head.length < 36 ? 0n : head.readBigUInt64BE(28);
    return length === 0n || length > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(length);
  }
  const length = head.length < 24 ? 0 : head.readUInt32BE(20);
  return length === 0 || length === 0xff_ff_ff_ff ? null : length;
}
