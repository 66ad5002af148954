import { decodeJwt, errors, jwtVerify } from 'jose';
import type { Clock } from '../../domain/clock.ts';
import { DomainError, Unauthenticated } from '../../domain/errors.ts';
import type { TokenVerifier } from '../../domain/identity/token-verifier.ts';
import type { KeySets } from './key-sets.ts';

/** Accepted signature algorithms. Shared secrets and unsigned tokens are not accepted. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Difference of clocks that is tolerated, in seconds. */
const LEEWAY_SECONDS = 30;

/** A verifier of JSON Web Tokens. Issuer and audience are checked where they are configured. */
export function createTokenVerifier(options: {
  readonly keys: KeySets;
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly clock: Pick<Clock, 'now'>;
}): TokenVerifier {
  const { keys, issuers, audiences, clock } = options;
  return {
    async verify(token) {
      const now = clock.now();
      try {
        const { payload } = await jwtVerify(token, keys.keyFor, {
          algorithms: ALGORITHMS,
          clockTolerance: LEEWAY_SECONDS,
          currentDate: now,
          requiredClaims: ['exp'],
          ...(issuers.length === 0 ? {} : { issuer: [...issuers] }),
          ...(audiences.length === 0 ? {} : { audience: [...audiences] }),
        });
        const { exp = 0, iat } = payload;
        if (iat !== undefined && iat > now.getTime() / 1000 + LEEWAY_SECONDS)
          throw invalid('it was issued in the future');
        return { claims: payload, expiresAt: new Date((exp + LEEWAY_SECONDS) * 1000) };
      } catch (error) {
        throw refusalOf(error);
      }
    },
  };
}

/**
 * Selects the verifier by the unchecked issuer of a token. The verifier then checks the token. `otherwise` verifies
 * tokens of other issuers. Throws Unauthenticated for a malformed token.
 */
export function verifierByIssuer(
  verifiers: ReadonlyMap<string, TokenVerifier>,
  otherwise: TokenVerifier,
): TokenVerifier {
  return {
    async verify(token) {
      let issuer: unknown;
      try {
        issuer = decodeJwt(token).iss;
      } catch (error) {
        throw refusalOf(error);
      }
      return (verifiers.get(String(issuer)) ?? otherwise).verify(token);
    },
  };
}

const invalid = (reason: string, cause?: unknown): Unauthenticated =>
  new Unauthenticated(`Validation fails: ${reason}.`, 'malformed', { cause });

/** Error for a refused token. Its message does not contain the token. */
function refusalOf(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  if (error instanceof errors.JWTExpired) return new Unauthenticated('Token Expired', 'expired');
  if (error instanceof errors.JWTClaimValidationFailed) return invalid(claimFault(error.claim, error.reason));
  if (error instanceof errors.JOSEAlgNotAllowed) return invalid('its algorithm is not one of a public key');
  if (error instanceof errors.JWKSNoMatchingKey) return invalid('no key of the issuer has signed it');
  if (error instanceof errors.JWKSMultipleMatchingKeys) return invalid('several keys fit, and it names none');
  if (error instanceof errors.JWSSignatureVerificationFailed) return invalid('its signature is wrong');
  if (error instanceof errors.JOSEError) return invalid('it is malformed, or its algorithm is not supported');
  return invalid('it cannot be checked with the keys of the issuer', error);
}

const CLAIM_FAULTS: Readonly<Record<string, string>> = {
  aud: 'its audience is another',
  iss: 'its issuer is another',
  nbf: 'it is not valid yet',
  exp: 'its expiry is not a time',
};

function claimFault(claim: string, reason: string): string {
  const name = Object.hasOwn(CLAIM_FAULTS, claim) ? claim : 'unknown';
  if (reason === 'missing') return `its claim '${name}' is missing`;
  return CLAIM_FAULTS[claim] ?? `its claim '${name}' is invalid`;
}
