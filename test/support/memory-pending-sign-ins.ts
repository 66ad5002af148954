import type { PendingSignIn, PendingSignInStore } from '../../src/domain/users/pending-sign-ins.ts';

/** Store of pending sign-ins in memory. */
export function createMemoryPendingSignIns(): PendingSignInStore {
  const rows = new Map<string, PendingSignIn & { readonly revision: number }>();
  const openOf = (id: string, nowMs: number) => {
    const row = rows.get(id);
    return row !== undefined && row.untilMs > nowMs ? row : null;
  };
  return {
    add(pending, { nowMs, most }) {
      if (rows.size >= most) {
        for (const [id, { untilMs }] of rows) if (untilMs <= nowMs) rows.delete(id);
        const open = rows.values().filter(({ kind }) => kind === pending.kind);
        if (open.toArray().length >= most) return Promise.resolve(false);
      }
      if (openOf(pending.id, nowMs) !== null)
        return Promise.reject(new Error(`A pending sign-in with id ${pending.id} already exists.`));
      rows.set(pending.id, { ...pending, revision: 0 });
      return Promise.resolve(true);
    },
    find: (id, nowMs) => Promise.resolve(openOf(id, nowMs)),
    replace(id, revision, content, untilMs) {
      const row = rows.get(id);
      if (row?.revision !== revision) return Promise.resolve(false);
      rows.set(id, { ...row, content, revision: revision + 1, untilMs: untilMs ?? row.untilMs });
      return Promise.resolve(true);
    },
    take(id, nowMs) {
      const row = openOf(id, nowMs);
      rows.delete(id);
      return Promise.resolve(row?.content ?? null);
    },
  };
}
