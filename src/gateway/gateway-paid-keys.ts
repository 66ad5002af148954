import { Unauthenticated } from '../domain/errors.ts';
import type { PaidKeys } from '../domain/free-tier/paid-keys.ts';
import type { KeyRing } from './key-ring.ts';

function refuted(error: unknown): false {
  if (error instanceof Unauthenticated) return false;
  throw error;
}

/** Every key of the gateway, virtual or the admin's, lifts the free tier's limit. */
export function gatewayPaidKeys(keyRing: KeyRing): PaidKeys {
  return {
    holds(credential) {
      try {
        const caller = keyRing.identify(credential);
        return caller instanceof Promise ? caller.then(() => true, refuted) : true;
      } catch (error) {
        return refuted(error);
      }
    },
  };
}
