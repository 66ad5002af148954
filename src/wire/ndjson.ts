import { asBuffer } from './json/members.ts';
import { eventText, type Reframer } from './sse/reframed.ts';

const LF = 0x0a;
/** Most bytes one line may have before its stream counts as garbage. */
const LINE_LIMIT = 32 * 1024 * 1024;

/** Lines of JSON as server-sent events. */
export function createLineReframer(): Reframer {
  let held: Buffer[] = [];
  let heldBytes = 0;
  const writeLines = (lines: string, write: (event: string) => void): void =>
    lines
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .forEach((line) => write(eventText(line)));
  return {
    add(chunk, write) {
      const bytes = asBuffer(chunk);
      const last = bytes.lastIndexOf(LF);
      if (last === -1) {
        held.push(bytes);
        heldBytes += bytes.length;
        if (heldBytes > LINE_LIMIT) throw new RangeError(`a line has more than ${LINE_LIMIT} bytes`);
        return;
      }
      // Cut at line ends only: a character never spans two lines.
      const whole = Buffer.concat([...held, bytes.subarray(0, last)]).toString('utf8');
      held = [bytes.subarray(last + 1)];
      heldBytes = bytes.length - last - 1;
      writeLines(whole, write);
    },
    end: (write) => writeLines(Buffer.concat(held).toString('utf8'), write),
  };
}
