import type { SettingValues } from './table.ts';

/** Settings of the HTTP server. */
export interface HttpSettings {
  /** Origins whose browsers may call the server, or `*` for every origin; empty turns CORS off. */
  readonly corsOrigins: readonly string[];
  /** Serves hot paths past Koa. */
  readonly fastPath: boolean;
  /** Compiles repeated queries of the graph. */
  readonly graphPlans: boolean;
}

export const httpOf = (values: SettingValues): HttpSettings => ({
  corsOrigins: values.corsAllowedOrigins,
  fastPath: values.fastPath === 'on',
  graphPlans: values.graphPlans === 'on',
});
