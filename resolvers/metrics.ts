import type { MetricsText } from '../src/domain/metrics.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { MetricsPlatform } from './operation/health-platform.ts';
import type { Scope } from './operation/scope.ts';

/** Reads the metrics of the process. No label contains data from callers, so no credential is required. */
export const readMetrics = operation({
  name: 'readMetrics',
  access: anyone,
  run: ({ platform }: Scope<MetricsPlatform>, _input: undefined): Promise<MetricsText> => platform.metrics.read(),
});
