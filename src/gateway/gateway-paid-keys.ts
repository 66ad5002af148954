import { Unauthenticated } from '../domain/errors.ts';
import type { PaidKeys } from '../domain/free-tier/paid-keys.ts';
import type { KeyRing } from './key-ring.ts';

function falseIfUnauthenticated(error: unknown): false {
  if (error instanceof Unauthenticated) return false;
  throw error;
}

/** The gateway's keys as paid keys: every virtual key and the admin key are exempt from the free tier's limit. */
export function gatewayPaidKeys(keyRing: KeyRing): PaidKeys {
  return {
    holds(credential) {
      try {
        const caller = keyRing.identify(credential);
        return caller instanceof Promise ? caller.then(() => true, falseIfUnauthenticated) : true;
      } catch (error) {
        return falseIfUnauthenticated(error);
      }
    },
  };
}
