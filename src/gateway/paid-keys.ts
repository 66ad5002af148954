import { CATALOG_KEY_PREFIX } from '../domain/checkout/checkout.ts';
import type { PaidKeys } from '../domain/free-tier/paid-keys.ts';

/** Every key that lifts the free tier's limit: its beginning says who knows it. */
export function paidKeysOf(rings: { readonly catalog: PaidKeys; readonly gateway: PaidKeys }): PaidKeys {
  return {
    holds: (credential) =>
      (credential.startsWith(CATALOG_KEY_PREFIX) ? rings.catalog : rings.gateway).holds(credential),
  };
}
