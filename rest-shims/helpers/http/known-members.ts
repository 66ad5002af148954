import { InvalidInput, type Issue } from '../../../src/domain/errors.ts';
import type { JsonObject } from '../../../src/domain/json-object.ts';

/** Checks an object at a path of a body. Throws InvalidInput with an issue for each member that is not in `known`. */
export function assertKnownMembers(input: JsonObject, known: ReadonlySet<string>, path: Issue['path']): void {
  const unknown = Object.keys(input).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  const rule = { rule: 'extra_forbidden', message: 'Extra inputs are not permitted' };
  throw new InvalidInput(
    'The body is not valid.',
    unknown.map((name) => ({ ...rule, path: [...path, name], input: input[name] })),
  );
}

/** Error for a value of a body that breaks a rule which its type does not state. */
export const valueFault = (path: Issue['path'], text: string): InvalidInput =>
  new InvalidInput('The body is not valid.', [{ path, rule: 'value_error', message: `Value error, ${text}` }]);
