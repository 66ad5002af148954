import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { promptedRequest } from '../src/domain/prompts/prompted-request.ts';
import {
  allowedPromptsOf,
  latestVersions,
  namedVersion,
  type ParsedPrompt,
  type PromptDraft,
  promptNotFound,
  type PromptPatch,
  type PromptUse,
  type PromptVersion,
  unknownPrompt,
  versionOf,
} from '../src/domain/prompts/prompt.ts';
import type { GatewayCall } from '../src/gateway/gateway.ts';
import { anyKey, isAnyAdmin, system } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import { promptAdmin, promptLister, promptViewer } from './operation/prompt-access.ts';
import type { PromptPlatform } from './operation/prompt-platform.ts';
import type { Scope } from './operation/scope.ts';

type PromptScope = Scope<PromptPlatform>;

/**
 * Lists the latest versions of the prompts that the caller may see. A list `prompts` in the metadata of the key limits
 * them. Without the list, administrators see all prompts, and other callers none.
 */
export const listPrompts = operation({
  name: 'listPrompts',
  access: promptLister,
  run(scope: PromptScope, _input: undefined): readonly PromptVersion[] {
    const caller = callerOf(scope);
    const latest = latestVersions(scope.platform.prompts.list());
    const allowed = allowedPromptsOf(caller);
    if (allowed !== null) return latest.filter(({ promptId }) => allowed.includes(promptId));
    return isAnyAdmin(caller) ? latest : [];
  },
});

/** A version of a prompt with its template. */
export interface ShownPrompt {
  readonly prompt: PromptVersion;
  readonly template: ParsedPrompt;
  /** Environments of all versions of the prompt. */
  readonly environments: readonly string[];
}

/**
 * Reads a version of a prompt: `greeting.v2` names version 2, `greeting` the latest version. Throws InvalidInput for an
 * unknown id.
 */
export const getPrompt = operation({
  name: 'getPrompt',
  access: promptViewer,
  run({ platform: { prompts } }: PromptScope, { id }: { readonly id: string }): ShownPrompt {
    const prompt = versionOf(prompts.list(), namedVersion(id));
    if (prompt === undefined) throw unknownPrompt(id);
    const versions = prompts.list().filter(({ promptId }) => promptId === prompt.promptId);
    const environments = [...new Set(versions.map(({ environment }) => environment))];
    return { prompt, template: prompts.parsed(prompt), environments };
  },
});

/** Lists the versions of a prompt, the newest first. Throws NotFound. */
export const listPromptVersions = operation({
  name: 'listPromptVersions',
  access: promptViewer,
  run({ platform }: PromptScope, { id }: { readonly id: string }): readonly PromptVersion[] {
    const { promptId } = namedVersion(id);
    const versions = platform.prompts.list().filter((one) => one.promptId === promptId);
    if (versions.length === 0) throw promptNotFound(promptId);
    return versions.toSorted((one, other) => other.version - one.version);
  },
});

/** Stores the next version of a new or existing prompt. Throws Conflict for a prompt of the file, and InvalidInput. */
export const createPrompt = operation({
  name: 'createPrompt',
  access: promptAdmin,
  run: (scope: PromptScope, draft: PromptDraft): Promise<PromptVersion> =>
    scope.platform.prompts.add(draft, authored(scope)),
});

/** Stores the next version of an existing prompt. Throws NotFound, Conflict and InvalidInput. */
export const replacePrompt = operation({
  name: 'replacePrompt',
  access: promptAdmin,
  async run(scope: PromptScope, draft: PromptDraft): Promise<PromptVersion> {
    const { promptId } = namedVersion(draft.promptId);
    const { prompts } = scope.platform;
    if (versionOf(prompts.list(), { promptId, version: null }) === undefined) throw promptNotFound(promptId);
    return await prompts.add({ ...draft, promptId }, authored(scope));
  },
});

/**
 * Changes a version in place: `greeting.v2` names version 2, `greeting` the latest version. Throws NotFound, Conflict
 * for a prompt of the configuration file, and InvalidInput.
 */
export const updatePrompt = operation({
  name: 'updatePrompt',
  access: promptAdmin,
  async run(
    scope: PromptScope,
    { id, patch }: { readonly id: string; readonly patch: PromptPatch },
  ): Promise<PromptVersion> {
    const { prompts } = scope.platform;
    const found = versionOf(prompts.list(), namedVersion(id));
    if (found === undefined) throw promptNotFound(id);
    const changed = await prompts.change(found.id, patch, authored(scope));
    if (changed === null) throw promptNotFound(id);
    return changed;
  },
});

/** Deletes all versions of a prompt. Returns the latest version. Throws NotFound and Conflict. */
export const deletePrompt = operation({
  name: 'deletePrompt',
  access: promptAdmin,
  async run(scope: PromptScope, { id }: { readonly id: string }): Promise<PromptVersion> {
    const { promptId } = namedVersion(id);
    const [latest] = latestVersions(await scope.platform.prompts.remove(promptId));
    if (latest === undefined) throw promptNotFound(promptId);
    return latest;
  },
});

/**
 * Tests a template without storing it: sends the messages of the template to the model in its front matter. Throws
 * InvalidInput for a wrong template, and for a template without a model. Throws what the gateway's `call` throws.
 */
export const testPrompt = operation({
  name: 'testPrompt',
  access: anyKey,
  async run(
    scope: PromptScope,
    {
      content,
      variables,
      request,
    }: { readonly content: string; readonly variables: PromptUse['variables']; readonly request: ModelRequest },
  ): Promise<GatewayCall> {
    const { prompts, gateway } = scope.platform;
    const prompt = prompts.parse(content);
    const { model } = prompt.metadata;
    if (typeof model !== 'string' || model === '')
      throw new InvalidInput('Model is required in the front matter of dotprompt_content');
    return await gateway.call(
      callerOf(scope),
      promptedRequest(request, { prompt, params: {}, variables }),
      scope.signal,
    );
  },
});

/** Applies changes of prompts by other processes. */
export const refreshPrompts = operation({
  name: 'refreshPrompts',
  access: system,
  run: ({ platform }: PromptScope): Promise<void> => platform.prompts.refresh(),
});
