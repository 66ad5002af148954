import type { RateAdmission, RateLimit, RateLimits, RateRefusal } from '../../domain/admission/rate-limits.ts';
import { RATE_WINDOW_MS } from '../../domain/admission/rate-limits.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import { ownTags } from '../../domain/calls/spend-labels.ts';
import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Clock } from '../../domain/clock.ts';
import { RateLimited } from '../../domain/errors.ts';
import { expectedTokens } from '../../domain/inference/expected-tokens.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { type LabelBudgets, NO_LABEL_BUDGETS } from './label-budgets.ts';
import type { BatchCalls } from '../../domain/upstream-objects/batch-calls.ts';
import { type CallNames, rateScopesOf } from './rate-scopes.ts';
import { batchScopesOf } from './batch-limits.ts';

/** Parts of a call that limits use. Without bytes, its tokens are not known before it ends. */
export type Limited = Pick<ModelRequest, 'model'> &
  Partial<Pick<ModelRequest, 'endpoint' | 'body' | 'bytes'>> & {
    /** Calls of the batch that it starts. */
    readonly calls?: BatchCalls | undefined;
    /** Part of its own limits that the key keeps, because its budget is used up; all of them when absent. */
    readonly keptPart?: number | undefined;
  };

/** Limits of calls per minute and of parallel calls. */
export interface CallLimits {
  /**
   * Counts a call; null when it has no limit. Synchronous when this process holds a share of every limit and the limits of
   * its labels are in memory. Throws RateLimited.
   */
  admit(caller: Caller, call: Limited, labels?: CallLabels): RateAdmission | null | Promise<RateAdmission | null>;
  /**
   * Asks for the shares that `admit` will need, while the call waits for its budgets: one round trip answers both. Does nothing
   * for a batch, and where the limits of the labels are not in memory.
   */
  prepare(caller: Caller, call: Limited, labels?: CallLabels): void;
}

export function createCallLimits(
  limits: RateLimits,
  clock: Pick<Clock, 'now'>,
  labelBudgets: Pick<LabelBudgets, 'of'> = NO_LABEL_BUDGETS,
): CallLimits {
  function admitted(decided: RateAdmission | RateRefusal): RateAdmission {
    if (decided.kind === 'refused') throw limited(decided, clock.now());
    return decided;
  }

  const scopesOf = ({ key }: Caller, { calls, model }: Limited, names: CallNames): readonly RateLimit[] =>
    calls === undefined ? rateScopesOf(key, model, names) : batchScopesOf(key, calls, names);

  function count(caller: Caller, call: Limited, names: CallNames): RateAdmission | null | Promise<RateAdmission> {
    const scopes = scopesOf(caller, call, names);
    if (scopes.length === 0) return null;
    const decided = limits.admit(scopes, tokensOf(caller, call, scopes));
    return decided instanceof Promise ? decided.then(admitted) : admitted(decided);
  }

  return {
    admit(caller, call, labels) {
      const { keptPart } = call;
      if (labels === undefined) return count(caller, call, { tags: [], labels: [], keptPart });
      const tags = ownTags(labels);
      const found = labelBudgets.of(labels, caller.key);
      return found instanceof Promise
        ? found.then((of) => count(caller, call, { tags, labels: of, keptPart }))
        : count(caller, call, { tags, labels: found, keptPart });
    },
    prepare(caller, call, labels) {
      const found = labels === undefined ? [] : labelBudgets.of(labels, caller.key);
      // A failed read is reported by the call's own one.
      if (found instanceof Promise) return void found.catch(() => {});
      if (call.calls !== undefined) return;
      const scopes = scopesOf(caller, call, { tags: labels === undefined ? [] : ownTags(labels), labels: found });
      if (scopes.length > 0) limits.prepare(scopes, tokensOf(caller, call, scopes));
    },
  };
}

/** Expected tokens; zero where no limit counts them. */
function tokensOf({ key }: Caller, { model, endpoint, body, bytes }: Limited, scopes: readonly RateLimit[]): number {
  let smallestLimit = Infinity;
  for (const { tokens = Infinity } of scopes) if (tokens < smallestLimit) smallestLimit = tokens;
  if (smallestLimit === Infinity || endpoint === undefined || body === undefined || bytes === undefined) return 0;
  const stated = key === null ? null : statedOutput(key, model);
  return expectedTokens({ endpoint, body, bytes }, { stated, smallestLimit });
}

/** Expected output tokens of a model, from the metadata of the key, else of its team. */
const statedOutput = ({ metadata, owners }: VirtualKey, model: string): number | null =>
  statedIn(metadata, model) ?? statedIn(owners?.team?.metadata ?? {}, model);

function statedIn(metadata: VirtualKey['metadata'], model: string): number | null {
  const byModel = metadata['default_estimated_output_tokens_per_model'];
  const ofModel =
    typeof byModel === 'object' && byModel !== null && Object.hasOwn(byModel, model)
      ? (byModel as Readonly<Record<string, unknown>>)[model]
      : undefined;
  const stated = ofModel ?? metadata['default_estimated_output_tokens'];
  return typeof stated === 'number' && stated >= 0 ? stated : null;
}

/** Error of the reference: its reset time is the window's length from now, not the end of the window. */
function limited({ scope, id, type, limit, remaining }: RateRefusal, now: Date): RateLimited {
  const resetAt = new Date(now.getTime() + RATE_WINDOW_MS);
  const reset = `${resetAt.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const text = `Rate limit exceeded for ${scope}: ${id}. Limit type: ${type}. Current limit: ${limit}, Remaining: ${remaining}. Limit resets at: ${reset}`;
  return new RateLimited(text, type, { retryAfterSeconds: RATE_WINDOW_MS / 1_000, resetAt: reset });
}
