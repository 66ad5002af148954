import { InvalidInput } from '../errors.ts';
import type { TraceSummary } from '../traces/trace.ts';

/** One agent run that a lens may review: the trace of one owner. Times are ISO 8601, UTC. */
export interface Execution {
  /** Opaque, from `executionIdOf`. */
  readonly id: string;
  readonly source: 'traces';
  readonly traceId: string;
  readonly traceRef: string;
  readonly teamId: string;
  readonly name: string;
  readonly startTime: string;
  readonly spanCount: number;
  readonly rootSeen: boolean;
  readonly service: string;
  readonly agent: string;
  /** See `contentVersionOf`. */
  readonly contentVersion: string;
  readonly metadata: readonly { readonly key: string; readonly value: string }[];
}

/**
 * Executions of a run, chosen once, or a page of a preview. `eligible` and `selected` count the executions of all
 * pages.
 */
export interface Sample {
  readonly executions: readonly Execution[];
  readonly eligible: number;
  readonly selected: number;
  readonly nextOffset: number | null;
  readonly nextCursor: string | null;
}

/** Address of an execution. */
export interface ExecutionAddress {
  readonly traceId: string;
  readonly traceRef: string;
}

/** Base64 alphabet of execution ids in the reference service. */
const ALPHABET = { alphabet: 'base64url' } as const;

/** Id in the form of the reference service: padded URL-safe base64 of a JSON list, with a space after each comma. */
export function executionIdOf(teamId: string, { traceId, traceRef }: ExecutionAddress): string {
  const parts = ['traces', teamId, traceId, traceRef].map((part) => JSON.stringify(part));
  return new TextEncoder().encode(`[${parts.join(', ')}]`).toBase64(ALPHABET);
}

/**
 * The address inside an id; null for a text that is not an id. An id without a ref stands for the traces of all owners:
 * the ref is empty.
 */
export function readExecutionId(id: string): ExecutionAddress | null {
  try {
    const parts: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(id, ALPHABET)));
    if (!Array.isArray(parts) || parts.length < 3 || parts.length > 4 || parts[0] !== 'traces') return null;
    const [, , traceId, traceRef = ''] = parts as readonly unknown[];
    if (typeof traceId !== 'string' || typeof traceRef !== 'string') return null;
    return { traceId, traceRef };
  } catch {
    return null;
  }
}

/** Throws InvalidInput for texts that are not execution ids. Whether a preview returned them is not checked. */
export function assertExecutionIds(ids: readonly string[]): void {
  if (ids.every((id) => readExecutionId(id) !== null)) return;
  const message = 'Choose execution IDs returned by the activity preview';
  throw new InvalidInput(message, [{ path: [], rule: 'text', message }]);
}

/** Version of the content of a trace: it changes with each span that arrives, and with a redaction. */
export const contentVersionOf = ({ spanCount, endNs, redactedAt }: TraceSummary): string =>
  `${spanCount}-${endNs}${redactedAt === null ? '' : `-${redactedAt.getTime()}`}`;

export function executionOf(summary: TraceSummary): Execution {
  const { traceId, traceRef, owner, name, startNs, spanCount, rootNs, service, agentNames } = summary;
  const teamId = owner.teamId ?? '';
  return {
    id: executionIdOf(teamId, { traceId, traceRef }),
    source: 'traces',
    traceId,
    traceRef,
    teamId,
    name,
    startTime: new Date(Number(startNs / 1_000_000n)).toISOString(),
    spanCount,
    rootSeen: rootNs !== null,
    service,
    agent: agentNames[0] ?? '',
    contentVersion: contentVersionOf(summary),
    metadata: [],
  };
}

/** How many of the eligible executions are chosen. */
export function selectedCount(
  eligible: number,
  { samplePercent, sampleSize }: { readonly samplePercent: number; readonly sampleSize: number | null },
): number {
  const share = Math.min(eligible, Math.ceil((eligible * samplePercent) / 100));
  return sampleSize === null ? share : Math.min(share, sampleSize);
}
