import { flag, list } from '../kinds.ts';
import { setting } from '../setting.ts';
import { tokenRules } from '../token-rules-kind.ts';

const addressFault = (item: string): string | null =>
  /^https?:\/\/[^\s]+$/i.test(item) ? null : 'an address is not http(s)';

/** Signed tokens of other issuers. */
export const TOKEN_SETTINGS = {
  acceptsTokens: setting({
    kind: flag(),
    default: false,
    file: 'general_settings.enable_jwt_auth',
    description:
      'Accepts signed tokens (JWT) of other issuers in place of keys. Needs `JWT_PUBLIC_KEY_URL` or `issuers` of `litellm_jwtauth`.',
  }),
  tokenKeyUrls: setting({
    kind: list('http(s) addresses', addressFault),
    default: [],
    env: ['JWT_PUBLIC_KEY_URL'],
    description:
      'Addresses of the key sets (JWKS) of the issuers, or of their OpenID discovery documents, separated by commas.',
  }),
  tokenAudiences: setting({
    kind: list('texts', () => null),
    default: [],
    env: ['JWT_AUDIENCE'],
    description: 'Audiences of which a token must have one. When empty, every audience is accepted.',
  }),
  tokenIssuers: setting({
    kind: list('texts', () => null),
    default: [],
    env: ['JWT_ISSUER'],
    description:
      'Issuers of which a token must have one. When empty, every issuer with a key in the key sets is accepted.',
  }),
  tokenRules: setting({
    kind: tokenRules(),
    default: null,
    file: 'general_settings.litellm_jwtauth',
    description: 'Claims that name user, team, organization, end user and role of a token. See [tokens.md](tokens.md).',
  }),
} as const;
