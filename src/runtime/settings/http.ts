import type { SettingValues } from './table.ts';

/** Settings of the HTTP server. */
export interface HttpSettings {
  /** Origins whose pages may call the server in a browser, or `*` for every origin; empty turns CORS off. */
  readonly corsOrigins: readonly string[];
  /** Serves the most frequent paths without Koa. */
  readonly fastPath: boolean;
  /** Compiles repeated queries of the graph. */
  readonly graphPlans: boolean;
  /** Executes an event once for all subscribers with the same operation and rights. */
  readonly sharedSubscriptions: boolean;
  /** Scans large bodies of model calls instead of parsing them. */
  readonly jsonScan: boolean;
  /** Sends the writes of one turn of the event loop together. */
  readonly writeCoalescing: boolean;
}

export const httpOf = (values: SettingValues): HttpSettings => ({
  corsOrigins: values.corsAllowedOrigins,
  fastPath: values.fastPath === 'on',
  graphPlans: values.graphPlans === 'on',
  sharedSubscriptions: values.sharedSubscriptions === 'on',
  jsonScan: values.jsonScan === 'on',
  writeCoalescing: values.writeCoalescing === 'on',
});
