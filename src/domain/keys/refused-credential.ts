import { Forbidden, NotFound, Unauthenticated } from '../errors.ts';

/**
 * Whether an error of a key ring means that the credential is invalid: it is unknown, its user has left the team, or the team of a
 * token does not exist. Other errors do not decide this.
 */
export const isRefusedCredential = (error: unknown): boolean =>
  error instanceof Unauthenticated || error instanceof Forbidden || error instanceof NotFound;
