import type { JsonObject } from '../../../src/domain/json-object.ts';
import type { WantedMember } from '../../../resolvers/operation/team-joining.ts';
import type { BudgetPatch } from '../../../src/domain/budgets/budget.ts';
import { InvalidInput, type Issue } from '../../../src/domain/errors.ts';
import { nullIfBlank } from '../../../src/domain/optional-text.ts';
import { MEMBER_ROLES } from '../../../src/domain/teams/member.ts';
import { literalOf, members, MISSING, text, NOT_AN_OBJECT } from '../http/body-fields.ts';
import { type JsonSchema, oneOrMany } from '../http/schema.ts';

const readMember = members({ user_id: text, user_email: text, role: literalOf(MEMBER_ROLES) });

/** Schema of a team member, or of several. */
export const MEMBER_OR_LIST: JsonSchema = oneOrMany(readMember.schema);

const NO_USER_MESSAGE = 'Value error, Either user id or user email must be provided';

/** Throws InvalidInput at `path` for an object that has neither a user id nor an email. */
export function assertNamesUser({ user_id: id, user_email: email }: JsonObject, path: Issue['path']): void {
  if ([id, email].some((name) => typeof name === 'string' && nullIfBlank(name) !== null)) return;
  throw new InvalidInput('The body is not valid.', [{ path, rule: 'value_error', message: NO_USER_MESSAGE }]);
}

/**
 * Reads a team member, or a list of them. `bodyField` is the name of the body's field, for issues. As in the reference,
 * issues of a member outside of a list have the path of the body. Throws InvalidInput.
 */
export function wantedMembers(input: unknown, bodyField: string, limits: BudgetPatch): readonly WantedMember[] {
  const list: readonly unknown[] = Array.isArray(input) ? input : [input];
  return list.map((one, position) => {
    const listed = Array.isArray(input) ? [bodyField, position] : [];
    if (typeof one !== 'object' || one === null) {
      const place = { path: ['body', ...(listed.length === 0 ? [bodyField] : listed)] };
      throw new InvalidInput('The body is not valid.', [
        { ...(input === undefined ? MISSING : NOT_AN_OBJECT), ...place },
      ]);
    }
    const path = ['body', ...listed];
    const values = readMember({ ...one }, path);
    assertNamesUser({ ...one }, path);
    return { userId: values.user_id, email: values.user_email, role: values.role ?? 'user', limits };
  });
}
