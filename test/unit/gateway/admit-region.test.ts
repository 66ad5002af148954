import { expect, it } from 'vitest';
import { callLabels } from '../../../src/domain/calls/call-labels.ts';
import { fixedDeployments } from '../../../src/domain/deployments/deployment-source.ts';
import { NO_LIMITS } from '../../../src/domain/budgets/limits.ts';
import { ZERO_USD } from '../../../src/domain/money.ts';
import { createGateway } from '../../../src/gateway/create-gateway.ts';
import { anAdmission, someRateLimits } from '../../support/admission.ts';
import { aCaller, aDeployment, aModelRequest } from '../../support/chat.ts';

const REFUSED = "No deployment of the model m is in the region eu, which the customer's calls may not leave.";

/** A gateway with a model in the US and one in the EU. Calls of its customer stay in the EU. */
const aGateway = () =>
  createGateway({
    deployments: fixedDeployments([
      aDeployment({ options: { region_name: 'us' } }),
      aDeployment({ id: 'deployment-2', modelGroup: 'european', options: { region_name: 'eu' } }),
    ]),
    providers: [{ name: 'openai', send: () => Promise.reject(new Error('Nothing is sent here.')) }],
    catalog: { current: () => ({ id: '', takenAt: new Date(0), source: 'embedded', entries: [], find: () => null }) },
    recorder: { record: () => {} },
    forwarder: { forward: () => Promise.reject(new Error('Nothing is forwarded here.')) },
    admission: anAdmission(),
    labelBudgets: {
      of: async () => [
        {
          scope: 'end_user',
          id: 'customer',
          blocked: false,
          budget: null,
          soft: null,
          limits: NO_LIMITS,
          customerRegion: { region: 'eu', defaultModel: null },
          spentBefore: ZERO_USD,
          window: null,
        },
      ],
    },
    rateLimits: someRateLimits(),
    clock: { now: () => new Date(0), monotonicMs: () => 0 },
    ids: { uuid: () => 'uuid', traceId: () => '1'.repeat(32), spanId: () => '2'.repeat(16) },
    capturePrompts: false,
    pause: async () => {},
    alwaysStreamUsage: false,
    budgetErrorKind: 'unprocessable',
    clientCredentials: false,
    reportsTries: false,
    checksFallbackBudgets: false,
    random: () => 0,
  });

const labels = callLabels({ session: null, endUser: 'customer', tags: [], metadata: {} });
const requestFor = (model: string) => aModelRequest({ model, messages: [] }, labels === undefined ? {} : { labels });

it('`admit` refuses a model outside the region of the customer, as `call` does', async () => {
  const gateway = aGateway();
  const { signal } = new AbortController();
  await expect(gateway.call(aCaller(), requestFor('m'), signal)).rejects.toThrow(REFUSED);
  await expect(gateway.admit(aCaller(), requestFor('m'))).rejects.toThrow(REFUSED);
});

it('`admit` accepts a model in the region of the customer', async () => {
  await expect(aGateway().admit(aCaller(), requestFor('european'))).resolves.toBeUndefined();
});
