import { isJsonObject } from '../../domain/json-object.ts';
import type { Form, FormPart } from '../../domain/inference/form.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { asBuffer, topLevelMembers, withMembers } from '../json/members.ts';

const LF = 0x0a;
/** Most bytes of one line. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Lines with more bytes are not tested for being blank. */
const BLANK_BYTES = 64;
/** Bytes that are processed before control returns to the event loop. */
const YIELD_BYTES = 256 * 1024;

/** One line of a file in a form, without its line break. Offsets are those of the form. */
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
  for (let start = bodyStart; start < bodyEnd;) {
    const found = bytes.subarray(start, bodyEnd).indexOf(LF);
    const end = found === -1 ? bodyEnd : start + found;
    number += 1;
    const line = { bytes: bytes.subarray(start, end), start, end, number };
    if (end - start > MAX_LINE_BYTES) throw faulty(line, `has more than ${MAX_LINE_BYTES} bytes`);
    if (end - start > BLANK_BYTES || bytes.toString('latin1', start, end).trim() !== '') yield line;
    start = end + 1;
  }
}

/** Position of the `body` of a line, in bytes, and the model in it. Throws InvalidInput. */
function callOf(line: Line): { readonly start: number; readonly end: number; readonly model: string } {
  const value = parsed(line.bytes.toString('utf8'));
  const body = isJsonObject(value) ? value['body'] : undefined;
  if (!isJsonObject(body)) throw faulty(line, 'is not a request: it must be a JSON object with a body');
  const { model } = body;
  if (typeof model !== 'string' || model === '') throw faulty(line, "has no model in its 'body'");
  const members = topLevelMembers(line.bytes)?.filter(({ key }) => key === 'body') ?? [];
  const [member] = members;
  if (member === undefined || members.length > 1) throw faulty(line, "has more than one 'body'");
  return { start: line.start + member.valueStart, end: line.start + member.end, model };
}

/** Model of the first line of a batch file. Null when the file has no lines. Throws InvalidInput. */
export function firstModelOf(form: Form, file: FormPart): string | null {
  for (const line of linesOf(form, file)) return callOf(line).model;
  return null;
}

/**
 * A batch file with renamed models, as pieces to send in order. Unchanged bytes are not copied. `rename` is called once
 * for each model, `count` for each line. Yields to the event loop while it works. Throws InvalidInput for an invalid line, and what `rename`
 * throws.
 */
export async function withModels(
  form: Form,
  file: FormPart,
  rename: (model: string) => string,
  count: (model: string, bytes: number) => void = () => {},
): Promise<readonly Uint8Array[]> {
  const bytes = asBuffer(form.bytes);
  const pieces: Uint8Array[] = [];
  const names = new Map<string, string>();
  let copiedTo = file.bodyStart;
  let lastYield = file.bodyStart;
  for (const line of linesOf(form, file)) {
    const { start, end, model } = callOf(line);
    count(model, end - start);
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function faulty({ number }: Pick<Line, 'number'>, fault: string): InvalidInput {
  const message = `/files: Line ${number} of the file ${fault}.`;
  return new InvalidInput(message, [{ path: ['body', 'file'], rule: 'batch_line', message }]);
}
