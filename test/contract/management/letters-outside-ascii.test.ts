import { describe, expect, it } from 'vitest';
import { type Json, tenancyClient } from '../../support/tenancy-client.ts';

const { send, get, key, post } = tenancyClient();

describe('a filter by a part of a name', () => {
  it('matches letters outside of ASCII exactly, and ASCII letters in any case', async () => {
    await key({ key_alias: 'Ärzte-Key' });
    await post('/team/new', { team_id: 'doctors', team_alias: 'Ärzte' });
    const aliasesOf = async (part: string): Promise<unknown> => {
      const query = `key_alias=${encodeURIComponent(part)}&substring_matching=true&return_full_object=true`;
      const { body } = await get(`/key/list?${query}`);
      return (body['keys'] as readonly Json[]).map(({ key_alias }) => key_alias);
    };
    expect([await aliasesOf('Ärzte'), await aliasesOf('KEY'), await aliasesOf('Arzt')]).toEqual([
      ['Ärzte-Key'],
      ['Ärzte-Key'],
      [],
    ]);
    const query = '{ part: teams(filter: { alias: "Ärzt" }) { totalCount } all: teams { totalCount } }';
    const { body } = await send('POST', '/graphql', { query });
    expect(body).toEqual({ data: { part: { totalCount: 1 }, all: { totalCount: 1 } } });
  });
});
