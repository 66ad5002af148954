import type { SettingValues } from './table.ts';

/** Settings of what callers may choose, what answers show of upstreams, and the limit of all callers. */
export interface CallerSettings {
  /** Whether callers may send their own key and address, for every deployment. */
  readonly clientCredentials: boolean;
  /** Private hosts, addresses and blocks that callers may choose. */
  readonly allowedHosts: readonly string[];
  /** Whether answers name the base address of the upstream to every caller. Otherwise only administrators see it. */
  readonly exposeApiBase: boolean;
  /** Maximum number of open calls of all callers together; null for no limit. */
  readonly parallelOfAll: number | null;
}

export const callersOf = (values: SettingValues): CallerSettings => ({
  clientCredentials: values.clientCredentials,
  allowedHosts: values.allowedHosts,
  exposeApiBase: values.exposeApiBase,
  parallelOfAll: values.globalMaxParallel,
});
