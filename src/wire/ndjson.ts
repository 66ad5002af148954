import { asBuffer } from './json/members.ts';
import { eventText, type Reframer } from './sse/reframed.ts';

const LF = 0x0a;
/** Maximum buffered bytes of an incomplete line. A longer one is a framing error. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** Converts newline-delimited JSON to server-sent events. Blank lines are ignored. */
export function createLineReframer(): Reframer {
  let buffered: Buffer[] = [];
  let bufferedBytes = 0;
  const writeLines = (lines: string, write: (event: string) => void): void =>
    lines
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .forEach((line) => write(eventText(line)));
  return {
    add(chunk, write) {
      const bytes = asBuffer(chunk);
      const lastBreak = bytes.lastIndexOf(LF);
      if (lastBreak === -1) {
        buffered.push(bytes);
        bufferedBytes += bytes.length;
        if (bufferedBytes > MAX_LINE_BYTES) throw new RangeError(`a line has more than ${MAX_LINE_BYTES} bytes`);
        return;
      }
      // Only complete lines are decoded, so that no UTF-8 sequence is cut.
      const completeLines = Buffer.concat([...buffered, bytes.subarray(0, lastBreak)]).toString('utf8');
      buffered = [bytes.subarray(lastBreak + 1)];
      bufferedBytes = bytes.length - lastBreak - 1;
      writeLines(completeLines, write);
    },
    end: (write) => writeLines(Buffer.concat(buffered).toString('utf8'), write),
  };
}
