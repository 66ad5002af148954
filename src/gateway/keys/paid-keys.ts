import { CATALOG_KEY_PREFIX } from '../../domain/checkout/checkout.ts';
import type { PaidKeys } from '../../domain/free-tier/paid-keys.ts';

/** Keys that are exempt from the free tier's limit. The prefix of a key selects its ring. */
export function paidKeysOf(rings: { readonly catalog: PaidKeys; readonly gateway: PaidKeys }): PaidKeys {
  return {
    holds: (credential) =>
      (credential.startsWith(CATALOG_KEY_PREFIX) ? rings.catalog : rings.gateway).holds(credential),
  };
}
