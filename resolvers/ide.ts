import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { RESPONSES } from '../src/domain/inference/endpoint.ts';
import { type IdeModel, ideModelOf } from '../src/domain/inference/ide-model.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './operation/access.ts';
import { callModel } from './inference.ts';
import { operation } from './operation/operation.ts';
import { askForResponse } from './responses.ts';

/** What an IDE asks; the request follows from the model that its name turns out to mean. */
export interface IdeDraft {
  /** The name as the IDE wrote it, settings and all. */
  readonly name: string;
  readonly requestFor: (meant: IdeModel) => ModelRequest;
}

/** Asks the model that an IDE means. Rights, allowance and price are those of that model; whoever asked relays the answer. */
export const askForIde = operation({
  name: 'askForIde',
  access: anyKey,
  run: (scope, { name, requestFor }: IdeDraft): Promise<GatewayCall> => {
    const names = new Set(scope.platform.gateway.deployments().map(({ modelGroup }) => modelGroup));
    const request = requestFor(ideModelOf(name, (model) => names.has(model)));
    if (request.endpoint !== RESPONSES) return callModel(scope, request);
    // Who reads a chat cannot come back to a response, unless it was asked for by name.
    return askForResponse(scope, request, { keep: request.body['store'] === true });
  },
});
