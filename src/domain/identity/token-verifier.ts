import type { JsonObject } from '../json-object.ts';

/** Claims of a token whose signature, issuer, audience and times are valid. */
export interface VerifiedToken {
  readonly claims: JsonObject;
  /** The token is valid before this time. */
  readonly expiresAt: Date;
}

/** Verifies signed tokens of other issuers (RFC 7519). */
export interface TokenVerifier {
  /**
   * Throws Unauthenticated for a token that is not valid, and Unavailable when the keys of the issuer cannot be read.
   * No message repeats the token.
   */
  verify(token: string): Promise<VerifiedToken>;
}
