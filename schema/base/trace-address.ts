import type { TraceAddress } from '../../src/domain/traces/store.ts';
import { localId } from './global-id.ts';

/** Descriptions of the two arguments that name a trace. */
export const TRACE_ID = 'Global id of the trace, or its trace id, 32 hex digits.';
export const TRACE_REF =
  'Ref of one trace, for a trace id that several keys sent. All visible traces of the id are merged when absent.';

/**
 * The trace that the arguments name. A global id contains `traceId:traceRef` for the trace of one owner, or only a
 * trace id for all visible traces with it.
 */
export function traceAddressOf(id: string, traceRef: string | null | undefined): TraceAddress {
  const [traceId = '', ...ref] = localId('Trace', id).split(':');
  return { traceId, traceRef: traceRef ?? (ref.length > 0 ? ref.join(':') : null) };
}
