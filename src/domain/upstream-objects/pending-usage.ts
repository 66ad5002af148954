import { isJsonObject, jsonObjectOf } from '../json-object.ts';
import { countOrNull } from './batch-use.ts';
import { MISSING_MEMBERS } from './missing-object.ts';
import type { ObjectKind, ShownObject } from './upstream-object.ts';

/** Time for which the usage of an ended run is read again when its upstream does not report it, in ms. */
export const USAGE_WAIT_MS = 86_400_000;
/** Time in ms for which such a run cannot be deleted. */
export const DELETION_WAIT_MS = 3_600_000;

/**
 * Member of the stored state of a run that has ended without a reported usage. It is the Unix time in seconds at which
 * the end was first seen. Callers do not see it.
 */
const ENDED_AT = 'lensgate_ended_at';

/** Unix time in ms at which a run was first seen ended without a usage; null for other states. */
export function pendingSinceMs(shown: ShownObject | null): number | null {
  const seconds = countOrNull(shown?.[ENDED_AT]);
  return seconds === null ? null : seconds * 1_000;
}

/** A state to store, whose usage is pending since a Unix time in ms. */
export const withPendingUsage = (shown: ShownObject, sinceMs: number): ShownObject => ({
  ...shown,
  [ENDED_AT]: Math.floor(sinceMs / 1_000),
});

/** Members of stored states that callers do not see. */
const HIDDEN = [ENDED_AT, ...MISSING_MEMBERS] as const;

/** A state as callers see it: without the members that are for the gateway. */
export function withoutPendingUsage(shown: ShownObject): ShownObject {
  if (!HIDDEN.some((member) => Object.hasOwn(shown, member))) return shown;
  return Object.fromEntries(Object.entries(shown).filter(([name]) => !HIDDEN.some((member) => member === name)));
}

/** Final statuses of responses whose usage the upstream reports. A cancelled or failed one has none. */
const BILLED_STATUSES: ReadonlySet<unknown> = new Set(['completed', 'incomplete']);

/**
 * Whether the upstream has reported the usage of an ended run or response. An empty list of a run is a report only
 * where the run has no results. Else the usage is possibly not yet summed up.
 */
export function reportsUsage(kind: ObjectKind, shown: ShownObject): boolean {
  const { per_model_usage: usage, result_counts: counts } = shown;
  if (kind === 'response') return isJsonObject(shown['usage']) || !BILLED_STATUSES.has(shown['status']);
  if (!Array.isArray(usage)) return false;
  return usage.length > 0 || (countOrNull(jsonObjectOf(counts)['total']) ?? 0) === 0;
}

/** State of a response as it is stored: without its texts. */
export const withoutContent = (shown: ShownObject): ShownObject =>
  Object.fromEntries(Object.entries(shown).filter(([name]) => STORED_OF_RESPONSE.has(name)));

const STORED_OF_RESPONSE: ReadonlySet<string> = new Set(['id', 'object', 'status', ...HIDDEN]);
