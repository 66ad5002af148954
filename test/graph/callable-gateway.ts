import type { Gateway } from '../../src/gateway/gateway.ts';
import { UNTRIED } from '../support/untried-deployment.ts';

const rejects = (message: string) => () => Promise.reject(new Error(message));

/** A gateway without deployments. The graph uses only its calls. */
export const WITHOUT_CALLS: Omit<Gateway, 'call'> = {
  deployments: () => [],
  realtime: {
    open: rejects('The graph opens no sessions.'),
    runChecks() {},
    count: () => 0,
    ended: () => Promise.resolve(),
    endAll() {},
  },
  healthOf: () => UNTRIED,
  admit: rejects('The graph admits a call with the call.'),
  admitKey: rejects('The graph lists the models of every key.'),
};
