import type { Deployment } from '../chat/provider.ts';

/** Whether two deployments use one account of one upstream. If so, an object that one stores exists at the other. */
export const isSameUpstream = (left: Deployment, right: Deployment): boolean =>
  left.provider === right.provider &&
  left.apiBase === right.apiBase &&
  left.apiKey?.reveal() === right.apiKey?.reveal() &&
  JSON.stringify(left.options) === JSON.stringify(right.options);
