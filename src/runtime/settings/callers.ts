import type { SettingValues } from './table.ts';

/** Settings of what callers may choose, and what answers show of upstreams. */
export interface CallerSettings {
  /** Whether callers may send their own key and address, for every deployment. */
  readonly clientCredentials: boolean;
  /** Private hosts, addresses and blocks that callers may choose. */
  readonly allowedHosts: readonly string[];
  /** Whether answers name the base address of the upstream to every caller. Otherwise only administrators see it. */
  readonly exposeApiBase: boolean;
}

export const callersOf = (values: SettingValues): CallerSettings => ({
  clientCredentials: values.clientCredentials,
  allowedHosts: values.allowedHosts,
  exposeApiBase: values.exposeApiBase,
});
