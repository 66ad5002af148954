import { describe, expect, it } from 'vitest';
import { DEFAULT_RULES, type IssuerSetting } from '../../../src/runtime/settings/token-rules-kind.ts';
import { tokensOf } from '../../../src/runtime/settings/tokens.ts';

/** Warnings of settings for tokens. */
function warningsOf(audiences: readonly string[], issuers: readonly IssuerSetting[]): readonly string[] {
  const warnings: string[] = [];
  const values = {
    acceptsTokens: true,
    tokenRules: { ...DEFAULT_RULES, issuers },
    tokenKeyUrls: ['https://id.test/keys'],
    tokenIssuers: ['https://id.test'],
    tokenAudiences: audiences,
  };
  const read = { values, refuse: () => {} } as unknown as Parameters<typeof tokensOf>[0];
  tokensOf(read, (text) => warnings.push(text));
  return warnings;
}

const OTHER = { issuer: 'https://other.test', keySetUrl: 'https://other.test/keys', audiences: [] };
const UNSET = 'JWT_AUDIENCE is not set: tokens that an issuer made for other services are accepted.';
const NO_AUDIENCE =
  'litellm_jwtauth.issuers: https://other.test has no audience: its tokens for other services are accepted.';

describe('a warning about a missing audience', () => {
  it('names the variable, the further issuer, or both', () => {
    expect(warningsOf(['lensgate'], [])).toEqual([]);
    expect(warningsOf([], [{ ...OTHER, audiences: ['lensgate'] }])).toEqual([UNSET]);
    expect(warningsOf(['lensgate'], [OTHER])).toEqual([NO_AUDIENCE]);
    expect(warningsOf([], [OTHER])).toEqual([UNSET, NO_AUDIENCE]);
  });
});
