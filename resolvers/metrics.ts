import type { MetricsText } from '../src/domain/metrics.ts';
import { anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';

/** What the process measures of itself. Open, as health is: it holds counts and times, never what a caller sent. */
export const readMetrics = operation({
  name: 'readMetrics',
  access: anyone,
  run: ({ platform }, _input: undefined): Promise<MetricsText> => platform.metrics.read(),
});
