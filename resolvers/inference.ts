import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { assertFits } from '../src/domain/upstream-objects/file-limits.ts';
import type { GatewayCall, TokenCount } from '../src/gateway/gateway.ts';
import { anyKey } from './operation/access.ts';
import { namesSkills, withSkills } from './operation/named-skills.ts';
import { sendAfterStoreCheck } from './operation/named-stores.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { InferencePlatform } from './operation/platform.ts';
import { withPrompt } from './operation/prompted.ts';
import type { Scope } from './operation/scope.ts';

/**
 * Sends a request in the dialect of its endpoint, with the prompt that it names. Throws TooLarge for a file above the
 * limit, InvalidInput for a wrong prompt, and Forbidden for a vector store. Also throws what `withSkills` and the
 * gateway throw.
 */
export const callModel = operation({
  name: 'callModel',
  access: anyKey,
  run(scope: Scope<InferencePlatform>, request: ModelRequest): Promise<GatewayCall> {
    const { gateway, fileLimits } = scope.platform;
    for (const { filename, bodyStart, bodyEnd } of request.form?.parts ?? [])
      if (filename !== null) assertFits(bodyEnd - bodyStart, fileLimits.file);
    const send = (sent: ModelRequest): Promise<GatewayCall> => gateway.call(callerOf(scope), sent, scope.signal);
    return sendAfterStoreCheck(scope, request, (checked) => {
      const prompted = withPrompt(scope, checked);
      return namesSkills(prompted) ? withSkills(scope, prompted).then(send) : send(prompted);
    });
  },
});

/** Counts the input tokens of a request without a model call. */
export const countTokens = operation({
  name: 'countTokens',
  access: anyKey,
  run: (scope: Scope<InferencePlatform>, request: ModelRequest): Promise<TokenCount> =>
    scope.platform.gateway.countTokens(callerOf(scope), withPrompt(scope, request), scope.signal),
});
