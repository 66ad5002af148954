import { InvalidInput } from '../../src/domain/errors.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { ALL_USERS, emailKeyOf, type User } from '../../src/domain/users/user.ts';
import type { Stores } from './stores.ts';

/** Name of a user: its id, or its email when there is no id. */
export interface UserName {
  readonly userId: string | null;
  readonly email: string | null;
}

/** Id of a named user; null when no user has the email. Throws InvalidInput when both id and email are missing. */
export async function userIdOf(stores: Pick<Stores, 'users'>, name: UserName): Promise<string | null> {
  const { id, emailKey } = readUserName(name);
  return id ?? (await userByEmail(stores, emailKey))?.id ?? null;
}

/** A named user; null when it does not exist. Throws InvalidInput when both id and email are missing. */
export async function findNamedUser(stores: Pick<Stores, 'users'>, name: UserName): Promise<User | null> {
  const { id, emailKey } = readUserName(name);
  return id === null ? await userByEmail(stores, emailKey) : await stores.users.find(id);
}

function readUserName({ userId, email }: UserName): { readonly id: string | null; readonly emailKey: string | null } {
  const [id, emailKey] = [nullIfBlank(userId), emailKeyOf(email)];
  if (id !== null || emailKey !== null) return { id, emailKey };
  const message = 'Value error, Either user id or user email must be provided';
  throw new InvalidInput(message, [{ path: ['body'], rule: 'value_error', message }]);
}

async function userByEmail({ users }: Pick<Stores, 'users'>, emailKey: string | null): Promise<User | null> {
  return (await users.all({ ...ALL_USERS, emails: emailKey === null ? [] : [emailKey] }))[0] ?? null;
}
