import { LockMode } from '@mikro-orm/core';
import type { PendingSignInStore } from '../../domain/users/pending-sign-ins.ts';
import type { Database } from '../database/database.ts';
import { PendingSignInEntity } from './entities.ts';

/** Pending sign-ins as managed entities. `add` also removes expired sign-ins. */
export const createPendingSignInStore = ({ find, change }: Database): PendingSignInStore => ({
  add: (pending, { nowMs, most }) =>
    change(async (em) => {
      await em.nativeDelete(PendingSignInEntity, { untilMs: { $lte: nowMs } });
      if ((await em.count(PendingSignInEntity, { kind: pending.kind })) >= most) return false;
      em.create(PendingSignInEntity, { ...pending, revision: 0 });
      return true;
    }),
  find: (id, nowMs) =>
    find(async (em) => {
      const found = await em.findOne(PendingSignInEntity, { id, untilMs: { $gt: nowMs } });
      return found && { content: found.content, revision: found.revision };
    }),
  replace: (id, revision, content, untilMs) =>
    change(async (em) => {
      const values = { content, revision: revision + 1, ...(untilMs === undefined ? {} : { untilMs }) };
      return (await em.nativeUpdate(PendingSignInEntity, { id, revision }, values)) > 0;
    }),
  take: (id, nowMs) =>
    change(async (em) => {
      const options = { lockMode: LockMode.PESSIMISTIC_WRITE };
      const found = await em.findOne(PendingSignInEntity, { id, untilMs: { $gt: nowMs } }, options);
      if (found === null) return null;
      em.remove(found);
      return found.content;
    }),
});
