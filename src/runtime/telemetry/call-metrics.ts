import type { CallRecord } from '../../domain/calls/call-record.ts';
import { GEN_AI } from '../../domain/traces/conventions/gen-ai-attributes.ts';

/** Histograms of gateway calls by model, with the names of the GenAI semantic conventions in the form of Prometheus. */
export interface CallMetrics {
  /** Counts a call that has ended. Never throws. */
  record(call: Pick<CallRecord, 'spend' | 'span'>): void;
  /** The histograms in the text format of Prometheus; empty before the first call. */
  text(): string;
}

/** Bucket bounds of durations in seconds, by the GenAI conventions. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/** Bucket bounds of token counts, by the GenAI conventions. */
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];

const FAMILIES = [
  {
    name: 'gen_ai_client_operation_duration_seconds',
    help: 'Time of model calls from the request to the end of the answer.',
    bounds: SECONDS,
  },
  {
    name: 'gen_ai_client_operation_time_to_first_chunk_seconds',
    help: 'Time of model calls from the request to the first byte of the answer.',
    bounds: SECONDS,
  },
  { name: 'gen_ai_client_token_usage', help: 'Tokens of model calls, by type.', bounds: TOKENS },
] as const;
const [DURATION, FIRST_CHUNK, USAGE] = FAMILIES;

/** Maximum label sets of a family. Values of further label sets are counted together, under the model `_other`. */
const MAX_LABEL_SETS = 5_000;
const OTHER_LABEL = '_other';

interface Histogram {
  readonly labels: string;
  readonly buckets: Float64Array;
  sum: number;
}

/** One metric family of Prometheus: a histogram for each label set. */
class Family {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #edges: readonly string[];
  readonly #sets = new Map<string, Histogram>();

  constructor({ name, help, bounds }: (typeof FAMILIES)[number]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
    this.#edges = [...bounds.map(String), '+Inf'];
  }

  /** Adds a value to the histogram of a key. `labels` is called for the first value of a key only. */
  observe(key: string, value: number, labels: () => string): void {
    let histogram = this.#sets.get(key);
    if (histogram === undefined) {
      const isFull = this.#sets.size >= MAX_LABEL_SETS;
      const countedKey = isFull ? OTHER_LABEL : key;
      histogram = this.#sets.get(countedKey) ?? {
        labels: isFull ? labelsOf({ gen_ai_request_model: OTHER_LABEL }) : labels(),
        buckets: new Float64Array(this.#edges.length),
        sum: 0,
      };
      this.#sets.set(countedKey, histogram);
    }
    const place = this.#bounds.findIndex((bound) => value <= bound);
    const bucket = place === -1 ? this.#bounds.length : place;
    histogram.buckets[bucket] = (histogram.buckets[bucket] ?? 0) + 1;
    histogram.sum += value;
  }

  text(): string {
    if (this.#sets.size === 0) return '';
    const name = this.#name;
    let text = `# HELP ${name} ${this.#help}\n# TYPE ${name} histogram\n`;
    for (const { labels, buckets, sum } of this.#sets.values()) {
      let count = 0;
      for (const [place, edge] of this.#edges.entries()) {
        count += buckets[place] ?? 0;
        text += `${name}_bucket{${labels},le="${edge}"} ${count}\n`;
      }
      text += `${name}_sum{${labels}} ${sum}\n${name}_count{${labels}} ${count}\n`;
    }
    return text;
  }
}

const escaped = (value: string): string =>
  value
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`);

const labelsOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');

/**
 * Counts calls by operation, provider, model and error. `modelOf` returns the public model name of a deployment, null
 * for an unknown one: a name that a caller sends never becomes a label.
 */
export function createCallMetrics(modelOf: (deploymentId: string) => string | null): CallMetrics {
  const [durations, firstChunks, usages] = [new Family(DURATION), new Family(FIRST_CHUNK), new Family(USAGE)];
  return {
    record({ spend, span }) {
      const { deploymentId, provider, usage, startedAt, firstByteAt, error } = spend;
      const operation = span.attributes[GEN_AI.operationName] ?? OTHER_LABEL;
      const model = modelOf(deploymentId) ?? OTHER_LABEL;
      const labels = (more: Readonly<Record<string, string>>): string =>
        labelsOf({
          gen_ai_operation_name: operation,
          gen_ai_provider_name: provider,
          gen_ai_request_model: model,
          ...more,
        });
      // Contains only the values of the labels: two keys with the same labels would be two equal series, which
      // Prometheus rejects.
      const key = `${model}\n${provider}\n${operation}`;
      const seconds = Number(span.endNs - span.startNs) / 1e9;
      if (error === null) durations.observe(key, seconds, () => labels({}));
      else durations.observe(`${key}\n${error.code}`, seconds, () => labels({ error_type: error.code }));
      if (firstByteAt !== null)
        firstChunks.observe(key, (firstByteAt.getTime() - startedAt.getTime()) / 1000, () => labels({}));
      if (usage === null) return;
      for (const [type, tokens] of [
        ['input', usage.inputTokens],
        ['output', usage.outputTokens],
      ] as const)
        usages.observe(`${key}\n${type}`, tokens, () => labels({ gen_ai_token_type: type }));
    },
    text: () => durations.text() + firstChunks.text() + usages.text(),
  };
}
