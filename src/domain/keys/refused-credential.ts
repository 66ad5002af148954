import { Forbidden, NotFound, Unauthenticated } from '../errors.ts';

/**
 * Whether an error of a key ring means that the credential is refused, for example because it is unknown, expired or
 * blocked. Other errors, such as those of the store, do not decide this.
 */
export const isRefusedCredential = (error: unknown): boolean =>
  error instanceof Unauthenticated || error instanceof Forbidden || error instanceof NotFound;
