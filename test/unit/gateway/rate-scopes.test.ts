import { describe, expect, it } from 'vitest';
import { dailyLimitsOf, rateScopesOf } from '../../../src/gateway/admission/rate-limits.ts';
import { mcpLimitsOf } from '../../../src/gateway/mcp/mcp-limits.ts';
import type { McpServer } from '../../../src/domain/mcp-servers/mcp-server.ts';
import { aKey } from '../../support/chat.ts';
import { someOwners } from '../../support/key-owners.ts';

const NAMES = { userId: 'u', teamId: 't' };
const HASH = aKey().hash;

const scopesWith = (metadata: Readonly<Record<string, unknown>>, teamMetadata: Readonly<Record<string, unknown>>) =>
  rateScopesOf(aKey({ ...NAMES, metadata, owners: someOwners({ team: {}, teamMetadata }) }), 'm');

const perKey = (requests?: number, tokens?: number) => ({ scope: 'model_per_key', id: `${HASH}:m`, requests, tokens });
const perTeam = (requests?: number, tokens?: number) => ({ scope: 'model_per_team', id: 't:m', requests, tokens });

describe('limits of a session', () => {
  const metadata = { model_tpm_limit: { m: 5 }, tag_rpm_limit: { x: 3 }, mcp_rpm_limit: { docs: 2 } };
  const session = (openedBy: string) =>
    aKey({
      hash: 'session',
      settings: { maxParallelRequests: 4, tpdLimit: 9, session: { openedBy, needsMembership: false } },
      metadata,
    });
  const server = { id: 'docs', name: 'docs', alias: null, requestsPerMinute: null, maxConcurrentRequests: null };
  const idsOf = (key: ReturnType<typeof session>) =>
    [
      ...rateScopesOf(key, 'm', { tags: ['x'], labels: [] }),
      ...dailyLimitsOf(key, []),
      ...mcpLimitsOf(
        { role: key.role, keyHash: key.hash, key, teamId: null, userId: null },
        server as unknown as McpServer,
      ),
    ].map(({ scope, id }) => `${scope} ${id}`);
  const ids = (hash: string) => [
    `api_key ${hash}`,
    `model_per_key ${hash}:m`,
    `tag_per_key ${hash}:x`,
    `api_key ${hash}`,
    `mcp_per_key ${hash}:docs`,
  ];

  it('are those of the key that opened it', () => {
    expect(idsOf(session('key:opener:secret'))).toEqual(ids('opener'));
  });

  it.each([
    ['with those of the key, in its team', 't', 'opener:m'],
    ['with those of the other sessions in the team, where the key has no team', null, 'opener:t:m'],
  ])('that are those of its team count %s', (_case, teamId, id) => {
    const key = { ...session('key:opener:secret'), ...NAMES, metadata: {} };
    const owners = someOwners({ team: {}, teamMetadata: { model_rpm_limit: { m: 2 } } });
    const facts = { openedBy: 'key:opener:secret', needsMembership: false, opener: { alias: null, teamId } };
    const settings = { ...key.settings, session: facts };
    expect(rateScopesOf({ ...key, owners, settings }, 'm').map((one) => `${one.scope} ${one.id}`)).toEqual([
      'api_key opener',
      `model_per_key ${id}`,
      'model_per_team t:m',
    ]);
  });

  it('are its own for a session of an administrator without a key', () => {
    expect(idsOf(session('admin:x'))).toEqual(ids('session'));
  });
});

describe('limits of a call', () => {
  it('are the limits of the key, its user, team, membership, model and organization, in this order', () => {
    const limits = (rpmLimit: number) => ({ rpmLimit, tpmLimit: rpmLimit * 10, maxParallelRequests: rpmLimit * 100 });
    const key = aKey({
      ...NAMES,
      settings: { rpmLimit: 1, tpmLimit: 10, maxParallelRequests: 100 },
      metadata: { model_rpm_limit: { m: 6 } },
      owners: someOwners({
        user: limits(2),
        team: limits(3),
        member: limits(4),
        organization: limits(5),
        teamMetadata: { model_tpm_limit: { m: 70 } },
      }),
    });
    const scopeWith = (scope: string, id: string, requests: number) => ({
      scope,
      id,
      requests,
      tokens: requests * 10,
      parallel: requests * 100,
    });
    expect(rateScopesOf(key, 'm')).toEqual([
      scopeWith('api_key', HASH, 1),
      scopeWith('user', 'u', 2),
      scopeWith('team', 't', 3),
      scopeWith('team_member', 't:u', 4),
      perKey(6, 70),
      perTeam(undefined, 70),
      scopeWith('organization', 'o', 5),
    ]);
  });

  it('exclude owners without a limit, and include a limit of zero', () => {
    const key = aKey({
      ...NAMES,
      owners: someOwners({ user: {}, team: { rpmLimit: 0 }, member: { maxBudget: null } }),
    });
    expect(rateScopesOf(key, 'm')).toEqual([
      { scope: 'team', id: 't', requests: 0, tokens: undefined, parallel: undefined },
    ]);
    expect(rateScopesOf(null, 'm')).toEqual([]);
    expect(rateScopesOf(aKey(NAMES), 'm')).toEqual([]);
  });
});

describe('limits of a model of a team', () => {
  it('apply to each key and to all keys together, where the key has no limits by model', () => {
    expect(scopesWith({}, { model_rpm_limit: { m: 5 } })).toEqual([perKey(5), perTeam(5)]);
  });

  it('do not apply to a key with its own limit for the model', () => {
    expect(scopesWith({ model_rpm_limit: { m: 9 } }, { model_rpm_limit: { m: 5 } })).toEqual([perKey(9)]);
  });

  it('apply only to all keys together for a key with limits for other models', () => {
    expect(scopesWith({ model_rpm_limit: { other: 9 } }, { model_rpm_limit: { m: 5 } })).toEqual([perTeam(5)]);
  });

  it('are chosen for requests and tokens separately', () => {
    expect(
      scopesWith({ model_rpm_limit: { m: 9 } }, { model_rpm_limit: { m: 5 }, model_tpm_limit: { m: 50 } }),
    ).toEqual([perKey(9, 50), perTeam(undefined, 50)]);
  });

  it('do not apply to other models', () => {
    expect(scopesWith({}, { model_rpm_limit: { other: 5 } })).toEqual([]);
  });
});
