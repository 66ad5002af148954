import { assertStorable } from '../budgets/limits.ts';
import { InvalidInput } from '../errors.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import type { VirtualKey } from '../keys/virtual-key.ts';
import type { FallbackLists, FallbackPolicy, RoutingPolicy } from '../routing/routing-policy.ts';

/**
 * Kinds of failures with separate lists of fallbacks. `general`: every failure. `context_window`: a prompt that is too
 * long. `content_policy`: content that the upstream refuses.
 */
export const FALLBACK_TYPES = ['general', 'context_window', 'content_policy'] as const;
export type FallbackType = (typeof FALLBACK_TYPES)[number];

/** Models that are called after a model failed, in order. */
export interface ModelFallback extends Stamps {
  /** Made by `fallbackId`. */
  readonly id: string;
  readonly model: string;
  readonly type: FallbackType;
  readonly targets: readonly string[];
}

/** The fallbacks of a model for one kind of failure, to store. */
export type FallbackDraft = Pick<ModelFallback, 'model' | 'type' | 'targets'>;

export const fallbackId = (model: string, type: FallbackType): string => `${type}:${model}`;

/** Filter of fallbacks: null lists all. */
interface FallbackFilter {
  readonly model: string | null;
}

/** Persistent fallbacks. */
export interface FallbackStore extends RowStore<ModelFallback, FallbackFilter> {
  /** Version text. It differs after every change of any row, also by another process. */
  fingerprint(): Promise<string>;
}

/** Routing of the configuration file and of stored settings. A change replaces the object. */
export interface ConfiguredRouting {
  readonly policy: RoutingPolicy;
  /** Kinds of failures whose lists come from stored settings. The lists of other kinds come from the file. */
  readonly storedLists: ReadonlySet<FallbackType>;
}

/** Fallbacks of the configuration and of the database, in memory. */
export interface FallbackRegistry {
  /**
   * The routing policy with the stored fallbacks, for calls of a key. The router settings of the key and its team take
   * precedence. A change replaces the object.
   */
  policy(key?: VirtualKey | null): RoutingPolicy;
  /** Whether the configuration file has fallbacks for a model, which the database cannot change. */
  isConfigured(model: string, type: FallbackType): boolean;
  /** Reads stored rows if any row changed since the last read. Returns whether one did. Throws Unavailable. */
  refresh(): Promise<boolean>;
}

/** New fallbacks of a model. Throws InvalidInput for a name that cannot be stored. */
export function newFallback(draft: FallbackDraft, about: Authored): ModelFallback {
  for (const name of [draft.model, ...draft.targets]) assertStorable({ model: name });
  return { id: fallbackId(draft.model, draft.type), ...draft, ...newStamps(about) };
}

/** Throws InvalidInput for an empty list of targets, a repeated target, and the model itself as a target. */
export function assertTargets({ model, targets }: FallbackDraft): void {
  if (targets.length === 0) throw new InvalidInput('At least one fallback must be named.');
  if (new Set(targets).size < targets.length) throw new InvalidInput('A fallback is named more than once.');
  if (targets.includes(model)) throw new InvalidInput(`Model '${model}' cannot be its own fallback`);
}

const MEMBERS = { general: 'general', context_window: 'contextWindow', content_policy: 'contentPolicy' } as const;

/** The lists of a policy for one kind of failure. */
export const listsFor = (policy: FallbackPolicy, type: FallbackType): FallbackLists => policy[MEMBERS[type]];

/**
 * A policy with stored fallbacks in addition to the configured ones. For each model, the list of the file takes
 * precedence over a stored fallback, and a stored fallback over the list of a stored setting.
 */
export function withStoredFallbacks(
  { policy, storedLists }: ConfiguredRouting,
  rows: readonly ModelFallback[],
): RoutingPolicy {
  if (rows.length === 0) return policy;
  const merged = (type: FallbackType): FallbackLists => {
    const stored = rows.filter((row) => row.type === type).map(({ model, targets }) => [model, targets] as const);
    const configured = listsFor(policy.fallbacks, type);
    // A map keeps the later of two entries for one model.
    return new Map(storedLists.has(type) ? [...configured, ...stored] : [...stored, ...configured]);
  };
  const fallbacks = {
    ...policy.fallbacks,
    general: merged('general'),
    contextWindow: merged('context_window'),
    contentPolicy: merged('content_policy'),
  };
  return { ...policy, fallbacks };
}
