import { createCallEstimates } from '../../src/gateway/accounting/estimate-call.ts';
import { snapshotOfRows } from './catalog-maps.ts';

const empty = snapshotOfRows('empty', {});

/** Call estimates with an empty catalog. */
export const NO_ESTIMATES = createCallEstimates({ current: () => empty });
