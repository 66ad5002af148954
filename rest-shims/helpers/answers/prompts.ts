import type { ShownPrompt } from '../../../resolvers/prompts.ts';
import { redacted } from '../../../src/domain/settings/redaction.ts';
import type { PromptVersion } from '../../../src/domain/prompts/prompt.ts';

/** Members of `litellm_params` in every answer, with their values where the prompt does not set them. */
const DEFAULT_PARAMS = {
  prompt_id: null,
  prompt_integration: 'dotprompt',
  api_base: null,
  api_key: null,
  provider_specific_query_params: null,
  ignore_prompt_manager_model: false,
  ignore_prompt_manager_optional_params: false,
};

/** A version of a prompt. `shownId` is the `prompt_id` of the answer: that of the prompt, or with a version (`.v2`). */
export const renderPrompt = (one: PromptVersion, shownId: string) => ({
  prompt_id: shownId,
  litellm_params: redacted('litellm_params', { ...DEFAULT_PARAMS, ...one.params }, 'admin'),
  prompt_info: { ...one.info, environment: one.environment },
  created_at: one.createdAt?.toISOString() ?? null,
  updated_at: one.updatedAt?.toISOString() ?? null,
  version: one.version,
  environment: one.environment,
  created_by: one.createdBy,
});

export const renderShownPrompt = ({ prompt, template, environments }: ShownPrompt, shownId: string) => ({
  prompt_spec: renderPrompt(prompt, shownId),
  raw_prompt_template: {
    litellm_prompt_id: prompt.promptId,
    content: template.content,
    metadata: template.metadata,
  },
  environments,
});
