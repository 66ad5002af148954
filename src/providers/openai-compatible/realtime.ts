import { COMPATIBLE_VENDORS, type CompatibleVendor } from '../../domain/chat/vendors.ts';
import { type RealtimeVendor, sessionQuery } from '../realtime.ts';
import { headersOf } from './openai-compatible.ts';
import { differencesOf } from './vendors.ts';

/** Vendors with the realtime API. Generic compatible servers are assumed to have it. */
const REALTIME_VENDORS: ReadonlySet<CompatibleVendor> = new Set<CompatibleVendor>([
  'openai',
  'custom_openai',
  'openai_like',
  'litellm_proxy',
  'xai',
]);

/** Realtime API of an OpenAI-compatible vendor. Null when it has none. */
export function compatibleRealtime(name: CompatibleVendor): RealtimeVendor | null {
  if (!REALTIME_VENDORS.has(name)) return null;
  const { base } = COMPATIBLE_VENDORS[name];
  const differences = differencesOf(name);
  return {
    addressOf: ({ apiBase, upstreamModel }, request) =>
      `${apiBase ?? base ?? ''}/realtime?${sessionQuery('model', upstreamModel, request)}`,
    authHeadersOf: (deployment) => headersOf(deployment, differences, undefined),
  };
}
