import { asBuffer, startsWith } from '../json/members.ts';

const LF = 0x0a;
const CR = 0x0d;
/** Maximum buffered bytes of an incomplete event. A larger event is a framing error. */
const EVENT_LIMIT = 32 * 1024 * 1024;

const DATA_FIELD = Buffer.from('data:');
const SPACE = 0x20;
const DATA_LINE = Buffer.from('data: ');
const BLANK_LINE = Buffer.from('\n\n');

/** A blank line is LF or CR LF. */
const MAX_BLANK_LINE_BYTES = 2;

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Buffers a byte stream until events are complete. Chunks may have any size. */
export interface EventBuffer {
  /** Bytes of all events that this chunk completes. Null when it completes none. Throws RangeError above the limit. */
  add(chunk: Uint8Array): Buffer | null;
  /** Remaining bytes at the end of the stream, without a closing blank line. Null when there are none. */
  rest(): Buffer | null;
}

/** Creates a buffer for one stream. `limit` is the maximum buffered bytes of an incomplete event. */
export function createEventBuffer(limit = EVENT_LIMIT): EventBuffer {
  let buffered: Buffer[] = [];
  let bufferedBytes = 0;
  const normaliseLineEnds = createLineEndNormaliser();
  return {
    add(chunk) {
      const bytes = normaliseLineEnds(asBuffer(chunk));
      // Chunks are joined only when an event may end here, so that a long event is not copied for each chunk.
      const hasLineEnd = bytes[bytes.length - 1] === LF || bytes.indexOf(LF) !== -1;
      if (!hasLineEnd) {
        bufferedBytes += bytes.length;
        if (bufferedBytes > limit) throw new RangeError(`an event of its stream has more than ${limit} bytes`);
        buffered.push(bytes);
        return null;
      }
      const joined = buffered.length === 0 ? bytes : Buffer.concat([...buffered, bytes]);
      const end = endOfLastEvent(joined);
      buffered = end < joined.length ? [joined.subarray(end)] : [];
      bufferedBytes = joined.length - end;
      if (bufferedBytes > limit) throw new RangeError(`an event of its stream has more than ${limit} bytes`);
      if (end === joined.length) return joined;
      return end === 0 ? null : joined.subarray(0, end);
    },
    rest() {
      const rest = bufferedBytes === 0 ? null : Buffer.concat(buffered);
      buffered = [];
      bufferedBytes = 0;
      return rest;
    },
  };
}

/**
 * Creates a function for the chunks of one stream. It removes a byte order mark at the start, and replaces each CR
 * without LF with LF. Chunks that need no change are returned without a copy.
 */
function createLineEndNormaliser(): (bytes: Buffer) => Buffer {
  /** First bytes of the stream while they may be a byte order mark. Null afterwards. */
  let start: Buffer | null = Buffer.alloc(0);
  /** Whether the previous chunk ends in CR. An LF at the start of the next chunk belongs to the same line end. */
  let endedInCr = false;
  return (chunk) => {
    let bytes = chunk;
    if (start !== null) {
      if (start.length > 0) bytes = Buffer.concat([start, bytes]);
      const mayBecomeMark = bytes.length < BYTE_ORDER_MARK.length && startsWith(BYTE_ORDER_MARK, bytes);
      start = mayBecomeMark ? bytes : null;
      if (mayBecomeMark) return Buffer.alloc(0);
      if (startsWith(bytes, BYTE_ORDER_MARK)) bytes = bytes.subarray(BYTE_ORDER_MARK.length);
    }
    if (endedInCr && bytes.length > 0) {
      endedInCr = false;
      if (bytes[0] === LF) bytes = bytes.subarray(1);
    }
    let copy: Buffer | null = null;
    for (let cr = bytes.indexOf(CR); cr !== -1; cr = bytes.indexOf(CR, cr + 1)) {
      if (bytes[cr + 1] === LF) continue;
      copy ??= Buffer.from(bytes);
      copy[cr] = LF;
      if (cr === bytes.length - 1) endedInCr = true;
    }
    return copy ?? bytes;
  };
}

/** Offset after the last blank line. 0 when there is none. Lines end with LF or CR LF. */
function endOfLastEvent(bytes: Buffer): number {
  const { length } = bytes;
  // Most chunks end with an event. This needs no search.
  if (bytes[length - 1] === LF && bytes[length - 2] === LF) return length;
  for (let lf = bytes.lastIndexOf(LF); lf > 0; lf = bytes.lastIndexOf(LF, lf - 1)) {
    if (bytes[lf - 1] === LF || (bytes[lf - 1] === CR && bytes[lf - 2] === LF)) return lf + 1;
  }
  return 0;
}

/** Offset after the event that begins at `from`. The end of the bytes when no blank line follows. */
export function endOfEvent(bytes: Buffer, from: number): number {
  for (let lf = bytes.indexOf(LF, from); lf !== -1; lf = bytes.indexOf(LF, lf + 1)) {
    if (bytes[lf + 1] === LF) return lf + 2;
    if (bytes[lf + 1] === CR && bytes[lf + 2] === LF) return lf + 3;
  }
  return bytes.length;
}

/** Data of one event, its lines joined with LF. Null for a comment and for an event without data. */
export function dataOf(event: Buffer): Buffer | null {
  if (startsWith(event, DATA_FIELD)) {
    const lf = event.indexOf(LF);
    const begin = event[DATA_FIELD.length] === SPACE ? DATA_FIELD.length + 1 : DATA_FIELD.length;
    if (lf === -1) return event.subarray(begin);
    const bytesAfterLine = event.length - (lf + 1);
    const hasOneLine = bytesAfterLine <= MAX_BLANK_LINE_BYTES;
    if (hasOneLine) return event.subarray(begin, event[lf - 1] === CR ? lf - 1 : lf);
  }
  const lines = event
    .toString('utf8')
    .split(/\r\n|\n/)
    .filter((line) => line === 'data' || line.startsWith('data:'))
    .map((line) => line.slice(DATA_FIELD.length).replace(/^ /, ''));
  return lines.length === 0 ? null : Buffer.from(lines.join('\n'));
}

const NAME_FIELD = Buffer.from('event:');

/** Name of one event. Null when it has none. */
export function nameOf(event: Buffer): string | null {
  if (!event.includes(NAME_FIELD)) return null;
  const line = event
    .toString('utf8')
    .split(/\r\n|\n/)
    .find((one) => one.startsWith('event:'));
  return line === undefined ? null : line.slice(NAME_FIELD.length).trim();
}

/** An event with this data, with one `data` field for each line. */
export function eventOf(data: Uint8Array | string): Buffer {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  if (bytes.indexOf(LF) === -1) return Buffer.concat([DATA_LINE, bytes, BLANK_LINE]);
  const lines = asBuffer(bytes).toString('utf8').split('\n');
  return Buffer.from(`${lines.map((line) => `data: ${line}\n`).join('')}\n`);
}

/** The event with its data replaced. All other fields stay. */
export function withData(event: Buffer, data: Uint8Array): Buffer {
  const otherFields = event
    .toString('utf8')
    .split(/\r\n|\n/)
    .filter((line) => line !== '' && line !== 'data' && !line.startsWith('data:'))
    .map((line) => `${line}\n`)
    .join('');
  return otherFields === '' ? eventOf(data) : Buffer.concat([Buffer.from(otherFields), eventOf(data)]);
}
