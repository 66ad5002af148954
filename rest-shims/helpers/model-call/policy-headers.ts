import type { AppliedPolicy } from '../../../src/domain/chat/failed-call.ts';

/** Names of policies, for a header. */
export const policyNames = (policies: readonly AppliedPolicy[]): string => policies.map(({ name }) => name).join(',');

/** Why policies apply, for a header: `name=why; name=why`. */
export const policySources = (policies: readonly AppliedPolicy[]): string =>
  policies.map(({ name, via }) => `${name}=${via}`).join('; ');
