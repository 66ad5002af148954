import { isJsonObject, type JsonObject } from '../json-object.ts';
import { type CatalogChange, type ChangeOp, isStorableName } from './changes.ts';

/** The change in a line of an imported history; or why the line cannot be read, as a text that may be shown. */
export type ReadLine = { readonly change: CatalogChange } | { readonly fault: string };

const OPS: ReadonlySet<unknown> = new Set<ChangeOp>(['added', 'removed', 'changed']);
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const MAX_NESTING = 16;

/** Why a value cannot be stored unchanged; null when it can. */
function valueFault(value: unknown, nesting = MAX_NESTING): string | null {
  // JSON has no infinity, but its numbers may be too large for a double.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'contains a number that is too large';
  if (typeof value !== 'object' || value === null) return null;
  if (nesting === 0) return `is nested more than ${MAX_NESTING} levels deep`;
  for (const inner of Object.values(value)) {
    const fault = valueFault(inner, nesting - 1);
    if (fault !== null) return fault;
  }
  return null;
}

function instantOf(text: unknown): Date | null {
  if (typeof text !== 'string' || !INSTANT.test(text)) return null;
  const at = new Date(text);
  // `Date` reads a 30th of February as a day of March.
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text.slice(0, 19)) ? at : null;
}

function faultOf(line: JsonObject, at: Date, now: Date): string | null {
  const { id, op, field, provider } = line;
  const values = { old: line['old'], new: line['new'] };
  if (at > now) return '`at` is in the future';
  if (typeof id !== 'string' || !isStorableName(id)) return '`id` is not a text of 1 to 512 characters';
  if (!OPS.has(op)) return '`op` is not one of added, removed, changed';
  if (provider !== undefined && provider !== null && typeof provider !== 'string') return '`provider` is not a text';
  if (op === 'changed') {
    if (typeof field !== 'string' || !isStorableName(field)) return '`field` is not a field name';
    if (values.old === undefined || values.new === undefined) return '`old` or `new` is missing';
  } else {
    if (field !== undefined && field !== null) return `\`field\` is not allowed with ${String(op)}`;
    for (const [name, fields] of Object.entries(values))
      if (fields !== undefined && fields !== null && !isJsonObject(fields))
        return `\`${name}\` is not an object of fields`;
  }
  for (const [name, value] of Object.entries(values)) {
    const fault = valueFault(value);
    if (fault !== null) return `\`${name}\` ${fault}`;
  }
  return null;
}

/** Reads a line such as `{"at":"2026-07-24T10:15:30Z","id":"m","op":"changed","field":"rpm","old":1,"new":2}`. */
export function readChangeLine(text: string, now: Date): ReadLine {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return { fault: 'the line is not valid JSON' };
  }
  if (!isJsonObject(line)) return { fault: 'the line is not a JSON object' };
  const at = instantOf(line['at']);
  if (at === null) return { fault: '`at` is not an instant in UTC such as 2026-07-24T10:15:30Z' };
  const fault = faultOf(line, at, now);
  if (fault !== null) return { fault };
  const field = typeof line['field'] === 'string' ? line['field'] : null;
  return {
    change: {
      at,
      notBefore: null,
      entryId: String(line['id']),
      provider: typeof line['provider'] === 'string' ? line['provider'] : null,
      op: line['op'] as ChangeOp,
      // The price map has another name for this field.
      field: field === 'litellm_provider' ? 'provider' : field,
      old: line['old'] ?? null,
      new: line['new'] ?? null,
      snapshotId: null,
    },
  };
}
