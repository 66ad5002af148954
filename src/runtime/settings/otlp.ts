import { availableParallelism } from 'node:os';
import { DEFAULT_OFFLOAD_BYTES, ONE_CORE_OFFLOAD_BYTES, type OtlpLimits } from '../../domain/traces/otlp-limits.ts';
import type { SettingValues } from './table.ts';

/** Limits of exports to `/v1/traces`. */
export interface OtlpSettings {
  readonly limits: OtlpLimits;
  /** Maximum number of exports that are decoded at the same time; more are refused with 503. */
  readonly concurrentIngests: number;
  /** Bodies above this size in bytes are decoded on a worker thread. */
  readonly offloadBytes: number;
}

/** `cores` is the number of threads of this process that run at the same time. */
export function otlpOf(values: SettingValues, cores = availableParallelism()): OtlpSettings {
  const { bodyBytes, depth, nodes, spans, attributes, events, links, decodedBytes, valueBytes } = values;
  return {
    limits: { bodyBytes, depth, nodes, spans, attributes, events, links, decodedBytes, valueBytes },
    concurrentIngests: values.concurrentIngests,
    offloadBytes: values.offloadBytes ?? (cores === 1 ? ONE_CORE_OFFLOAD_BYTES : DEFAULT_OFFLOAD_BYTES),
  };
}
