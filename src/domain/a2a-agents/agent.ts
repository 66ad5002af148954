import type { JsonObject } from '../json-object.ts';
import type { RowStore, Stamps } from '../row-store.ts';
import type { Secret } from '../secret.ts';

/** Settings of an agent that hold no secret. They are stored together as JSON. */
export interface AgentSettings {
  /** The agent card (A2A specification) as it was configured, with defaults; its `url` is that of the agent. */
  readonly card: JsonObject;
  /** Rights of the agent itself, as configured. They are stored and shown only. */
  readonly objectPermission: JsonObject | null;
  /** Tokens and requests a minute of all callers together; null for no limit. */
  readonly tpmLimit: number | null;
  readonly rpmLimit: number | null;
  /** Tokens and requests a minute of one session; null for no limit. */
  readonly sessionTpmLimit: number | null;
  readonly sessionRpmLimit: number | null;
  /** Names of headers of the caller that the agent gets. */
  readonly extraHeaders: readonly string[];
  /** Access groups whose keys may call the agent. */
  readonly accessGroupIds: readonly string[];
  /** Whether calls are served. */
  readonly enabled: boolean;
  readonly executionMode: string;
  /** Whether everyone sees the card at `/public/agent_hub`. */
  readonly isPublic: boolean;
}

/** Parts of an agent that may hold secrets. They are encrypted at rest. */
export interface AgentSecrets {
  /** `litellm_params`: prices, guardrails and limits of calls, and an `api_key`. */
  readonly params: JsonObject;
  /** Headers that the agent gets with each call. */
  readonly staticHeaders: Readonly<Record<string, string>>;
  /** Request that stops the agent at its own service; null for none. */
  readonly killSwitch: JsonObject | null;
}

/** An agent that is called by the A2A protocol. */
export interface A2aAgent extends AgentSettings, Partial<Stamps> {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  readonly params: JsonObject;
  readonly staticHeaders: Readonly<Record<string, Secret>>;
  readonly killSwitch: JsonObject | null;
  /** False when the secrets of a stored agent cannot be decrypted: it is not called. */
  readonly isReadable: boolean;
  /** Whether the configuration file has it. Such an agent cannot be changed at run time. */
  readonly isFromConfig: boolean;
}

/** An agent as the database has it. */
export interface StoredAgent extends Stamps {
  readonly id: string;
  readonly name: string;
  readonly settings: AgentSettings;
  /** `AgentSecrets` as encrypted JSON, base64. */
  readonly sealed: string;
}

export type AgentStore = RowStore<StoredAgent, null>;

/** Changes to an agent, or the members of a new one. An absent member is unchanged. */
export type AgentPatch = Partial<Omit<AgentSettings, 'card'> & AgentSecrets> & {
  readonly name?: string;
  /** Replaces the card. */
  readonly card?: JsonObject;
};

export const DEFAULT_AGENT: Omit<AgentSettings, 'card'> & AgentSecrets = {
  objectPermission: null,
  tpmLimit: null,
  rpmLimit: null,
  sessionTpmLimit: null,
  sessionRpmLimit: null,
  extraHeaders: [],
  accessGroupIds: [],
  enabled: true,
  executionMode: 'autonomous',
  isPublic: false,
  params: {},
  staticHeaders: {},
  killSwitch: null,
};

const SETTING_NAMES = [
  'card',
  'objectPermission',
  'tpmLimit',
  'rpmLimit',
  'sessionTpmLimit',
  'sessionRpmLimit',
  'extraHeaders',
  'accessGroupIds',
  'enabled',
  'executionMode',
  'isPublic',
] as const;

/** Settings with the values of a patch. Other members of the patch are ignored. */
export const patchedSettings = (before: AgentSettings, patch: AgentPatch): AgentSettings => ({
  ...before,
  ...Object.fromEntries(SETTING_NAMES.flatMap((name) => (patch[name] === undefined ? [] : [[name, patch[name]]]))),
});
