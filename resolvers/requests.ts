import type { ModelRequest } from '../src/domain/chat/chat.ts';
import type { RequestPreview } from '../src/domain/chat/provider.ts';
import { CHAT_PARAMS, chatRequestWith } from '../src/domain/inference/chat-params.ts';
import { CHAT_COMPLETIONS } from '../src/domain/inference/endpoint.ts';
import { admin, anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { InferencePlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/**
 * The request that the gateway would send to the upstream. Sends nothing. Throws what the gateway's `preview` throws.
 */
export const getRequestPreview = operation({
  name: 'getRequestPreview',
  access: admin,
  run: (scope: Scope<InferencePlatform>, request: ModelRequest): Promise<RequestPreview> =>
    scope.platform.gateway.preview(callerOf(scope), request),
});

/**
 * Parameters of chat completions that the gateway sends to the upstream of a model. Throws what the gateway's `preview`
 * throws.
 */
export const listSupportedParams = operation({
  name: 'listSupportedParams',
  access: anyKey,
  async run(scope: Scope<InferencePlatform>, { model }: { readonly model: string }): Promise<readonly string[]> {
    const sentFlags = await Promise.all(
      CHAT_PARAMS.map(async (param) => {
        const { dropped } = await scope.platform.gateway.preview(
          callerOf(scope),
          chatRequest(chatRequestWith(model, param)),
        );
        return !dropped.some((member) => member === param || member.startsWith(`${param}.`));
      }),
    );
    return CHAT_PARAMS.filter((_param, index) => sentFlags[index]);
  },
});

/** A chat-completions request that is only previewed. */
function chatRequest(body: ModelRequest['body']): ModelRequest {
  return {
    endpoint: CHAT_COMPLETIONS,
    model: String(body['model']),
    stream: body['stream'] === true,
    includeUsage: body['stream_options'] !== undefined,
    bytes: Buffer.from(JSON.stringify(body)),
    body,
    callId: null,
    parent: null,
  };
}
