import { availableParallelism } from 'node:os';
import {
  DEFAULT_CONCURRENT_INGESTS,
  DEFAULT_OFFLOAD_BYTES,
  DEFAULT_OTLP_LIMITS,
  ONE_CORE_OFFLOAD_BYTES,
  type OtlpLimits,
} from '../../domain/traces/otlp-limits.ts';
import type { ConfigFault } from './config-file.ts';
import { countIn } from './whole-number.ts';

/** What exports may ask of the process. */
export interface OtlpSettings {
  readonly limits: OtlpLimits;
  /** Exports unpacked at one time; one more is told to come again. */
  readonly concurrentIngests: number;
  /** Bodies beyond so many bytes are read on a thread of their own. */
  readonly offloadBytes: number;
}

/** A buffer in one piece ends there on every platform. */
const MOST = 2 ** 31 - 1;

const LIMIT_VARIABLES: Readonly<Record<keyof OtlpLimits, string>> = {
  bodyBytes: 'OTLP_MAX_BODY_BYTES',
  depth: 'OTLP_MAX_DECODE_DEPTH',
  nodes: 'OTLP_MAX_DECODE_NODES',
  spans: 'OTLP_MAX_SPANS',
  attributes: 'OTLP_MAX_ATTRIBUTES',
  events: 'OTLP_MAX_EVENTS',
  links: 'OTLP_MAX_LINKS',
  decodedBytes: 'OTLP_MAX_DECODED_SPAN_BYTES',
  valueBytes: 'OTLP_MAX_ATTRIBUTE_VALUE_BYTES',
};

/** Deeper nesting than this the parsers do not take, whatever is set. */
const MOST_DEPTH = 100;

/**
 * Reads `OTLP_MAX_…` and `OTLP_OFFLOAD_DECODE_BYTES`. A value that is no whole number from 1 on is told to `fault`. `cores` is
 * how many threads of this process run at once.
 */
export function readOtlp(
  env: NodeJS.ProcessEnv,
  fault: (fault: ConfigFault) => void,
  cores = availableParallelism(),
): OtlpSettings {
  const offloadBytes = cores === 1 ? ONE_CORE_OFFLOAD_BYTES : DEFAULT_OFFLOAD_BYTES;
  const countOf = (name: string, otherwise: number, most = MOST): number =>
    countIn(env, name, { otherwise, most, fault });
  const limits: Record<keyof OtlpLimits, number> = { ...DEFAULT_OTLP_LIMITS };
  for (const [limit, name] of Object.entries(LIMIT_VARIABLES) as [keyof OtlpLimits, string][])
    limits[limit] = countOf(name, DEFAULT_OTLP_LIMITS[limit], limit === 'depth' ? MOST_DEPTH : MOST);
  return {
    limits,
    concurrentIngests: countOf('OTLP_MAX_CONCURRENT_INGESTS', DEFAULT_CONCURRENT_INGESTS),
    offloadBytes: countOf('OTLP_OFFLOAD_DECODE_BYTES', offloadBytes),
  };
}
