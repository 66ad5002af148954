import type { Deployment } from '../chat/provider.ts';

/** Whether two deployments use the same account of the same upstream, and so see the same stored objects. */
export const isSameUpstream = (left: Deployment, right: Deployment): boolean =>
  left.provider === right.provider &&
  left.apiBase === right.apiBase &&
  left.apiKey?.reveal() === right.apiKey?.reveal() &&
  JSON.stringify(left.options) === JSON.stringify(right.options);
