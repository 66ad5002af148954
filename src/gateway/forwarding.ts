import type { Outcome } from '../domain/chat/chat.ts';
import { rememberCall } from '../domain/chat/failed-call.ts';
import type { Deployment } from '../domain/chat/provider.ts';
import { type Usd, ZERO_USD } from '../domain/money.ts';
import type { Forwarded, Forwarder } from '../domain/pass-through/forwarded.ts';
import { type CallTools, openCall } from './call.ts';
import type { ForwardGateway } from './gateway.ts';

/** Call type of forwarded requests in spend rows, as in the reference. */
const CALL_TYPE = 'pass_through_endpoint';

/** Creates the calls of pass-through paths: admit, forward, price, record. */
export function createForwarding(forwarder: Forwarder, tools: CallTools): ForwardGateway {
  return {
    async forward(caller, request, signal) {
      const deployment = deploymentOf(request);
      const { operation, model, fields: body, callId, parent, labels, userAgent } = request;
      const call = openCall(tools, {
        caller,
        request: {
          endpoint: { operation, callType: CALL_TYPE },
          model,
          body,
          callId,
          parent,
          ...(labels === undefined ? {} : { labels }),
          ...(userAgent === undefined ? {} : { userAgent }),
        },
        deployment,
        signal,
        costOf: (outcome) => costOf(request, outcome, (used) => tools.price(deployment, used)),
      });
      try {
        await call.reserve({ deployment, ...expectedOf(request) });
        if (request.endpoint !== null) tools.modelBudgets.check(caller.key, model);
        call.limit({ model });
        return call.answered(await forwarder.forward({ ...request, owner: caller.keyHash }, signal));
      } catch (failure) {
        rememberCall(failure, { callId: call.callId, timeoutSeconds: request.timeoutSeconds });
        call.failed(failure);
        throw failure;
      }
    },
  };
}

/** What a call is expected to cost: a fixed cost, the estimate of its endpoint, or nothing. */
function expectedOf({ cost, endpoint, fields: body, body: bytes }: Forwarded) {
  if (cost !== null || endpoint === null) return { request: null, cost: cost ?? ZERO_USD };
  return { request: { endpoint, body, bytes } };
}

/** A refusal of the target costs nothing. */
function costOf({ cost, endpoint }: Forwarded, outcome: Outcome, price: (outcome: Outcome) => Usd | null): Usd | null {
  if (outcome.failure !== null) return ZERO_USD;
  if (cost !== null) return cost;
  return endpoint === null ? null : price(outcome);
}

/** A target as rows and prices see it. Its credentials are in the request only. */
const deploymentOf = ({ deploymentId, provider, model, url, timeoutSeconds }: Forwarded): Deployment => ({
  id: deploymentId,
  modelGroup: model,
  provider,
  upstreamModel: model,
  apiBase: url.replace(/[?#].*$/, ''),
  apiKey: null,
  options: {},
  secrets: {},
  dropParams: false,
  timeoutSeconds,
  priceOverrides: {},
  baseModel: null,
});
