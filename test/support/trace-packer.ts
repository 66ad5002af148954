import { createSlots, type Slots } from '../../src/domain/concurrency-limit.ts';
import {
  DEFAULT_CONCURRENT_INGESTS,
  DEFAULT_OFFLOAD_BYTES,
  DEFAULT_OTLP_LIMITS,
} from '../../src/domain/traces/otlp-limits.ts';
import { createTracePacker, type TracePacker } from '../../src/ingest/export-packer.ts';

/** Trace packer with the default limits. */
export function aTracePacker(unpacking: Slots = createSlots(DEFAULT_CONCURRENT_INGESTS, 'exports')): TracePacker {
  return createTracePacker({ limits: DEFAULT_OTLP_LIMITS, unpacking, offloadBytes: DEFAULT_OFFLOAD_BYTES });
}
