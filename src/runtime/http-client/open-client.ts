import type { CallerAddresses } from '../network/caller-addresses.ts';
import { createHttpClient, type HttpClientOptions, type UpstreamClient } from './client.ts';
import type { UpstreamSettings } from '../settings/upstream.ts';

/** Opens the configured HTTP client. undici is loaded only when it is configured. */
export async function openUpstreamClient(
  settings: UpstreamSettings,
  callerAddresses: CallerAddresses,
): Promise<UpstreamClient> {
  const options: HttpClientOptions = {
    connections: settings.connections,
    ownerFraction: settings.connectionShare,
    silenceLimitMs: settings.silenceSeconds * 1000,
    stallLimitMs: settings.stalledReaderSeconds * 1000,
    callerAddresses,
  };
  if (settings.client === 'native') return createHttpClient(options);
  const { openUndiciClient } = await import('./undici-transport.ts');
  return await openUndiciClient(options);
}
