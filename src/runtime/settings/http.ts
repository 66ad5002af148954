import type { SettingValues } from './table.ts';

/** Settings of the HTTP server. */
export interface HttpSettings {
  /** Origins whose pages may call the server in a browser, or `*` for every origin; empty turns CORS off. */
  readonly corsOrigins: readonly string[];
  /** Whether the most frequent paths are served without Koa. */
  readonly fastPath: boolean;
  /** Whether repeated queries of the graph are compiled. */
  readonly graphPlans: boolean;
  /** Whether an event is executed once for all subscribers with the same operation and rights. */
  readonly sharedSubscriptions: boolean;
  /** Whether large bodies of model calls are scanned instead of parsed. */
  readonly jsonScan: boolean;
  /** Whether the writes of one turn of the event loop are sent together. */
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
