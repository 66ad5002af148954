import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyGenerator } from '../../../src/runtime/identifiers.ts';
import { traceRefOf } from '../../support/memory-trace-store.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import {
  statusAndBody,
  as,
  makeKey,
  otlpExport,
  otlpSpan,
  refFor,
  send,
  TRACE_ID,
  WINDOW,
  workedExample,
} from './trace-client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

interface Listed {
  readonly data: readonly { readonly trace_id: string; readonly trace_ref: string }[];
}
const refsOf = async (key: string) => {
  const [, list] = await statusAndBody(app.call('GET', `/v1/traces?${WINDOW}`, undefined, as(key)));
  return (list as Listed).data.filter((trace) => trace.trace_id === TRACE_ID).map((trace) => trace.trace_ref);
};

describe('traces.list 200: the owner of a trace', () => {
  it('administrators see two traces if two teams sent the same id, and each team sees its own', async () => {
    const [firstKey, secondKey] = [
      await makeKey(app, { team_id: 'team-1' }),
      await makeKey(app, { team_id: 'team-2' }),
    ];
    const viewer = await makeKey(app, { user_role: 'proxy_admin_viewer' });
    for (const key of [firstKey, secondKey]) expect((await send(app, workedExample, as(key))).status).toBe(200);
    const refs = [refFor(firstKey, 'team-1'), refFor(secondKey, 'team-2')];
    expect(new Set(refs).size).toBe(2);
    expect([await refsOf(firstKey), await refsOf(secondKey)]).toEqual([[refs[0]], [refs[1]]]);
    for (const admin of [app.adminKey, viewer]) expect((await refsOf(admin)).toSorted()).toEqual(refs.toSorted());
  });

  it('administrators see all three owners of a merged trace, and each key sees one owner', async () => {
    const traceId = '9'.repeat(32);
    const teams = ['team-m', 'team-n', null];
    const keys = await Promise.all(teams.map((team_id) => makeKey(app, team_id === null ? {} : { team_id })));
    const exported = otlpExport(otlpSpan('1', 0, 1, {}, { traceId, name: 'run' }));
    for (const key of keys) expect((await send(app, exported, as(key))).status).toBe(200);
    const owners = keys.map((key, index) => {
      const owner = { teamId: teams[index] ?? null, keyHash: keyGenerator.hash(key) };
      return { traceRef: traceRefOf(owner, traceId), ...owner };
    });
    const [teamM, teamN, withoutTeam] = owners;
    const query = `{ trace(id: "${traceId}") { teamId keyHash team { teamId } owners { traceRef teamId keyHash } } }`;
    const inGraph = async (key: string) => {
      const [, answer] = await statusAndBody(app.call('POST', '/graphql', { query }, as(key)));
      return (answer as { readonly data: { readonly trace: unknown } }).data.trace;
    };
    const inRest = async (key: string, search = '') => {
      const [, answer] = await statusAndBody(app.call('GET', `/v1/traces/${traceId}${search}`, undefined, as(key)));
      return (answer as { readonly summary: { readonly owners?: unknown } }).summary.owners;
    };
    const viewer = await makeKey(app, { user_role: 'proxy_admin_viewer' });
    // Owners are sorted by team. An owner without a team is first.
    for (const admin of [app.adminKey, viewer]) {
      expect(await inGraph(admin)).toEqual({
        teamId: null,
        keyHash: null,
        team: null,
        owners: [withoutTeam, teamM, teamN],
      });
      const ownerRows = [withoutTeam, teamM, teamN].map((owner) => ({
        trace_ref: owner?.traceRef,
        team_id: owner?.teamId,
        api_key_hash: owner?.keyHash,
      }));
      expect(await inRest(admin)).toEqual(ownerRows);
      expect(await inRest(admin, '?page_size=1')).toEqual(ownerRows);
      expect(await inRest(admin, `?trace_ref=${teamM?.traceRef}`)).toBeUndefined();
    }
    for (const [index, key] of keys.entries()) {
      const { teamId, keyHash } = owners[index] ?? { teamId: null, keyHash: null };
      const team = teamId === null ? null : { teamId };
      expect(await inGraph(key)).toEqual({ teamId, keyHash, team, owners: [owners[index]] });
      expect(await inRest(key)).toBeUndefined();
    }
  });

  it('is never taken from attributes of the trace', async () => {
    const key = await makeKey(app, { team_id: 'team-3' });
    const [resourceSpans] = otlpExport(otlpSpan('1', 0, 1, {}, { traceId: '8'.repeat(32) })).resourceSpans;
    const attributes = ['team_id', 'api_key_hash', 'org_id', 'user_id'].map((name) => ({
      key: `litellm.${name}`,
      value: { stringValue: 'team-1' },
    }));
    await send(app, { resourceSpans: [{ ...resourceSpans, resource: { attributes } }] }, as(key));
    const query = `{ span(traceId: "${'8'.repeat(32)}", spanId: "${'1'.repeat(16)}") { resourceAttributes } trace(id: "${'8'.repeat(32)}") { teamId keyHash } }`;
    const [, graphAnswer] = await statusAndBody(app.call('POST', '/graphql', { query }, as(key)));
    const { data } = graphAnswer as { readonly data: { readonly trace: { readonly keyHash: string } } };
    expect(data).toEqual({
      span: {
        resourceAttributes: {
          'litellm.team_id': 'team-3',
          'litellm.api_key_hash': data.trace.keyHash,
          'litellm.org_id': '',
          'litellm.user_id': '',
        },
      },
      trace: { teamId: 'team-3', keyHash: expect.stringMatching(/^[\da-f]{64}$/) },
    });
  });
});
