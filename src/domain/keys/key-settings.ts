import { type ObjectPermission, patchedPermission } from '../object-permissions/object-permission.ts';

/** Purpose of a key. Decides its `allowedRoutes` at its creation. */
export const KEY_TYPES = ['llm_api', 'management', 'read_only', 'default'] as const;
type KeyType = (typeof KEY_TYPES)[number];

type Named<Value> = Readonly<Record<string, Value>>;

/** A budget of a window, in addition to the budget of the key. */
export interface KeyBudgetWindow {
  readonly budgetDuration: string;
  /** Decimal text, USD. */
  readonly maxBudget: string;
  /** End of the window, ISO 8601. */
  readonly resetAt: string;
  /** Decimal text, USD: what the key had spent when the window began. */
  readonly spentBefore: string;
}

/** A requested budget of a window. */
export type WantedWindow = Pick<KeyBudgetWindow, 'budgetDuration' | 'maxBudget'>;

/** Budget and limits of one model. */
export interface ModelBudget {
  /** Decimal text, USD; null for no budget. */
  readonly budgetLimit: string | null;
  /** Null for a budget that is never reset. */
  readonly timePeriod: string | null;
  /** Requests a minute, where the metadata of the key has no limits of models. */
  readonly rpmLimit?: number;
  /** Tokens a minute, where the metadata of the key has no limits of models. */
  readonly tpmLimit?: number;
}

/**
 * Facts that decide, with the row of its key, whether a session is valid. Stored in the settings of the key. No request
 * can set them.
 */
export interface SessionFacts {
  /**
   * Secret that opened the session: `admin:<hash>` for the administrator's password or the admin key, else
   * `key:<identity>:<hash of the secret>`.
   */
  readonly openedBy: string;
  /** Whether the session ends when its user leaves the team of its key. */
  readonly needsMembership: boolean;
  /** Alias and team of the key that opened the session, as it is now. Never stored; absent where it was not read. */
  readonly opener?: { readonly alias: string | null; readonly teamId: string | null };
}

/**
 * Settings of a key that no query filters by. They are stored together as JSON, so that amounts are decimal text in USD
 * and times ISO 8601. An absent member is not set.
 */
export interface KeySettings {
  readonly keyType?: KeyType;
  /** Paths, groups and prefixes with a trailing `*` that the key may call; absent and empty allow all. */
  readonly allowedRoutes?: readonly string[];
  /** Models by the alias under which the key calls them. */
  readonly aliases?: Named<string>;
  readonly permissions?: Named<unknown>;
  readonly config?: Named<unknown>;
  readonly allowedCacheControls?: readonly string[];
  readonly objectPermission?: ObjectPermission;
  readonly routerSettings?: Named<unknown>;
  readonly agentId?: string;
  /** Requests a minute. */
  readonly rpmLimit?: number;
  /** Tokens a minute. */
  readonly tpmLimit?: number;
  /** Tokens a day in batches. */
  readonly tpdLimit?: number;
  readonly maxParallelRequests?: number;
  /** Decimal text, USD. Crossing it sends an alert; it refuses no call. */
  readonly softBudget?: string;
  /**
   * Id of the budget whose limits apply where the key has none. A key with a soft budget may have an id without a
   * stored budget. Answers then show the soft budget as a budget row with this id, as the reference service does.
   */
  readonly budgetId?: string;
  /** Id of the budget of customers without their own. */
  readonly endUserBudgetId?: string;
  readonly projectId?: string;
  /** Organization of a key without a team. */
  readonly organizationId?: string;
  /** Access groups whose models the key may also call. */
  readonly accessGroupIds?: readonly string[];
  readonly budgetLimits?: readonly KeyBudgetWindow[];
  readonly modelMaxBudget?: Named<ModelBudget>;
  readonly budgetFallbacks?: Named<readonly string[]>;
  readonly autoRotate?: boolean;
  readonly rotationInterval?: string;
  /** Facts that a session depends on; absent for other keys. No request sets them. */
  readonly session?: SessionFacts;
}

/** A change of settings: an absent member is unchanged, null removes it. */
export type SettingsPatch = { readonly [Name in keyof KeySettings]?: KeySettings[Name] | null };

/** Settings with a change applied. Members of an `objectPermission` are merged. Throws InvalidInput. */
export function mergedSettings(before: KeySettings, patch: SettingsPatch): KeySettings {
  const { objectPermission: sent } = patch;
  const permission =
    sent === undefined ? {} : { objectPermission: patchedPermission(before.objectPermission, sent) ?? undefined };
  const merged = Object.entries({ ...before, ...patch, ...permission }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(merged);
}

const ROUTES_OF_TYPE: Readonly<Record<KeyType, readonly string[] | null>> = {
  llm_api: ['llm_api_routes'],
  management: ['management_routes'],
  read_only: ['info_routes'],
  default: null,
};

/** Settings of a new key. The routes of its type replace requested ones; the type `default` has none. */
export function withRoutesOfType(settings: SettingsPatch): SettingsPatch {
  const routes = settings.keyType === undefined || settings.keyType === null ? null : ROUTES_OF_TYPE[settings.keyType];
  return routes === null ? settings : { ...settings, allowedRoutes: routes };
}

/**
 * Members of a key's metadata that the gateway reads or shows under their own names. A request may send them as
 * top-level members; they are stored in the metadata, as the reference service does.
 */
export const METADATA_MEMBERS = [
  'model_rpm_limit',
  'model_tpm_limit',
  'mcp_rpm_limit',
  'tag_rpm_limit',
  'rpm_limit_type',
  'tpm_limit_type',
  'tags',
  'enforced_params',
  'default_estimated_output_tokens',
  'default_estimated_output_tokens_per_model',
  'allowed_passthrough_routes',
  'denied_passthrough_routes',
  'allowed_vector_store_indexes',
  'throttle_on_budget_exceeded',
  'guardrails',
  'policies',
  'prompts',
  'disable_global_guardrails',
  'opted_out_global_guardrails',
  'temp_budget_increase',
  'temp_budget_expiry',
] as const;

type Metadata = Named<unknown>;

/** Metadata with further members; null removes one. */
export function mergedMetadata(metadata: Metadata, further: Metadata): Metadata {
  return Object.fromEntries(Object.entries({ ...metadata, ...further }).filter(([, value]) => value !== null));
}

/** Whether a key's metadata has a map of limits by model name. */
export const ownsModelLimits = (metadata: Metadata, member: 'model_rpm_limit' | 'model_tpm_limit'): boolean =>
  typeof metadata[member] === 'object' && metadata[member] !== null;

/** A limit by model name in the metadata of a key or a team; null where it has no such limit. */
export function modelLimit(
  metadata: Metadata,
  member: 'model_rpm_limit' | 'model_tpm_limit',
  model: string,
): number | null {
  const limits = metadata[member];
  if (typeof limits !== 'object' || limits === null || !Object.hasOwn(limits, model)) return null;
  const limit = (limits as Metadata)[model];
  return typeof limit === 'number' && Number.isFinite(limit) ? limit : null;
}
