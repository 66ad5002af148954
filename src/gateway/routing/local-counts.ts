import type { LocalCounts } from '../../domain/routing/shared-counts.ts';
import type { Cooldowns } from './cooldowns.ts';
import type { Traffic } from './traffic.ts';

/** The counts of this process that decide about the selection of deployments, as they are shared with others. */
export const createLocalCounts = (traffic: Traffic, cooldowns: Cooldowns): LocalCounts => ({
  report: () => ({ ...traffic.report(), cooldowns: cooldowns.unreported() }),
  accept(report, all) {
    traffic.accept(report, all);
    cooldowns.reported();
    cooldowns.takeOver(all.cooldowns);
  },
});
