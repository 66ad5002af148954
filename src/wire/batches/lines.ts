import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { Form, FormPart } from '../../domain/inference/form.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { asBuffer, topLevelMembers, withMembers } from '../json/members.ts';

const LF = 0x0a;
/** Maximum bytes of one line. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Maximum bytes of a line that can be blank. Longer lines count as requests. */
const MAX_BLANK_LINE_BYTES = 64;
/** Bytes that are processed before control returns to the event loop. */
const YIELD_BYTES = 256 * 1024;

/** One line of a file in a form, without its line break. Offsets count from the start of the form. */
interface Line {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** Line number, from 1. */
  readonly number: number;
}

/** The lines of a file that are not blank. Throws InvalidInput for a line above the limit. */
function* linesOf(form: Form, { bodyStart, bodyEnd }: FormPart): Generator<Line> {
  const bytes = asBuffer(form.bytes);
  let number = 0;
  let start = bodyStart;
  while (start < bodyEnd) {
    const length = bytes.subarray(start, bodyEnd).indexOf(LF);
    const end = length === -1 ? bodyEnd : start + length;
    number += 1;
    const line = { bytes: bytes.subarray(start, end), start, end, number };
    if (end - start > MAX_LINE_BYTES) throw invalidLine(line, `has more than ${MAX_LINE_BYTES} bytes`);
    if (end - start > MAX_BLANK_LINE_BYTES || bytes.toString('latin1', start, end).trim() !== '') yield line;
    start = end + 1;
  }
}

/** The `body` of a line, with its byte range and its model. */
interface LineBody {
  readonly start: number;
  readonly end: number;
  readonly model: string;
  readonly body: JsonObject;
}

/** Reads a line. Throws InvalidInput. */
function readLine(line: Line): LineBody {
  const value = parseLine(line.bytes.toString('utf8'));
  const body = isJsonObject(value) ? value['body'] : undefined;
  if (!isJsonObject(body)) throw invalidLine(line, 'is not a request: it must be a JSON object with a body');
  const { model } = body;
  if (typeof model !== 'string' || model === '') throw invalidLine(line, "has no model in its 'body'");
  const members = topLevelMembers(line.bytes)?.filter(({ key }) => key === 'body') ?? [];
  const [member] = members;
  if (member === undefined || members.length > 1) throw invalidLine(line, "has more than one 'body'");
  return { start: line.start + member.valueStart, end: line.start + member.end, model, body };
}

/** Model of the first request of a batch file. Null when all lines are blank. Throws InvalidInput. */
export function firstModelOf(form: Form, file: FormPart): string | null {
  for (const line of linesOf(form, file)) return readLine(line).model;
  return null;
}

/**
 * A batch file with renamed models, as pieces to send in order. Unchanged bytes are not copied. Calls `rename` once for
 * each model, and `onLine` for each line with its model, the size of its `body` in bytes, and its `body`. Yields to the
 * event loop after each 256 KiB. Throws InvalidInput for an invalid line, and what `rename` and `onLine` throw.
 */
export async function withRenamedModels(
  form: Form,
  file: FormPart,
  rename: (model: string) => string,
  onLine: (model: string, bodyBytes: number, body: JsonObject) => void = () => {},
): Promise<readonly Uint8Array[]> {
  const bytes = asBuffer(form.bytes);
  const pieces: Uint8Array[] = [];
  const names = new Map<string, string>();
  /** Offset in the form up to which `pieces` contains the file. */
  let copiedTo = file.bodyStart;
  let lastYield = file.bodyStart;
  for (const line of linesOf(form, file)) {
    const { start, end, model, body: request } = readLine(line);
    onLine(model, end - start, request);
    let name = names.get(model);
    if (name === undefined) {
      name = rename(model);
      names.set(model, name);
    }
    const body = bytes.subarray(start, end);
    const renamed = withMembers(body, { model: JSON.stringify(name) });
    if (renamed !== body) {
      pieces.push(bytes.subarray(copiedTo, start), renamed);
      copiedTo = end;
    }
    if (line.end - lastYield < YIELD_BYTES) continue;
    lastYield = line.end;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  pieces.push(bytes.subarray(copiedTo, file.bodyEnd));
  return pieces;
}

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function invalidLine({ number }: Pick<Line, 'number'>, fault: string): InvalidInput {
  const message = `/files: Line ${number} of the file ${fault}.`;
  return new InvalidInput(message, [{ path: ['body', 'file'], rule: 'batch_line', message }]);
}
