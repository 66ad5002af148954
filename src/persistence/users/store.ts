import type { InvitationStore } from '../../domain/users/invitation.ts';
import type { UserStore } from '../../domain/users/user.ts';
import type { Database } from '../database/database.ts';
import { containing, createRowStore, matching, until } from '../database/row-store.ts';
import { InvitationEntity, UserEntity } from './entities.ts';

/** SQL of the total spend of the user's keys in a table of keys. */
const spendOfKeys = (keys: 'virtual_key' | 'token_key'): string =>
  `coalesce((select sum(key_spend.total) from ${keys} join key_spend on key_spend.key_hash = ${keys}.hash
  where ${keys}.user_id = id), 0)`;

/**
 * SQL of the spend of a user in the current budget window. It counts all keys of the user, also deleted ones and those
 * of signed tokens.
 */
const SPEND = `${spendOfKeys('virtual_key')} + ${spendOfKeys('token_key')} - coalesce(cast(spent_before as numeric), 0)`;

export const createUserStore = (database: Database): UserStore =>
  createRowStore(database, {
    entity: UserEntity,
    noun: 'user',
    audited: 'user',
    where: ({ ids, emails, emailPart, aliasPart, role, ssoUserIds, resetDueBy }) => [
      ...matching({ id: ids, emailKey: emails, role, ssoUserId: ssoUserIds }),
      ...containing('email', emailPart),
      ...containing('alias', aliasPart),
      ...until('budgetResetAt', resetDueBy),
    ],
    sortColumns: {
      user_id: 'id',
      user_email: "coalesce(email, '')",
      user_alias: "coalesce(alias, '')",
      user_role: "coalesce(role, '')",
      max_budget: 'coalesce(cast(max_budget as numeric), -1)',
      spend: SPEND,
    },
    numbers: ['max_budget', 'spend'],
    conflictText: ({ id, email }) => `User with id ${id} or email ${email ?? 'none'} already exists`,
  });

export const createInvitationStore = (database: Database): InvitationStore =>
  createRowStore(database, {
    entity: InvitationEntity,
    noun: 'invitation',
    audited: 'invitation',
    where: ({ userIds }) => matching({ userId: userIds }),
    conflictText: ({ id }) => `Invitation with id '${id}' already exists.`,
  });
