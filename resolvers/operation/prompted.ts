import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { mayUsePrompt, namedVersion, unknownPrompt, versionOf } from '../../src/domain/prompts/prompt.ts';
import { promptedRequest } from '../../src/domain/prompts/prompted-request.ts';
import { callerOf } from './operation.ts';
import type { PromptedPlatform } from './prompt-platform.ts';
import type { Scope } from './scope.ts';

/**
 * Adds the messages, the model and the settings of the prompt that a request names. Returns the request unchanged when
 * it names none. Throws InvalidInput for an unknown prompt, for a prompt that the key may not use, for a missing
 * variable, and for an endpoint without messages.
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
