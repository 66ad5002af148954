import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import {
  assertPromptId,
  environmentOf,
  type PromptVersion,
  templateIn,
  versionId,
} from '../../domain/prompts/prompt.ts';
import { parseDotprompt } from '../prompts/dotprompt.ts';
import type { ConfigDocument } from './config-document.ts';
import type { Path } from './config-references.ts';
import { unknownMember } from './nearest-name.ts';
import { faultAt, type FaultReceivers, isOff, pathOfIssue } from './section-entries.ts';

/** Section of the prompts in the file. */
const SECTION = 'prompts';

/** Schema of a prompt of the file. */
export const promptEntry = z.looseObject({
  prompt_id: z.string(),
  litellm_params: z.looseObject({
    prompt_integration: z.literal('dotprompt'),
    dotprompt_content: z.string().nullish(),
    prompt_data: z.record(z.string(), z.unknown()).nullish(),
  }),
  prompt_info: z.record(z.string(), z.unknown()).nullish(),
});

const MEMBERS = Object.keys(promptEntry.shape);

/** The prompts of the file; empty when any has a wrong value. `fault` is called for each wrong value. */
export function readPrompts(
  document: ConfigDocument,
  { fault, faultIfStrict }: FaultReceivers,
): readonly PromptVersion[] {
  const at = (path: Path, message: string) => faultAt(document, [SECTION, ...path], message);
  const section = document.content[SECTION];
  const parsed = z.array(promptEntry).safeParse(isOff(section) ? [] : section);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) fault(at(pathOfIssue(issue), issue.message));
    return [];
  }
  const ids = new Set<string>();
  let isRefused = false;
  const prompts = parsed.data.map((entry, index): PromptVersion => {
    const { prompt_id: promptId, litellm_params: params, prompt_info: sent = null } = entry;
    const info = { ...sent, prompt_type: 'config' };
    const refuse = (path: readonly string[], message: string): void => {
      isRefused = true;
      fault(at([index, ...path], message));
    };
    for (const name of Object.keys(entry))
      if (!MEMBERS.includes(name)) faultIfStrict(at([index, name], unknownMember(name, MEMBERS)));
    if (ids.has(promptId)) refuse(['prompt_id'], 'is the id of another prompt, too');
    ids.add(promptId);
    try {
      assertPromptId(promptId);
      environmentOf(info);
      parseDotprompt(templateIn(params, promptId));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      refuse([], error.message);
    }
    return {
      id: versionId(promptId, 1),
      promptId,
      version: 1,
      params,
      info,
      // After a refusal no prompt is returned, and `environmentOf` may throw.
      environment: isRefused ? '' : environmentOf(info),
      isFromConfig: true,
      createdAt: null,
      updatedAt: null,
      createdBy: null,
    };
  });
  return isRefused ? [] : prompts;
}
