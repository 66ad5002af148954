import { createCallEstimates } from '../../src/gateway/accounting/estimate-call.ts';
import { snapshotOfRows } from './catalog-maps.ts';

const empty = snapshotOfRows('empty', {});

/** Estimates by a catalog that knows no model. */
export const NO_ESTIMATES = createCallEstimates({ current: () => empty });
