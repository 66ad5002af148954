import { expect, it } from 'vitest';
import { type CallLabels, END_USER } from '../../../src/domain/calls/call-labels.ts';
import type { PassThrough } from '../../../src/domain/upstream-objects/pass-through.ts';
import type { Forwarded } from '../../../src/domain/pass-through/forwarded.ts';
import { withTokenCalls } from '../../../src/gateway/calls/token-calls.ts';
import { storeObject } from '../../../resolvers/operation/upstream-objects.ts';
import { aCaller, aDeployment, aKey, aModelRequest } from '../../support/chat.ts';
import { NO_OPEN_COSTS } from '../../support/no-open-costs.ts';

const CALLER = aCaller(aKey({ token: { endUserId: 'customer', hasRole: false, otherTeams: [] } }));
const { signal } = new AbortController();
const REQUEST_LABELS = { [END_USER]: 'another', 'session.id': 's' };
const CALL_LABELS = { [END_USER]: 'customer', 'session.id': 's' };

/** A gateway that rejects each call, and the labels that it received. */
function aGateway() {
  const received: unknown[] = [];
  const reject = (request: { readonly labels?: CallLabels }) => {
    received.push(request.labels);
    return Promise.reject(new Error('No upstream.'));
  };
  const gateway: Parameters<typeof withTokenCalls>[0] = {
    call: (_caller, request) => reject(request),
    admit: (_caller, request) => reject(request),
    admitKey: async () => {},
    pass: (_caller, _deployment, request) => reject(request),
    forward: (_caller, request) => reject(request),
    unpriced: () => new Map(),
    countTokens: (_caller, request) => reject(request),
    preview: (_caller, request) => reject(request),
    realtime: {
      open: (_caller, request) => reject(request),
      runChecks() {},
      count: () => 0,
      ended: async () => {},
      endAll() {},
    },
    deployments: () => [],
    healthOf: () => {
      throw new Error('No deployment.');
    },
  };
  return { gateway: withTokenCalls(gateway), received };
}

type Gateway = ReturnType<typeof aGateway>['gateway'];

it.each<[string, (gateway: Gateway) => Promise<unknown>]>([
  ['a call', (gateway) => gateway.call(CALLER, aModelRequest(undefined, { labels: REQUEST_LABELS }), signal)],
  [
    'a realtime session',
    (gateway) =>
      gateway.realtime.open(
        CALLER,
        { model: 'm', intent: null, headers: {}, callId: null, parent: null, labels: REQUEST_LABELS },
        { signal, identify: () => CALLER },
      ),
  ],
  [
    'a call about a stored object',
    (gateway) => gateway.pass(CALLER, aDeployment(), { labels: REQUEST_LABELS } as unknown as PassThrough, signal),
  ],
  [
    'a forwarded call',
    (gateway) => gateway.forward(CALLER, { labels: REQUEST_LABELS } as unknown as Forwarded, signal),
  ],
])('%s has the customer of its token as its end user', async (_, send) => {
  const { gateway, received } = aGateway();
  await expect(send(gateway)).rejects.toThrow('No upstream.');
  expect(received).toEqual([CALL_LABELS]);
});

it('a stored batch has the customer of its token as its end user', async () => {
  const scope = {
    caller: CALLER,
    platform: {
      stores: { upstreamObjects: { add: async () => {} } },
      gateway: { openCosts: NO_OPEN_COSTS },
      ids: { uuid: () => '0'.repeat(32) },
      clock: { now: () => new Date(0) },
    },
  };
  const { labels } = await storeObject(
    scope as unknown as Parameters<typeof storeObject>[0],
    { action: { kind: 'batch' }, place: { deployment: aDeployment(), model: 'm' } } as Parameters<
      typeof storeObject
    >[1],
    { id: 'batch_1', shown: {} } as Parameters<typeof storeObject>[2],
    { labels: REQUEST_LABELS, undo: async () => {} },
  );
  expect(labels).toEqual(CALL_LABELS);
});
