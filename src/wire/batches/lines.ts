import type { Form, FormPart } from '../../domain/inference/form.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { asBuffer, topLevelMembers, withMembers } from '../json/members.ts';

const LF = 0x0a;
/** Most bytes of one line. */
const MOST_LINE_BYTES = 16 * 1024 * 1024;
/** A line of more bytes is never taken for a blank one. */
const BLANK_BYTES = 64;
/** Bytes worked through before others get a turn. */
const TURN_BYTES = 256 * 1024;

/** Where a line of a file stands in its form, without its line break, and its number from 1. */
interface Line {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly number: number;
}

/** The lines of a file that are not blank, one at a time. */
function* linesOf(form: Form, { bodyStart, bodyEnd }: FormPart): Generator<Line> {
  const bytes = asBuffer(form.bytes);
  let number = 0;
  for (let start = bodyStart; start < bodyEnd;) {
    const found = bytes.subarray(start, bodyEnd).indexOf(LF);
    const end = found === -1 ? bodyEnd : start + found;
    number += 1;
    const line = { bytes: bytes.subarray(start, end), start, end, number };
    if (end - start > MOST_LINE_BYTES) throw faulty(line, `has more than ${MOST_LINE_BYTES} bytes`);
    if (end - start > BLANK_BYTES || bytes.toString('latin1', start, end).trim() !== '') yield line;
    start = end + 1;
  }
}

/** The call a line asks for: where its `body` stands in it, and the model that names. Throws InvalidInput. */
function callOf(line: Line): { readonly start: number; readonly end: number; readonly model: string } {
  const value = parsed(line.bytes.toString('utf8'));
  const body = isObject(value) ? value['body'] : undefined;
  if (!isObject(body)) throw faulty(line, 'is no call: it must be a JSON object with a body');
  const { model } = body;
  if (typeof model !== 'string' || model === '') throw faulty(line, "names no model in its 'body'");
  const members = topLevelMembers(line.bytes)?.filter(({ key }) => key === 'body') ?? [];
  const [member] = members;
  if (member === undefined || members.length > 1) throw faulty(line, "has more than one 'body'");
  return { start: line.start + member.valueStart, end: line.start + member.end, model };
}

/** The model of the first line of a file for batches; null when the file has none. Throws InvalidInput. */
export function firstModelOf(form: Form, file: FormPart): string | null {
  for (const line of linesOf(form, file)) return callOf(line).model;
  return null;
}

/**
 * A file for batches with its models renamed, as pieces to be sent one after the other; what is not renamed is not
 * copied. Throws InvalidInput for a line that is no call, and whatever `rename` throws. Gives others a turn between.
 */
export async function withModels(
  form: Form,
  file: FormPart,
  rename: (model: string) => string,
): Promise<readonly Uint8Array[]> {
  const bytes = asBuffer(form.bytes);
  const pieces: Uint8Array[] = [];
  const names = new Map<string, string>();
  let kept = file.bodyStart;
  let turn = file.bodyStart;
  for (const line of linesOf(form, file)) {
    const { start, end, model } = callOf(line);
    let name = names.get(model);
    if (name === undefined) {
      name = rename(model);
      names.set(model, name);
    }
    const body = bytes.subarray(start, end);
    const renamed = withMembers(body, { model: JSON.stringify(name) });
    if (renamed !== body) {
      pieces.push(bytes.subarray(kept, start), renamed);
      kept = end;
    }
    if (line.end - turn < TURN_BYTES) continue;
    turn = line.end;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  pieces.push(bytes.subarray(kept, file.bodyEnd));
  return pieces;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
