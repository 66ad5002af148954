import type { Deployment, Provider } from '../../domain/chat/provider.ts';
import { Unavailable } from '../../domain/errors.ts';

/** The refusal of calls to a deployment that cannot be called. Waiting does not help. */
const misconfigured = ({ modelGroup }: Pick<Deployment, 'modelGroup'>): Unavailable =>
  new Unavailable(
    `The model "${modelGroup}" is misconfigured and cannot be called. Administrators find the reason at /health.`,
    null,
  );

/** Provider of a deployment that cannot be called: it refuses every call. */
export const misconfiguredProvider: Provider = {
  name: 'misconfigured',
  send: (deployment) => Promise.reject(misconfigured(deployment)),
  countTokens: (deployment) => Promise.reject(misconfigured(deployment)),
  preview: (deployment) => Promise.reject(misconfigured(deployment)),
  openRealtime: (deployment) => Promise.reject(misconfigured(deployment)),
};
