import { type CatalogChange, type ChangeOp, isKeptName } from './changes.ts';

/** What a line of an imported history says, or what is wrong with it as a text fit to show. */
export type ReadLine = { readonly change: CatalogChange } | { readonly fault: string };

const OPS: ReadonlySet<unknown> = new Set<ChangeOp>(['added', 'removed', 'changed']);
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const MOST_NESTING = 16;

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Null when a value can be kept as it is. */
function valueFault(value: unknown, nesting = MOST_NESTING): string | null {
  // JSON has no infinity, but its numbers may be too large for a double.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'holds a number that is too large';
  if (typeof value !== 'object' || value === null) return null;
  if (nesting === 0) return `nests deeper than ${MOST_NESTING}`;
  for (const inner of Object.values(value)) {
    const fault = valueFault(inner, nesting - 1);
    if (fault !== null) return fault;
  }
  return null;
}

function instantOf(text: unknown): Date | null {
  if (typeof text !== 'string' || !INSTANT.test(text)) return null;
  const at = new Date(text);
  // A 30th of February would become a day of March.
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text.slice(0, 19)) ? at : null;
}

function faultOf(line: Json, at: Date | null, now: Date): string | null {
  const { id, op, field, provider, old, new: since } = line;
  if (at === null) return '`at` is no instant in UTC such as 2026-07-24T10:15:30Z';
  if (at > now) return '`at` is in the future';
  if (typeof id !== 'string' || !isKeptName(id)) return '`id` is no id: text of 1 to 512 characters';
  if (!OPS.has(op)) return '`op` is none of added, removed, changed';
  if (provider !== undefined && provider !== null && typeof provider !== 'string') return '`provider` is no text';
  if (op !== 'changed') {
    if (field !== undefined && field !== null) return `\`field\` stands beside ${String(op)}`;
    for (const [name, noted] of Object.entries({ old, new: since }))
      if (noted !== undefined && noted !== null && !isObject(noted)) return `\`${name}\` holds no fields`;
  } else {
    if (typeof field !== 'string' || !isKeptName(field)) return '`field` names no field';
    if (old === undefined || since === undefined) return '`old` or `new` is missing';
  }
  for (const [name, value] of Object.entries({ old, new: since })) {
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
    return { fault: 'this is no JSON' };
  }
  if (!isObject(line)) return { fault: 'this is no JSON object' };
  const at = instantOf(line['at']);
  const fault = faultOf(line, at, now);
  if (fault !== null || at === null) return { fault: fault ?? '' };
  const field = typeof line['field'] === 'string' ? line['field'] : null;
  return {
    change: {
      at,
      notBefore: null,
      entryId: String(line['id']),
      provider: typeof line['provider'] === 'string' ? line['provider'] : null,
      op: line['op'] as ChangeOp,
      // The one field that the price map calls by another name than we do.
      field: field === 'litellm_provider' ? 'provider' : field,
      old: line['old'] ?? null,
      new: line['new'] ?? null,
      snapshotId: null,
    },
  };
}
