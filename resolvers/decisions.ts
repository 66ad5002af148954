import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { assertQuestionCount } from '../src/domain/decisions/question-count.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { DecisionPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Answers typed questions about an input. The request is in either decision format. */
export const decide = operation({
  name: 'decide',
  access: anyKey,
  run(scope: Scope<DecisionPlatform>, request: ModelRequest): Promise<GatewayCall> {
    assertQuestionCount(request.body['questions'], scope.platform.decisions.mostQuestions);
    return scope.platform.gateway.call(callerOf(scope), request, scope.signal);
  },
});
