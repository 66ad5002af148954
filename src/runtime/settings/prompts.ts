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
import type { ConfigFault } from './config-fault.ts';
import { unknownMember } from './nearest-name.ts';

/** Section of the prompts in the file. */
const SECTION = 'prompts';

/** One prompt of the file. */
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

interface PromptReading {
  /** A wrong value, which stops the start. */
  readonly fault: (fault: ConfigFault) => void;
  /** A value without an effect, which stops the start only where the configuration is strict. */
  readonly faultIfStrict: (fault: ConfigFault) => void;
}

/** The prompts of the file; empty when one has a wrong value. `fault` receives each wrong value. */
export function readPrompts(
  document: ConfigDocument,
  { fault, faultIfStrict }: PromptReading,
): readonly PromptVersion[] {
  const at = (path: readonly (string | number)[], message: string): ConfigFault => {
    const place = [SECTION, ...path];
    return { ...document.placeOf(place), key: place.join('.'), message };
  };
  const section = document.content[SECTION];
  const isOff = section === undefined || section === null || section === false || section === '';
  const parsed = z.array(promptEntry).safeParse(isOff ? [] : section);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues)
      fault(
        at(
          path.map((part) => (typeof part === 'symbol' ? part.toString() : part)),
          message,
        ),
      );
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
    const environment = isRefused ? '' : environmentOf(info);
    const times = { createdAt: null, updatedAt: null, createdBy: null };
    return {
      id: versionId(promptId, 1),
      promptId,
      version: 1,
      params,
      info,
      environment,
      isFromConfig: true,
      ...times,
    };
  });
  return isRefused ? [] : prompts;
}
