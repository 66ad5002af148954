import type { AppliedPolicy } from '../../../src/domain/chat/failed-call.ts';

/** Value of `x-litellm-applied-policies`: names with commas. */
export const policyNames = (policies: readonly AppliedPolicy[]): string => policies.map(({ name }) => name).join(',');

/** Value of `x-litellm-policy-sources`, which says why each policy applies: `name=why; name=why`. */
export const policySources = (policies: readonly AppliedPolicy[]): string =>
  policies.map(({ name, via }) => `${name}=${via}`).join('; ');
