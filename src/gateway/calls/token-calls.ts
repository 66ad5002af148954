import type { Caller } from '../../domain/caller.ts';
import { withTokenCustomer } from '../../domain/calls/token-customer.ts';
import { Forbidden } from '../../domain/errors.ts';
import { mayCall, resolveModelAlias, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { ForwardGateway, Gateway, ObjectGateway, PreviewGateway, TokenGateway } from '../gateway.ts';
import { callerOf } from '../keys/known-keys.ts';

const allows = (key: VirtualKey, model: string): boolean => mayCall(key, resolveModelAlias(key, model));

/**
 * The caller of a token in the first of its teams that allows a model. Throws Forbidden when none of several teams
 * does.
 */
function callerFor(caller: Caller, model: string): Caller {
  const { key } = caller;
  const others = key?.token?.otherTeams ?? [];
  if (key === null || others.length === 0 || allows(key, model)) return caller;
  const other = others.find((one) => allows(one, model));
  if (other === undefined) throw new Forbidden(`No team has access to the requested model: ${model}.`, 'team_model');
  return callerOf(other);
}

/**
 * A gateway that makes calls of signed tokens in the first team that allows the model. `pass` and `forward` keep the
 * team of the caller. All except `countTokens` and `preview` name the customer of the token.
 */
export function withTokenCalls<
  Inner extends Gateway & ForwardGateway & Pick<ObjectGateway, 'pass'> & TokenGateway & PreviewGateway,
>(gateway: Inner): Inner {
  return {
    ...gateway,
    call(caller, request, signal) {
      if (caller.key?.token === undefined) return gateway.call(caller, request, signal);
      return gateway.call(callerFor(caller, request.model), withTokenCustomer(caller.key, request), signal);
    },
    admit(caller, request) {
      if (caller.key?.token === undefined) return gateway.admit(caller, request);
      return gateway.admit(callerFor(caller, request.model), withTokenCustomer(caller.key, request));
    },
    countTokens(caller, request, signal) {
      if (caller.key?.token === undefined) return gateway.countTokens(caller, request, signal);
      return gateway.countTokens(callerFor(caller, request.model), request, signal);
    },
    preview(caller, request) {
      if (caller.key?.token === undefined) return gateway.preview(caller, request);
      return gateway.preview(callerFor(caller, request.model), request);
    },
    pass(caller, deployment, request, signal) {
      return gateway.pass(caller, deployment, withTokenCustomer(caller.key, request), signal);
    },
    forward(caller, request, signal) {
      return gateway.forward(caller, withTokenCustomer(caller.key, request), signal);
    },
    realtime: {
      ...gateway.realtime,
      open(caller, request, options) {
        if (caller.key?.token === undefined) return gateway.realtime.open(caller, request, options);
        const identify = async (): Promise<Caller> => callerFor(await options.identify(), request.model);
        return gateway.realtime.open(callerFor(caller, request.model), withTokenCustomer(caller.key, request), {
          ...options,
          identify,
        });
      },
    },
  };
}
