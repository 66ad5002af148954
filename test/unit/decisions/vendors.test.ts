import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { DECISION_VENDORS } from '../../../src/providers/decisions/vendors.ts';
import { aDeployment } from '../../support/chat.ts';

describe('the address of a decision model of Cloudflare', () => {
  const addressOf = (upstreamModel: string): string =>
    DECISION_VENDORS.cloudflare.url(
      aDeployment({ provider: 'cloudflare', apiBase: null, options: { account_id: 'a1' }, upstreamModel }),
    );

  it.each([
    ['clef-1.0', '@cf/cloudflare/clef-1.0'],
    ['@cf/meta/llama-3.1-8b', '@cf/meta/llama-3.1-8b'],
  ])('has the path of the model %s below the account', (model, path) => {
    expect(addressOf(model)).toBe(`https://api.cloudflare.com/client/v4/accounts/a1/ai/run/${path}`);
  });

  it.each(['../x', '@cf/../../../../a2/ai/run/x', '@cf/a/..', 'a?b', 'a#b', 'a%2e%2e', 'a//b', '@cf/', '.hidden', ''])(
    'is refused for %j',
    (model) => {
      expect(() => addressOf(model)).toThrow(InvalidInput);
    },
  );
});
