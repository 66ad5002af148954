import type { PaidKeys } from '../../domain/free-tier/paid-keys.ts';
import { isRefusedCredential } from '../../domain/keys/refused-credential.ts';
import type { KeyRing } from './key-ring.ts';
import { CATALOG_KEY_PREFIX } from '../../domain/checkout/checkout.ts';

function falseIfRefusedCredential(error: unknown): false {
  if (isRefusedCredential(error)) return false;
  throw error;
}

/** The gateway's keys as paid keys: every credential that the key ring accepts is exempt from the free tier's limit. */
export function gatewayPaidKeys(keyRing: KeyRing): PaidKeys {
  return {
    holds(credential) {
      try {
        const caller = keyRing.identify(credential);
        return caller instanceof Promise ? caller.then(() => true, falseIfRefusedCredential) : true;
      } catch (error) {
        return falseIfRefusedCredential(error);
      }
    },
  };
}

/** Keys that are exempt from the free tier's limit. The prefix of a key selects its ring. */
export function paidKeysOf(rings: { readonly catalog: PaidKeys; readonly gateway: PaidKeys }): PaidKeys {
  return {
    holds: (credential) =>
      (credential.startsWith(CATALOG_KEY_PREFIX) ? rings.catalog : rings.gateway).holds(credential),
  };
}
