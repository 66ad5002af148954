import { OauthFailure } from '../../../src/domain/command-line-sessions/oauth-failure.ts';
import {
  type DomainError,
  Forbidden,
  InvalidInput,
  LimitExceeded,
  TooLarge,
  Unauthenticated,
  Unavailable,
} from '../../../src/domain/errors.ts';
import { SignInRefused } from '../../../src/domain/users/sign-in.ts';

/** Headers of answers with codes and tokens, and of their failures (RFC 6749, section 5.1). */
export const OAUTH_HEADERS: Readonly<Record<string, string>> = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** Whether a failure has the form of RFC 6749. Invalid parameters have the form of the surface. */
export const hasOauthForm = (error: DomainError): boolean =>
  !(error instanceof InvalidInput) || error.issues.length === 0;

function codeOf(error: DomainError): string {
  if (error instanceof OauthFailure) return error.fault;
  if (error instanceof SignInRefused || error instanceof Forbidden) return 'access_denied';
  if (error instanceof Unauthenticated) return 'invalid_client';
  if (error instanceof LimitExceeded || error instanceof Unavailable) return 'temporarily_unavailable';
  return error instanceof InvalidInput || error instanceof TooLarge ? 'invalid_request' : 'server_error';
}

export const oauthBody = (error: DomainError) => ({ error: codeOf(error), error_description: error.message });
