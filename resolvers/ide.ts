import { deploymentsFor } from '../src/domain/deployments/team-models.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { RESPONSES } from '../src/domain/inference/endpoint.ts';
import { type IdeModel, ideModelOf } from '../src/domain/inference/ide-model.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './operation/access.ts';
import { callModel } from './inference.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { InferencePlatform, ResponsePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { askForResponse } from './operation/response-calls.ts';

/** A request of an IDE. `requestFor` builds it for the model that `name` resolves to. */
export interface IdeDraft {
  /** Model name as the IDE sent it. It may end with settings, e.g. `-thinking-high`. */
  readonly name: string;
  readonly requestFor: (model: IdeModel) => ModelRequest;
}

/** Sends a request of an IDE. Access, budget and price are those of the resolved model. */
export const askForIde = operation({
  name: 'askForIde',
  access: anyKey,
  run: (scope: Scope<InferencePlatform & ResponsePlatform>, { name, requestFor }: IdeDraft): Promise<GatewayCall> => {
    const names = new Set(
      deploymentsFor(callerOf(scope).key, scope.platform.gateway.deployments()).map(({ modelGroup }) => modelGroup),
    );
    const request = requestFor(ideModelOf(name, (model) => names.has(model)));
    if (request.endpoint !== RESPONSES) return callModel(scope, request);
    // IDEs do not refer to earlier responses, so an answer is stored only on request.
    return askForResponse(scope, request, { keep: request.body['store'] === true });
  },
});
