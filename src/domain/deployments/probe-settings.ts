import type { JsonObject } from '../json-object.ts';

/** Configured health check of a deployment. */
export interface ProbeSettings {
  /** Mode of the model; null uses the mode in the catalog. */
  readonly mode: string | null;
  /** Model to call for a wildcard; null where not configured. */
  readonly model: string | null;
  /** Maximum number of tokens of the answer; null where not configured. */
  readonly maxTokens: number | null;
  /** Members that replace those of the default request to a decision model; empty where not configured. */
  readonly decision: JsonObject;
  readonly timeoutSeconds: number;
  /** Whether periodic health checks skip the deployment. */
  readonly onDemandOnly: boolean;
}

export const DEFAULT_PROBE_SETTINGS: ProbeSettings = {
  mode: null,
  model: null,
  maxTokens: null,
  decision: {},
  timeoutSeconds: 60,
  onDemandOnly: false,
};
