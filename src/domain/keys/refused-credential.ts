import { Forbidden, NotFound, Unauthenticated } from '../errors.ts';

/**
 * Whether an error of a key ring says that the credential does not hold: it is unknown, or its user has left the team, or
 * the team of a token does not exist. Any other error says nothing about it.
 */
export const isRefusedCredential = (error: unknown): boolean =>
  error instanceof Unauthenticated || error instanceof Forbidden || error instanceof NotFound;
