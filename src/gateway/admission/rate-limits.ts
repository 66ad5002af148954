import type { JsonObject } from '../../domain/json-object.ts';
import {
  RATE_WINDOW_MS,
  type RateAdmission,
  type RateLimit,
  type RateLimits,
  type RateRefusal,
} from '../../domain/admission/rate-limits.ts';
import type { RateScope } from '../../domain/admission/scopes.ts';
import type { OwnerLimits } from '../../domain/budgets/limits.ts';
import { throttledLimit } from '../../domain/keys/budget-throttle.ts';
import { ownsModelLimits } from '../../domain/keys/key-settings.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { limitedHash } from '../../domain/users/session.ts';
import { type LabelBudget, type LabelBudgets, NO_LABEL_BUDGETS } from './label-budgets.ts';
import { modelScopeOfKey, modelScopeOfOwner, modelScopeOfTeam } from './model-limits.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import { ownTags } from '../../domain/calls/spend-labels.ts';
import type { Caller } from '../../domain/caller.ts';
import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Clock } from '../../domain/clock.ts';
import { RateLimited } from '../../domain/errors.ts';
import { expectedTokens } from '../../domain/inference/expected-tokens.ts';
import { allCalls, type BatchCalls } from '../../domain/upstream-objects/batch-calls.ts';

/** Facts of a call that select its limits. */
interface CallFacts {
  readonly tags: readonly string[];
  /** The tags and the end user that have limits. */
  readonly labels: readonly LabelBudget[];
  /** Fraction of the limits per minute that remains for a key whose budget is used up; 1 when absent. */
  readonly limitFraction?: number | undefined;
}

const NO_FACTS: CallFacts = Object.freeze({ tags: [], labels: [] });
const NO_SCOPES: readonly RateLimit[] = Object.freeze([]);

/** Whether calls of a key may have limits. False only where no rule of `rateScopesOf` can find one for the key. */
const mayHaveLimits = ({ settings, metadata, owners }: VirtualKey): boolean =>
  owners !== undefined ||
  settings.rpmLimit !== undefined ||
  settings.tpmLimit !== undefined ||
  settings.maxParallelRequests !== undefined ||
  settings.modelMaxBudget !== undefined ||
  ownsModelLimits(metadata, 'model_rpm_limit') ||
  ownsModelLimits(metadata, 'model_tpm_limit') ||
  metadata['tag_rpm_limit'] !== undefined;

/**
 * The limits of a call, one element for each scope, in the order of the checks:
 * - key, user, team, team member and end user
 * - model for the key, and model for the team
 * - organization, model for the organization, project, and model for the project
 * - tags, and tags for the key
 */
export function rateScopesOf(
  key: VirtualKey | null,
  model: string,
  { tags, labels, limitFraction }: CallFacts = NO_FACTS,
): readonly RateLimit[] {
  if (labels.length === 0 && (key === null || !mayHaveLimits(key))) return NO_SCOPES;
  const scopes: RateLimit[] = [];
  if (key !== null) addScope(scopes, keyScope(key, limitFraction));
  const owners = key?.owners;
  if (key !== null && owners !== undefined) {
    addScope(scopes, ownerScope('user', owners.user?.id, owners.user?.limits));
    addScope(scopes, ownerScope('team', owners.team?.id, owners.team?.limits));
    addScope(scopes, ownerScope('team_member', `${key.teamId}:${key.userId}`, owners.member?.limits));
  }
  addLabels(scopes, 'end_user', labels);
  if (key !== null) {
    addScope(scopes, modelScopeOfKey(key, model));
    if (owners !== undefined) {
      addScope(scopes, modelScopeOfTeam(key, model));
      addScope(scopes, ownerScope('organization', owners.organization?.id, owners.organization?.limits));
      addScope(scopes, modelScopeOfOwner('model_per_organization', owners.organization, model));
      addScope(scopes, ownerScope('project', owners.project?.id, owners.project?.limits));
      addScope(scopes, modelScopeOfOwner('model_per_project', owners.project, model));
    }
  }
  addLabels(scopes, 'tag', labels);
  if (key !== null && tags.length > 0) addTagsOfKey(scopes, key, tags);
  return scopes;
}

function addLabels(scopes: RateLimit[], scope: LabelBudget['scope'], labels: readonly LabelBudget[]): void {
  for (const label of labels) if (label.scope === scope) addScope(scopes, ownerScope(scope, label.id, label.limits));
}

/** Adds the limits of requests per minute of single tags for one key (`tag_rpm_limit`). */
function addTagsOfKey(scopes: RateLimit[], key: VirtualKey, tags: readonly string[]): void {
  const limits = key.metadata['tag_rpm_limit'];
  if (typeof limits !== 'object' || limits === null) return;
  const hash = limitedHash(key);
  for (const tag of tags) {
    const requests: unknown = Object.hasOwn(limits, tag) ? (limits as JsonObject)[tag] : null;
    if (typeof requests === 'number') addScope(scopes, { scope: 'tag_per_key', id: `${hash}:${tag}`, requests });
  }
}

function addScope(scopes: RateLimit[], scope: RateLimit | null): void {
  if (scope === null) return;
  const { requests, tokens, parallel } = scope;
  if (requests !== undefined || tokens !== undefined || parallel !== undefined) scopes.push(scope);
}

/** The limits of the key; where it has none, those of the budget that it names. Sessions of a key count together. */
function keyScope(key: VirtualKey, limitFraction: number | undefined): RateLimit {
  const { settings, owners } = key;
  const requests = settings.rpmLimit ?? owners?.budget?.rpmLimit ?? undefined;
  const tokens = settings.tpmLimit ?? owners?.budget?.tpmLimit ?? undefined;
  const parallel = settings.maxParallelRequests ?? owners?.budget?.maxParallelRequests ?? undefined;
  const reduced = (limit: number | undefined): number | undefined =>
    limit === undefined || limitFraction === undefined ? limit : throttledLimit(limit, limitFraction);
  return { scope: 'api_key', id: limitedHash(key), requests: reduced(requests), tokens: reduced(tokens), parallel };
}

function ownerScope(
  scope: RateScope,
  id: string | undefined,
  limits: OwnerLimits | null | undefined,
): RateLimit | null {
  if (id === undefined || limits === null || limits === undefined) return null;
  return {
    scope,
    id,
    requests: limits.rpmLimit ?? undefined,
    tokens: limits.tpmLimit ?? undefined,
    parallel: limits.maxParallelRequests ?? undefined,
  };
}

/** Parts of a call that its limits read. Without `bytes`, tokens are not reserved, but counted at the call's end. */
export type LimitedCall = Pick<ModelRequest, 'model'> &
  Partial<Pick<ModelRequest, 'endpoint' | 'body' | 'bytes'>> & {
    /** Calls of the batch that the call starts, by model. */
    readonly calls?: BatchCalls | undefined;
    /** Fraction of the limits per minute that remains for a key whose budget is used up; 1 when absent. */
    readonly limitFraction?: number | undefined;
    /** Limits of the target, after those of the caller. With `isCounted`, the caller has been counted before. */
    readonly targetLimits?: readonly RateLimit[];
    readonly isCounted?: boolean;
  };

/** A limit of the tokens of batches per day. */
export interface DailyLimit {
  readonly scope: RateScope;
  readonly id: string;
  readonly limit: number;
}

/** Limits of tokens per day. They apply to batches and replace the limits per minute of the same scope. */
export function dailyLimitsOf(key: VirtualKey | null, labels: CallFacts['labels']): readonly DailyLimit[] {
  const limits: DailyLimit[] = [];
  const add = (scope: RateScope, id: string | undefined, limit: number | null | undefined): void => {
    if (id !== undefined && limit !== null && limit !== undefined) limits.push({ scope, id, limit });
  };
  if (key !== null) {
    add('api_key', limitedHash(key), key.settings.tpdLimit ?? key.owners?.budget?.tpdLimit);
    add('team', key.owners?.team?.id, key.owners?.team?.limits.tpdLimit);
  }
  for (const { scope, id, tpdLimit } of labels) if (scope === 'end_user') add('end_user', id, tpdLimit);
  return limits;
}

/**
 * The limits per minute of a batch. A limit of a model counts that model's calls; any other limit counts all requests
 * and tokens of the batch. A scope with a limit of tokens per day has none per minute, but keeps its limit of parallel
 * calls.
 */
export function batchScopesOf(
  key: VirtualKey | null,
  calls: BatchCalls,
  facts: CallFacts = NO_FACTS,
): readonly RateLimit[] {
  const daily = new Set(dailyLimitsOf(key, facts.labels).map(({ scope, id }) => `${scope} ${id}`));
  const all = allCalls(calls);
  const scopes = new Map<string, RateLimit>();
  for (const [model, amountsOfModel] of Object.entries(calls))
    for (const limit of rateScopesOf(key, model, facts)) {
      const name = `${limit.scope} ${limit.id}`;
      const { requests: _requests, tokens: _tokens, ...others } = limit;
      const amounts = limit.scope.startsWith('model_per_') ? amountsOfModel : all;
      if (!daily.has(name)) scopes.set(name, { ...limit, amounts });
      else if (limit.parallel !== undefined) scopes.set(name, { ...others, amounts: NO_AMOUNTS });
    }
  return [...scopes.values()];
}

const NO_AMOUNTS = { requests: 0, tokens: 0 };

/** Limits of calls per minute and of parallel calls. */
export interface CallLimits {
  /**
   * Counts a call; null when it has no limit. Synchronous when this process holds a share of every limit and the limits
   * of its labels are in memory. Throws RateLimited when a limit is reached.
   */
  admit(caller: Caller, call: LimitedCall, labels?: CallLabels): RateAdmission | null | Promise<RateAdmission | null>;
  /**
   * Requests the shares that `admit` will need, while the call waits for its budgets, so that one round trip serves
   * budgets and shares. Requests none for a batch, and where the limits of the labels are not in memory.
   */
  prepare(caller: Caller, call: LimitedCall, labels?: CallLabels): void;
}

/** `parallelOfAll` is the maximum number of open calls of all callers together; null or absent for no limit. */
export function createCallLimits(
  limits: RateLimits,
  clock: Pick<Clock, 'now'>,
  labelBudgets: Pick<LabelBudgets, 'of'> = NO_LABEL_BUDGETS,
  parallelOfAll: number | null = null,
): CallLimits {
  const ofAll: RateLimit | null =
    parallelOfAll === null ? null : { scope: 'global', id: 'all', parallel: parallelOfAll, amounts: NO_AMOUNTS };
  function admittedOrThrow(decided: RateAdmission | RateRefusal): RateAdmission {
    if (decided.kind === 'refused') throw rateLimitError(decided, clock.now());
    return decided;
  }

  function scopesOf({ key }: Caller, call: LimitedCall, facts: CallFacts): readonly RateLimit[] {
    const { calls, model, targetLimits } = call;
    if (call.isCounted === true) return targetLimits ?? [];
    const ofCaller = calls === undefined ? rateScopesOf(key, model, facts) : batchScopesOf(key, calls, facts);
    const scopes = ofAll === null ? ofCaller : [...ofCaller, ofAll];
    return targetLimits === undefined ? scopes : [...scopes, ...targetLimits];
  }

  function count(caller: Caller, call: LimitedCall, facts: CallFacts): RateAdmission | null | Promise<RateAdmission> {
    const scopes = scopesOf(caller, call, facts);
    if (scopes.length === 0) return null;
    const decided = limits.admit(scopes, tokensOf(caller, call, scopes));
    return decided instanceof Promise ? decided.then(admittedOrThrow) : admittedOrThrow(decided);
  }

  return {
    admit(caller, call, labels) {
      const { limitFraction } = call;
      if (labels === undefined)
        return count(caller, call, limitFraction === undefined ? NO_FACTS : { ...NO_FACTS, limitFraction });
      const tags = ownTags(labels);
      const found = labelBudgets.of(labels, caller.key);
      return found instanceof Promise
        ? found.then((read) => count(caller, call, { tags, labels: read, limitFraction }))
        : count(caller, call, { tags, labels: found, limitFraction });
    },
    prepare(caller, call, labels) {
      const found = labels === undefined ? [] : labelBudgets.of(labels, caller.key);
      // `admit` reads again, and reports a failure.
      if (found instanceof Promise) return void found.catch(() => {});
      if (call.calls !== undefined) return;
      const scopes = scopesOf(caller, call, { tags: labels === undefined ? [] : ownTags(labels), labels: found });
      if (scopes.length > 0) limits.prepare(scopes, tokensOf(caller, call, scopes));
    },
  };
}

/** Expected tokens; zero where no limit counts them. */
function tokensOf(
  { key }: Caller,
  { model, endpoint, body, bytes }: LimitedCall,
  scopes: readonly RateLimit[],
): number {
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
      ? (byModel as JsonObject)[model]
      : undefined;
  const stated = ofModel ?? metadata['default_estimated_output_tokens'];
  return typeof stated === 'number' && stated >= 0 ? stated : null;
}

/** Error of the reference: its reset time is the window's length from now, not the end of the window. */
function rateLimitError({ scope, id, type, limit, remaining }: RateRefusal, now: Date): RateLimited {
  const resetAt = new Date(now.getTime() + RATE_WINDOW_MS);
  const reset = `${resetAt.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const text = `Rate limit exceeded for ${scope}: ${id}. Limit type: ${type}. Current limit: ${limit}, Remaining: ${remaining}. Limit resets at: ${reset}`;
  return new RateLimited(text, type, { retryAfterSeconds: RATE_WINDOW_MS / 1_000, resetAt: reset });
}
