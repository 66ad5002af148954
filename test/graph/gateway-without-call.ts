import type { Gateway } from '../../src/gateway/gateway.ts';
import { UNTRIED } from '../support/untried-deployment.ts';

const rejects = (message: string) => () => Promise.reject(new Error(message));

/** Members of a gateway without deployments, except `call`. Members that the graph must not call reject. */
export const GATEWAY_WITHOUT_CALL: Omit<Gateway, 'call'> = {
  deployments: () => [],
  realtime: {
    open: rejects('The graph opens no sessions.'),
    runChecks() {},
    count: () => 0,
    ended: () => Promise.resolve(),
    endAll() {},
  },
  healthOf: () => UNTRIED,
  admit: rejects('The graph admits a call as a part of `call`.'),
  admitKey: rejects('The graph lists models without this check.'),
};
