import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { mayUsePrompt, namedVersion, unknownPrompt, versionOf } from '../../src/domain/prompts/prompt.ts';
import { promptedRequest } from '../../src/domain/prompts/prompted-request.ts';
import { callerOf } from './operation.ts';
import type { PromptedPlatform } from './prompt-platform.ts';
import type { Scope } from './scope.ts';

/**
 * A request with the messages of the prompt that it names; the same request when it names none. Throws InvalidInput for
 * an unknown prompt or one that the key may not use, and for a missing variable.
 */
export function withPrompt(scope: Scope<PromptedPlatform>, request: ModelRequest): ModelRequest {
  const { prompt: used } = request;
  if (used === undefined) return request;
  const { prompts } = scope.platform;
  const named = namedVersion(used.id);
  const found = versionOf(prompts.list(), { ...named, version: used.version ?? named.version });
  if (found === undefined || !mayUsePrompt(callerOf(scope), found.promptId)) throw unknownPrompt(used.id);
  return promptedRequest(request, { prompt: prompts.parsed(found), params: found.params, variables: used.variables });
}
