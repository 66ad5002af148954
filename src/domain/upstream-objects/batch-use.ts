import type { JsonObject } from '../json-object.ts';
import type { CallLabels } from '../calls/call-labels.ts';
import type { Owner } from '../caller.ts';
import type { Usage } from '../chat/chat.ts';
import { plausibleUsage } from '../inference/plausible-usage.ts';
import type { Deployment } from '../chat/provider.ts';
import type { BatchCalls } from './batch-calls.ts';
import type { ShownObject } from './upstream-object.ts';

/** Usage of one model. */
export interface ModelUse {
  /** The upstream's name of the model; null where it names none. */
  readonly model: string | null;
  readonly usage: Usage;
}

/** A batch, a run of an evaluation or a response that has ended, with its usage, owner and deployment. */
export interface EndedBatch {
  readonly kind: 'batch' | 'eval_run' | 'response';
  /** Usage by model; at least one. */
  readonly uses: readonly ModelUse[];
  readonly endedAt: Date;
  /** Our id of the batch or the run. */
  readonly id: string;
  readonly owner: Owner;
  /** User of the call that made it; absent without one. */
  readonly userId?: string;
  readonly createdAt: Date;
  readonly deployment: Deployment;
  /** Labels of the call that made it; absent without any. */
  readonly labels?: CallLabels;
  /** Calls of its file by public model name; absent when the file was not counted. */
  readonly calls?: BatchCalls;
}

/** A batch, a run or a response whose cost cannot be known. */
export interface UnchargedBatch extends Omit<EndedBatch, 'uses' | 'deployment'> {
  /** Null for a deployment that is no longer configured. */
  readonly deployment: Deployment | null;
  /** Why its cost is not known, for the log and the record of the call. */
  readonly reason: string;
}

export const fieldsOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null ? { ...value } : {};

export const countOrNull = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

/** Members that may have the end time, one for each outcome. */
const ENDS = ['completed_at', 'failed_at', 'expired_at', 'cancelled_at'] as const;

/** End time of a batch: `now` where the batch has none, and where its end time is in the future. */
export function batchEndOf(shown: ShownObject, now: Date): Date {
  // Some upstreams send 0 for members that are not set.
  const ended = ENDS.map((member) => countOrNull(shown[member]) ?? 0).find((at) => at > 0) ?? Infinity;
  return new Date(Math.min(ended * 1_000, now.getTime()));
}

/** Number of calls that is assumed for a batch whose calls were not counted. */
const ASSUMED_CALLS = 50_000;

/**
 * Total usage of a batch of `calls` calls, as its upstream reports it. Null when a count is missing, both are 0, or one
 * is implausible.
 */
export function batchUseOf(shown: ShownObject, calls = ASSUMED_CALLS): ModelUse | null {
  const usage = fieldsOf(shown['usage']);
  const inputTokens = countOrNull(usage['input_tokens']);
  const outputTokens = countOrNull(usage['output_tokens']);
  if (inputTokens === null || outputTokens === null || inputTokens + outputTokens === 0) return null;
  const { model } = shown;
  const counted = {
    inputTokens,
    outputTokens,
    cacheReadTokens: countOrNull(fieldsOf(usage['input_tokens_details'])['cached_tokens']) ?? 0,
    cacheWriteTokens: 0,
    reasoningTokens: countOrNull(fieldsOf(usage['output_tokens_details'])['reasoning_tokens']) ?? 0,
  };
  const plausible = plausibleUsage(counted, calls);
  return plausible && { model: typeof model === 'string' && model !== '' ? model : null, usage: plausible };
}

/** Maximum number of models of a run whose usage is read. */
const MAX_MODELS = 100;

/** Usage of a run of an evaluation by model, as its upstream reports it. Implausible counts are left out. */
export function runUsesOf(shown: ShownObject): readonly ModelUse[] {
  const reported = shown['per_model_usage'];
  if (!Array.isArray(reported)) return [];
  return reported.slice(0, MAX_MODELS).flatMap((one: unknown): readonly ModelUse[] => {
    const { model_name: model, ...counts } = fieldsOf(one);
    const inputTokens = countOrNull(counts['prompt_tokens']) ?? 0;
    const outputTokens = countOrNull(counts['completion_tokens']) ?? 0;
    const usage = {
      inputTokens,
      outputTokens,
      cacheReadTokens: Math.min(countOrNull(counts['cached_tokens']) ?? 0, inputTokens),
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    };
    const plausible = plausibleUsage(usage, Math.max(1, countOrNull(counts['invocation_count']) ?? 1));
    if (plausible === null || inputTokens + outputTokens === 0) return [];
    return [{ model: typeof model === 'string' && model !== '' ? model : null, usage: plausible }];
  });
}

export const addUsage = (left: Usage, right: Usage): Usage => ({
  inputTokens: left.inputTokens + right.inputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
  cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
  reasoningTokens: left.reasoningTokens + right.reasoningTokens,
});
