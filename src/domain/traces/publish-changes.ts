import type { Bus } from '../bus.ts';
import type { TraceSummary } from './trace.ts';

/** Publishes changed traces to subscribers. Returns the summaries. */
export function publishChanges(bus: Pick<Bus, 'publish'>, summaries: readonly TraceSummary[]): readonly TraceSummary[] {
  for (const summary of summaries) bus.publish('trace', { summary });
  return summaries;
}
