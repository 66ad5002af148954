import { describe, expect, it } from 'vitest';
import { followBatches } from '../../../resolvers/batches.ts';
import { createProviderObject } from '../../../resolvers/provider-objects.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { streamOfBytes } from '../../../src/domain/bytes.ts';
import { Unavailable } from '../../../src/domain/errors.ts';
import type { EndedBatch, UnchargedBatch } from '../../../src/domain/upstream-objects/batch-use.ts';
import {
  OBJECT_MEMBERS,
  type ObjectPage,
  type OpenPage,
  type UpstreamObject,
} from '../../../src/domain/upstream-objects/upstream-object.ts';
import type { PassThrough } from '../../../src/domain/upstream-objects/pass-through.ts';
import { SystemCaller } from '../../../src/domain/system-caller.ts';
import { NO_OPEN_COSTS } from '../../support/no-open-costs.ts';
import { aCaller, aDeployment } from '../../support/chat.ts';
import { settledCall } from '../../support/settled-call.ts';

const DEPLOYMENT = aDeployment();
const OWNER = { teamId: null, keyHash: aCaller().keyHash };
const anObject = (more: Partial<UpstreamObject>): UpstreamObject => ({
  id: 'file-1',
  kind: 'file',
  deploymentId: DEPLOYMENT.id,
  upstreamId: 'up-file',
  owner: OWNER,
  createdAt: new Date(0),
  purpose: 'fine-tune',
  shown: null,
  ...more,
});

/** A scope over a store with `objects` that refuses new ones. The upstream answers with `state`. */
function aSetup(objects: readonly UpstreamObject[], state: object = {}, nowMs = 5_000) {
  const upstreamRequests: string[] = [];
  const recorded: EndedBatch[] = [];
  const uncharged: string[] = [];
  const saved: string[] = [];
  const states: object[] = [];
  const gateway = {
    placeFor: () => ({ deployment: DEPLOYMENT, model: 'm' }),
    deployment: () => DEPLOYMENT,
    deploymentsAt: (id: string) => [id],
    upstreamModelAt: () => 'up-model',
    lineGuardrails: () => () => [],
    openCosts: NO_OPEN_COSTS,
    recordUncharged: ({ id, reason }: UnchargedBatch) => void uncharged.push(`${id}: ${reason}`),
    recordBatch: async (batch: EndedBatch) => void recorded.push(batch),
    pass: (_caller: unknown, _deployment: unknown, { action, path }: PassThrough) => {
      upstreamRequests.push(`${action.method} ${path}`);
      const body = Buffer.from(JSON.stringify({ id: 'up-1', object: OBJECT_MEMBERS[action.kind], ...state }));
      const answer = { bytes: streamOfBytes(body), deltas: () => [][Symbol.iterator]() as never };
      return Promise.resolve(settledCall(answer, () => {}));
    },
  };
  const upstreamObjects = {
    add: () => Promise.reject(new Unavailable('The database is unavailable.')),
    find: (id: string) => Promise.resolve(objects.find((one) => one.id === id) ?? null),
    findAtUpstream: () => Promise.resolve([]),
    list: (_visibility: unknown, { kind }: ObjectPage) => Promise.resolve(objects.filter((one) => one.kind === kind)),
    listOpen: ({ kinds }: OpenPage) => Promise.resolve(objects.filter((one) => kinds.includes(one.kind))),
    async saveState(id: string, shown: object) {
      saved.push(id);
      states.push(shown);
    },
  };
  const platform = {
    gateway,
    stores: { upstreamObjects },
    fileLimits: { file: null, batchFile: null },
    objectQueue: { caughtUp: () => Promise.resolve() },
    ids: { uuid: () => 'a-b' },
    clock: { now: () => new Date(nowMs) },
    records: { spendStored: () => Promise.resolve(true) },
    vectorStores: { list: () => [] },
    vectorStoreIndexes: { list: () => [] },
    customerPermissions: { of: () => null },
    configuration: {},
  };
  const signal = new AbortController().signal;
  const scopeOf = (caller: unknown): Scope => ({ platform, caller, signal }) as unknown as Scope;
  return { scopeOf, upstreamRequests, recorded, uncharged, saved, states };
}

it.each([
  ['container', {}, ['POST /containers', 'DELETE /containers/up-1']],
  [
    'fine_tuning_job',
    { model: 'm', training_file: 'file-1' },
    ['POST /fine_tuning/jobs', 'POST /fine_tuning/jobs/up-1/cancel'],
  ],
  ['eval', { data_source_config: { type: 'custom' } }, ['POST /evals', 'DELETE /evals/up-1']],
] as const)('a %s whose owner cannot be stored is ended at the upstream', async (kind, fields, requests) => {
  const { scopeOf, upstreamRequests } = aSetup([anObject({})]);
  const bytes = Buffer.from(JSON.stringify(fields));
  const named = { model: null, provider: null, parentId: null, callId: null, parent: null };
  const draft = { kind, fields, bytes, gatewayMembers: [], ...named };
  await expect(createProviderObject(scopeOf(aCaller()), draft)).rejects.toThrow('The database is unavailable.');
  expect(upstreamRequests).toEqual(requests);
});

it('the usage of a run that has ended is recorded, although no client reads the run', async () => {
  const run = anObject({
    id: 'evalrun_1',
    kind: 'eval_run',
    upstreamId: 'up-run',
    purpose: 'eval_1',
    shown: { id: 'up-run', eval_id: 'up-eval', status: 'queued' },
    calls: { m: { requests: 0, tokens: 0 } },
  });
  const used = { model_name: 'up-model', invocation_count: 1, prompt_tokens: 5, completion_tokens: 2 };
  const state = { eval_id: 'up-eval', status: 'completed', per_model_usage: [used] };
  const { scopeOf, upstreamRequests, recorded, saved } = aSetup([run], state);
  await followBatches(scopeOf(new SystemCaller('batch-polling')), undefined);
  expect([upstreamRequests, saved]).toEqual([['GET /evals/up-eval/runs/up-run'], ['evalrun_1']]);
  const usage = { inputTokens: 5, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  expect(recorded).toEqual([
    {
      kind: 'eval_run',
      id: 'evalrun_1',
      owner: OWNER,
      createdAt: new Date(0),
      calls: { m: { requests: 0, tokens: 0 } },
      deployment: DEPLOYMENT,
      uses: [{ model: 'up-model', usage }],
      endedAt: new Date(5_000),
    },
  ]);
});

describe('a run that has ended without a reported usage', () => {
  const at = (seconds: number | null): UpstreamObject =>
    anObject({
      id: 'evalrun_1',
      kind: 'eval_run',
      upstreamId: 'up-run',
      purpose: 'eval_1',
      shown: {
        id: 'up-run',
        eval_id: 'up-eval',
        status: seconds === null ? 'in_progress' : 'canceled',
        ...(seconds === null ? {} : { lensgate_ended_at: seconds }),
      },
    });
  const state = { eval_id: 'up-eval', status: 'canceled', per_model_usage: null };
  const used = { model_name: 'up-model', invocation_count: 1, prompt_tokens: 5, completion_tokens: 2 };
  const follow = async (seconds: number | null, more: object = {}, nowMs = 5_000) => {
    const setup = aSetup([at(seconds)], { ...state, ...more }, nowMs);
    await followBatches(setup.scopeOf(new SystemCaller('batch-polling')), undefined);
    return setup;
  };

  it('stays open, and is read again', async () => {
    const pending = { id: 'up-1', object: 'eval.run', ...state, lensgate_ended_at: 5 };
    expect((await follow(null)).states).toEqual([pending]);
    expect((await follow(2)).states).toEqual([{ ...pending, lensgate_ended_at: 2 }]);
  });

  it('stays open where the list of its usage is empty although it has results', async () => {
    const more = { per_model_usage: [], result_counts: { total: 3 } };
    expect((await follow(2, more)).states).toMatchObject([{ lensgate_ended_at: 2 }]);
    const none = await follow(2, { per_model_usage: [], result_counts: { total: 0 } });
    expect(none.states[0]).not.toHaveProperty('lensgate_ended_at');
  });

  it('is recorded, from its end on, when its usage is known', async () => {
    const { recorded, states } = await follow(2, { per_model_usage: [used] });
    expect(recorded.map(({ endedAt }) => endedAt)).toEqual([new Date(2_000)]);
    expect(states[0]).not.toHaveProperty('lensgate_ended_at');
  });

  it('is closed without a charge after a day', async () => {
    const { recorded, uncharged, states } = await follow(2, {}, 2_000 + 86_400_001);
    expect([recorded, uncharged]).toEqual([[], ['evalrun_1: no usage']]);
    expect(states[0]).not.toHaveProperty('lensgate_ended_at');
  });
});
