import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { assertFits } from '../src/domain/upstream-objects/file-limits.ts';
import type { GatewayCall, TokenCount } from '../src/gateway/gateway.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';

/** Sends a request that is already in the dialect; whoever asked relays the answer and settles the call. */
export const callModel = operation({
  name: 'callModel',
  access: anyKey,
  run(scope, request: ModelRequest): Promise<GatewayCall> {
    const { gateway, fileLimits } = scope.platform;
    for (const { filename, bodyStart, bodyEnd } of request.form?.parts ?? [])
      if (filename !== null) assertFits(bodyEnd - bodyStart, fileLimits.file);
    return gateway.call(callerOf(scope), request, scope.signal);
  },
});

/** Counts the input tokens a request would have. */
export const countTokens = operation({
  name: 'countTokens',
  access: anyKey,
  run: (scope, request: ModelRequest): Promise<TokenCount> =>
    scope.platform.tokens.countTokens(callerOf(scope), request, scope.signal),
});
