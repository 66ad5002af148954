import type { TokenRules } from '../../domain/identity/token-rules.ts';
import { DEFAULT_RULES, type IssuerSetting } from './token-rules-kind.ts';
import type { SettingsRead } from './values.ts';

/** Settings of signed tokens (JWT) of external issuers. */
export interface TokenSettings {
  readonly keySetUrls: readonly string[];
  /** Age in seconds at which a key set is read again. */
  readonly keySetSeconds: number;
  /** Accepted issuers of tokens that keys of `keySetUrls` signed. Empty accepts all. */
  readonly issuers: readonly string[];
  /** Accepted audiences of the same tokens. Empty accepts all. */
  readonly audiences: readonly string[];
  readonly rules: TokenRules;
  /** Further issuers, whose tokens are checked with their own keys and audiences. */
  readonly others: readonly IssuerSetting[];
}

/** Settings of tokens; null where none are accepted. */
export function tokensOf({ values, refuse }: SettingsRead, warn: (text: string) => void): TokenSettings | null {
  if (!values.acceptsTokens) return null;
  const { keySetSeconds, issuers: others, ...rules } = values.tokenRules ?? DEFAULT_RULES;
  const { tokenKeyUrls, tokenIssuers, tokenAudiences } = values;
  if (tokenKeyUrls.length === 0 && others.length === 0)
    refuse('acceptsTokens', 'needs the variable JWT_PUBLIC_KEY_URL, or litellm_jwtauth.issuers');
  if (tokenKeyUrls.length > 0 && tokenAudiences.length === 0)
    warn('JWT_AUDIENCE is not set: tokens that an issuer made for other services are accepted.');
  for (const { issuer, audiences } of others)
    if (audiences.length === 0)
      warn(`litellm_jwtauth.issuers: ${issuer} has no audience: its tokens for other services are accepted.`);
  if (tokenKeyUrls.length > 1 && tokenIssuers.length === 0)
    warn(
      'JWT_ISSUER is not set: the keys of each address in JWT_PUBLIC_KEY_URL are accepted for tokens of every issuer.',
    );
  return { keySetUrls: tokenKeyUrls, keySetSeconds, issuers: tokenIssuers, audiences: tokenAudiences, rules, others };
}
