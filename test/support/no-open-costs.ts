import { ZERO_USD } from '../../src/domain/money.ts';
import type { OpenCosts } from '../../src/gateway/admission/open-costs.ts';

/** Expected costs of a gateway that holds none. */
export const NO_OPEN_COSTS: OpenCosts = {
  ofRequest: () => ZERO_USD,
  ofBatch: () => ZERO_USD,
  hold() {},
  release() {},
  refresh: () => Promise.resolve(),
};
