import { DEFAULT_TIMEOUT_SECONDS, type Deployment, PROVIDER_NAMES } from '../chat/provider.ts';

/**
 * A deployment for a name such as `openai/gpt-4o` that is not configured, with the provider's own address and no
 * credential. Null when the name does not begin with a known provider.
 */
export function unconfiguredDeployment(name: string): Deployment | null {
  const slash = name.indexOf('/');
  const provider = name.slice(0, slash);
  if (slash === -1 || !PROVIDER_NAMES.includes(provider)) return null;
  return {
    id: name,
    modelGroup: name,
    provider,
    upstreamModel: name.slice(slash + 1),
    apiBase: null,
    apiKey: null,
    options: {},
    secrets: {},
    dropParams: true,
    timeoutSeconds: DEFAULT_TIMEOUT_SECONDS,
    priceOverrides: {},
    baseModel: null,
  };
}
