import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Json, tenancyClient } from '../support/tenancy-client.ts';

const { send, key, get } = tenancyClient();

/** Resets the spend of a key. Returns the result, or the code of the request error. */
async function reset(input: object, secret?: string): Promise<unknown> {
  const query = `mutation($input: ResetKeySpendInput!) {
    resetKeySpend(input: $input) { __typename ... on VirtualKey { alias spendUsd } ... on InvalidInputError { message } ... on NotFoundError { message } }
  }`;
  const { body } = await send('POST', '/graphql', { query, variables: { input } }, secret);
  const { data, errors } = body as {
    readonly data?: Json;
    readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
  };
  return errors === undefined ? data?.['resetKeySpend'] : errors[0]?.extensions.code;
}

describe('resetKeySpend', () => {
  it('sets the spend of a key that is given by secret, hash or global id, and writes entries of the audit log', async () => {
    const secret = await key({ key_alias: 'spender', spend: 3, max_budget: 9 });
    const hash = createHash('sha256').update(secret).digest('hex');
    const globalId = Buffer.from(`VirtualKey:${hash}`).toString('base64');
    for (const [keyId, resetToUsd] of [
      [secret, '2.5'],
      [hash, '1'],
      [globalId, '0'],
    ])
      expect(await reset({ key: keyId, resetToUsd })).toEqual({
        __typename: 'VirtualKey',
        alias: 'spender',
        spendUsd: resetToUsd,
      });
    const { body } = await get(`/audit?object_id=${hash}&action=updated&sort_order=asc`);
    const rows = (body['audit_logs'] as readonly Json[]).map((entry) => entry['updated_values'] as Json);
    // The spend of a key is the cost of its calls minus `spent_before`. This key has no calls.
    expect(rows.map((row) => row['spent_before'])).toEqual([-2.5, -1, 0]);
  });

  it('refuses invalid amounts, unknown keys and callers without the right', async () => {
    const secret = await key({ user_id: 'ann', spend: 1 });
    const refused = (message: string) => ({ __typename: 'InvalidInputError', message });
    expect(await reset({ key: secret, resetToUsd: '1.000000000001' })).toEqual(
      refused('reset_to must be <= current spend'),
    );
    expect(await reset({ key: secret, resetToUsd: '-0.1' })).toEqual(refused('reset_to must be >= 0'));
    for (const resetToUsd of ['much', '1e1000', 'NaN'])
      expect(await reset({ key: secret, resetToUsd })).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(await reset({ key: 'x', resetToUsd: '0' })).toEqual(refused('Invalid key format.'));
    expect(await reset({ key: 'f'.repeat(64), resetToUsd: '0' })).toEqual({
      __typename: 'NotFoundError',
      message: 'Key not found.',
    });
    expect(await reset({ key: secret, resetToUsd: '0' }, secret)).toBe('FORBIDDEN');
  });
});
