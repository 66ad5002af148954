import type { CountsByClass } from './failure-class.ts';
import { type ModelAliases, NO_MODEL_ALIASES } from './model-aliases.ts';
import { DEFAULT_SELECTION, type SelectionPolicy } from './selection-policy.ts';

/**
 * Maximum number of retries that a setting or a request may ask for, so that one call cannot load an upstream for long.
 */
export const MAX_RETRIES = 20;

/** Models that serve a model group when it fails, by the name of the group; `*` stands for every group. */
export type FallbackLists = ReadonlyMap<string, readonly string[]>;

/** Cooldowns: a deployment is not selected for a time after failures. */
export interface CooldownPolicy {
  readonly isOff: boolean;
  /** Length of a cooldown in seconds, unless the deployment or the upstream names another; 0 for none. */
  readonly seconds: number;
  /** Failures within `seconds` that are accepted; null for the rule by status and share. */
  readonly allowedFails: number | null;
  /** Accepted failures within `seconds` by class of failure; they take precedence over `allowedFails`. */
  readonly allowedFailsOf: CountsByClass;
}

/** Configured fallbacks. Fallbacks that a request names replace all of them. */
export interface FallbackPolicy {
  /** After any failure. */
  readonly general: FallbackLists;
  /** After a refusal because the conversation is too long. */
  readonly contextWindow: FallbackLists;
  /** After a refusal because of the content. */
  readonly contentPolicy: FallbackLists;
  /** For groups without a general list. */
  readonly standard: readonly string[];
  /** Maximum number of models that are called after the first. */
  readonly most: number;
  /** Leaves out models that the caller's key may not call. */
  readonly checksAccess: boolean;
}

/** Timeouts of deployments without their own, in seconds; null for the default. */
export interface TimeoutPolicy {
  readonly seconds: number | null;
  /** Of streams, in place of `seconds`. */
  readonly streamSeconds: number | null;
}

/** Configured retries, cooldowns and fallbacks, the selection of deployments, aliases, and timeouts. */
export interface RoutingPolicy {
  /** Retries of a call whose request and deployment name none. */
  readonly retries: number;
  /** Minimum wait before a retry at the same deployment, in seconds. */
  readonly retryAfterSeconds: number;
  /** Retries by class of failure. They replace the rule by status. */
  readonly retriesOf: CountsByClass;
  /** Retries by class of failure for single model groups. They replace `retriesOf` as a whole. */
  readonly retriesOfGroup: ReadonlyMap<string, CountsByClass>;
  readonly cooldowns: CooldownPolicy;
  readonly fallbacks: FallbackPolicy;
  readonly selection: SelectionPolicy;
  readonly aliases: ModelAliases;
  readonly timeouts: TimeoutPolicy;
}

/** Settings of one deployment that replace those of the policy. */
export interface DeploymentRouting {
  readonly retries?: number;
  readonly cooldownSeconds?: number;
  readonly allowedFails?: number;
  readonly allowedFailsOf?: CountsByClass;
}

/** Maximum number of fallbacks of one call. */
export const MAX_FALLBACKS = 5;

/** The policy without any setting. */
export const DEFAULT_ROUTING: RoutingPolicy = {
  retries: 2,
  retryAfterSeconds: 0,
  retriesOf: {},
  retriesOfGroup: new Map(),
  cooldowns: { isOff: false, seconds: 5, allowedFails: null, allowedFailsOf: {} },
  fallbacks: {
    general: new Map(),
    contextWindow: new Map(),
    contentPolicy: new Map(),
    standard: [],
    most: MAX_FALLBACKS,
    checksAccess: false,
  },
  selection: DEFAULT_SELECTION,
  aliases: NO_MODEL_ALIASES,
  timeouts: { seconds: null, streamSeconds: null },
};
