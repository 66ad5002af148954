import { describe, expect, it } from 'vitest';
import { type Json, tenancyClient } from '../support/tenancy-client.ts';

const { send, post, key, get } = tenancyClient();

/** Resets the spend of a member. Returns the result, or the code of the request error. */
async function reset(input: object, secret?: string): Promise<unknown> {
  const query = `mutation($input: ResetMemberSpendInput!) {
    resetMemberSpend(input: $input) { __typename ... on TeamMember { userId spendUsd } }
  }`;
  const { body } = await send('POST', '/graphql', { query, variables: { input } }, secret);
  const { data, errors } = body as {
    readonly data?: Json;
    readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
  };
  return errors === undefined ? data?.['resetMemberSpend'] : errors[0]?.extensions.code;
}

const globalId = (type: string, id: string): string => Buffer.from(`${type}:${id}`).toString('base64');

const createTeam = (id: string, members: Readonly<Record<string, 'admin' | 'user'>>) =>
  post('/team/new', {
    team_id: id,
    members_with_roles: Object.entries(members).map(([user_id, role]) => ({ user_id, role })),
  });

describe('resetMemberSpend', () => {
  it('sets a spend to zero for proxy and team administrators, and writes entries of the audit log', async () => {
    await createTeam('s1', { sam: 'user', lea: 'admin' });
    const request = { id: globalId('Team', 's1'), userId: globalId('User', 'sam'), resetToUsd: '0' };
    const member = { __typename: 'TeamMember', userId: 'sam', spendUsd: '0' };
    expect(await reset(request)).toEqual(member);
    expect(await reset(request, await key({ user_id: 'lea' }))).toEqual(member);
    const { body } = await get('/audit?table_name=LiteLLM_TeamMembership&action=updated');
    const rows = (body['audit_logs'] as readonly Json[]).map((entry) => entry['updated_values'] as Json);
    // The member has made no calls, so that 0 USD are reset to 0 USD each time.
    expect(rows.map((row) => [row['user_id'], row['spent_before']])).toEqual([
      ['sam', 0],
      ['sam', 0],
    ]);
  });

  it('is refused for the own spend of a team administrator, other callers, invalid amounts and unknown members', async () => {
    await createTeam('s2', { tom: 'admin' });
    const request = { id: 's2', userId: 'tom', resetToUsd: '0' };
    for (const otherKey of [await key({ user_id: 'tom' }), await key({ user_id: 'eve' })])
      expect(await reset(request, otherKey)).toBe('FORBIDDEN');
    // A reset sets the spend to an amount from 0 to the current spend, which is 0 here.
    for (const resetToUsd of ['1', '-1'])
      expect(await reset({ ...request, resetToUsd })).toEqual({ __typename: 'InvalidInputError' });
    for (const resetToUsd of ['much', '1e1000'])
      expect(await reset({ ...request, resetToUsd })).toBe('GRAPHQL_VALIDATION_FAILED');
    for (const unknown of [{ userId: 'nobody' }, { id: 'none' }])
      expect(await reset({ ...request, ...unknown })).toEqual({ __typename: 'NotFoundError' });
  });
});
