import { RE2JS } from 're2js';
import { InvalidInput } from '../../domain/errors.ts';
import type { ModelMatcher } from '../../domain/policies/policy-book.ts';

/** Maximum instructions of a compiled expression. */
const MAX_PROGRAM_SIZE = 5_000;

/** Matches names of models by RE2, whose run time is linear in the name. The whole name must match. */
export const modelMatcher: ModelMatcher = (source) => {
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(source);
  } catch {
    // A name of a model may be no valid expression, such as `*`.
    if (!/[()[\]|\\]/.test(source)) return (model) => model === source;
    throw new InvalidInput(`condition.model ${JSON.stringify(source.slice(0, 80))} is not a valid RE2 expression`);
  }
  if (regex.programSize() > MAX_PROGRAM_SIZE) throw new InvalidInput('condition.model is too large');
  return (model) => model === source || regex.matches(model);
};
