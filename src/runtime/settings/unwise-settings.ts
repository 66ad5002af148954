import { trustsEveryone } from '../network/client-network.ts';
import { isLoopback } from './admin-key.ts';
import type { SettingValues } from './table.ts';

/** Warns about settings that are valid but rarely intended. */
export function warnIfUnwise(values: SettingValues, warn: (text: string) => void): void {
  if (values.trustedProxies.some(trustsEveryone))
    warn(
      'Every address is trusted as a proxy: clients can forge the address by which they are admitted, limited and counted.',
    );
  if (values.stripeSecretKey !== null && values.publicUrl === null && !isLoopback(values.host))
    warn('Access is sold, but PROXY_BASE_URL is not set: buyers are redirected to the address listened on.');
}
