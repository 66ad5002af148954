import { expect, it } from 'vitest';
import { closeDeleted } from '../../../resolvers/operation/background-responses.ts';
import type { ResponsePlatform } from '../../../resolvers/operation/platform.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { currentState } from '../../../resolvers/operation/upstream-objects.ts';
import { UpstreamFailed } from '../../../src/domain/errors.ts';
import { GET_RESPONSE } from '../../../src/domain/upstream-objects/object-action.ts';
import { withPendingUsage } from '../../../src/domain/upstream-objects/pending-usage.ts';
import type { UpstreamObject } from '../../../src/domain/upstream-objects/upstream-object.ts';
import { aCaller, aDeployment } from '../../support/chat.ts';

const DEPLOYMENT = aDeployment();
const SHOWN = { id: 'resp_up', object: 'response', status: 'queued' };
const rowWith = (shown: UpstreamObject['shown']): UpstreamObject => ({
  id: 'resp_1',
  kind: 'response',
  deploymentId: DEPLOYMENT.id,
  upstreamId: 'resp_up',
  owner: { teamId: null, keyHash: 'k' },
  createdAt: new Date(0),
  purpose: null,
  shown,
});

/** A platform with one row, whose upstream answers each read with 404. `saved` has the stored states. */
function aPlatform(row: UpstreamObject) {
  const saved: unknown[] = [];
  const failure = new UpstreamFailed('gone', { provider: 'openai', upstreamStatus: 404 });
  const platform = {
    stores: {
      upstreamObjects: {
        findAtUpstream: () => Promise.resolve([row]),
        saveState: (_id: string, shown: unknown) => Promise.resolve(void saved.push(shown)),
      },
    },
    objectQueue: { caughtUp: () => Promise.resolve() },
    gateway: { deployment: () => DEPLOYMENT, pass: () => Promise.reject(failure) },
    records: { spendStored: () => Promise.resolve(true) },
    clock: { now: () => new Date(1_000) },
  };
  const scope = { platform, caller: aCaller(), signal: new AbortController().signal };
  return { saved, scope: scope as unknown as Scope<ResponsePlatform> };
}

it.each([
  ['queued', SHOWN],
  ['completed, with a pending usage', withPendingUsage({ ...SHOWN, status: 'completed' }, 1_000)],
])('a background response that its upstream no longer has gets a final status: %s', async (_name, shown) => {
  const expired = { ...SHOWN, status: 'expired' };
  const read = aPlatform(rowWith(shown));
  expect(await currentState(read.scope as never, rowWith(shown), GET_RESPONSE)).toEqual(expired);
  expect(read.saved).toEqual([expired]);
  const deleted = aPlatform(rowWith(shown));
  await closeDeleted(deleted.scope, rowWith(shown));
  expect(deleted.saved).toEqual([expired]);
});
