import { RE2JS } from 're2js';
import { InvalidInput } from '../../domain/errors.ts';
import type { ModelMatcher } from '../../domain/policies/policy-book.ts';

/** Maximum number of instructions of a compiled expression. */
const MAX_PROGRAM_SIZE = 5_000;

/** Matches the whole name of a model by an RE2 expression. The time of RE2 is linear in the length of the name. */
export const modelMatcher: ModelMatcher = (source) => {
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(source);
  } catch {
    // Some names of models, such as `*`, are not valid expressions. They are compared as texts.
    if (!/[()[\]|\\]/.test(source)) return (model) => model === source;
    throw new InvalidInput(`condition.model ${JSON.stringify(source.slice(0, 80))} is not a valid RE2 expression`);
  }
  if (regex.programSize() > MAX_PROGRAM_SIZE) throw new InvalidInput('condition.model is too large');
  return (model) => model === source || regex.matches(model);
};
