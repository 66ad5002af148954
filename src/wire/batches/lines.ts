import { inParallel } from '../../domain/in-parallel.ts';
import { isJsonObject } from '../../domain/json-object.ts';
import type { Form, FormPart } from '../../domain/inference/form.ts';
import { InvalidInput } from '../../domain/errors.ts';
import type { BatchLine } from '../../domain/upstream-objects/batch-calls.ts';
import type { LineEdit } from '../../domain/upstream-objects/pass-through.ts';
import { asBuffer, topLevelMembers, withMembers } from '../json/members.ts';
import { MAX_NESTING, nestsTooDeep } from '../json/nesting.ts';

const LF = 0x0a;
const CR = 0x0d;
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

/** A line with the byte range of its `body`. */
interface LineBody {
  readonly start: number;
  readonly end: number;
  readonly line: BatchLine;
}

/** Reads a line. Throws InvalidInput. */
function readLine(line: Line): LineBody {
  // Some upstreams also end a line there, so that they would read a request inside of the checked one.
  const carriageReturn = line.bytes.indexOf(CR);
  if (carriageReturn !== -1 && carriageReturn < line.bytes.length - 1)
    throw invalidLine(line, 'has a carriage return before its end');
  const value = parseLine(line.bytes.toString('utf8'));
  const body = isJsonObject(value) ? value['body'] : undefined;
  if (!isJsonObject(body)) throw invalidLine(line, 'is not a request: it must be a JSON object with a body');
  const { model } = body;
  if (typeof model !== 'string' || model === '') throw invalidLine(line, "has no model in its 'body'");
  const members = topLevelMembers(line.bytes)?.filter(({ key }) => key === 'body') ?? [];
  const [member] = members;
  if (member === undefined || members.length > 1) throw invalidLine(line, "has more than one 'body'");
  const url = isJsonObject(value) ? value['url'] : undefined;
  const bytes = line.bytes.subarray(member.valueStart, member.end);
  return {
    start: line.start + member.valueStart,
    end: line.start + member.end,
    line: { number: line.number, model, url: typeof url === 'string' ? url : '', body, bytes },
  };
}

/** Model of the first request of a batch file. Null when all lines are blank. Throws InvalidInput. */
export function firstModelOf(form: Form, file: FormPart): string | null {
  for (const line of linesOf(form, file)) return readLine(line).line.model;
  return null;
}

/** What is done with each line. */
interface LineTools {
  /** The upstream's name of a model. Called once for each model. */
  readonly rename: (model: string) => string;
  readonly count?: ((line: BatchLine) => void) | undefined;
  readonly edit?: LineEdit | undefined;
}

/** Maximum number of lines that are edited at the same time. */
const EDITS_AT_ONCE = 8;

/**
 * A batch file with renamed models and edited lines, as pieces to send in order. Unchanged bytes are not copied. Yields
 * to the event loop after each 256 KiB. Throws InvalidInput for an invalid line, and what the tools throw.
 */
export async function withEditedLines(
  form: Form,
  file: FormPart,
  { rename, count, edit }: LineTools,
): Promise<readonly Uint8Array[]> {
  const bytes = asBuffer(form.bytes);
  const pieces: Uint8Array[] = [];
  const names = new Map<string, string>();
  /** Offset in the form up to which `pieces` contains the file. */
  let copiedTo = file.bodyStart;
  let lastYield = file.bodyStart;
  let waiting: LineBody[] = [];

  function addLine({ start, end, line }: LineBody, edits: Readonly<Record<string, string>> | null): void {
    const body = bytes.subarray(start, end);
    const changed = withMembers(body, { ...edits, model: JSON.stringify(names.get(line.model)) });
    if (changed === body) return;
    pieces.push(bytes.subarray(copiedTo, start), changed);
    copiedTo = end;
  }

  async function addWaiting(): Promise<void> {
    const lines = waiting;
    waiting = [];
    const edits = edit === undefined ? [] : await inParallel(lines, EDITS_AT_ONCE, ({ line }) => edit(line));
    for (const [index, line] of lines.entries()) addLine(line, edits[index] ?? null);
  }

  for (const line of linesOf(form, file)) {
    const read = readLine(line);
    const { model, bytes: body } = read.line;
    // Texts of deeper values would not be found.
    if (edit !== undefined && nestsTooDeep(body)) throw invalidLine(line, `has more than ${MAX_NESTING} levels`);
    count?.(read.line);
    if (!names.has(model)) names.set(model, rename(model));
    waiting.push(read);
    if (edit === undefined || waiting.length === EDITS_AT_ONCE) await addWaiting();
    if (line.end - lastYield < YIELD_BYTES) continue;
    lastYield = line.end;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  await addWaiting();
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
