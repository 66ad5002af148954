import { COMPATIBLE_VENDORS, type CompatibleVendor } from '../../domain/chat/vendors.ts';
import { type RealtimeVendor, sessionQuery } from '../realtime.ts';
import { headersOf } from './openai-compatible.ts';
import { differencesOf } from './vendors.ts';

/** Who has the realtime API. Whoever is not known by name, but has an address, is taken to speak as OpenAI does. */
const SPEAKERS: ReadonlySet<CompatibleVendor> = new Set<CompatibleVendor>([
  'openai',
  'custom_openai',
  'openai_like',
  'litellm_proxy',
  'xai',
]);

/** The realtime API of a vendor who speaks as OpenAI does; null where there is none. */
export function compatibleRealtime(name: CompatibleVendor): RealtimeVendor | null {
  if (!SPEAKERS.has(name)) return null;
  const { base } = COMPATIBLE_VENDORS[name];
  const differences = differencesOf(name);
  return {
    addressOf: ({ apiBase, upstreamModel }, request) =>
      `${apiBase ?? base ?? ''}/realtime?${sessionQuery('model', upstreamModel, request)}`,
    identityOf: (deployment) => headersOf(deployment, differences, undefined),
  };
}
