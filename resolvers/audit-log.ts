import { ALL_CHANGES, type AuditEntry, type AuditFilter, type AuditSort } from '../src/domain/audit-log/audit-entry.ts';
import { NotFound } from '../src/domain/errors.ts';
import type { RowPage } from '../src/domain/row-store.ts';
import { system, tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { AuditPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** One page of changes. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  readonly totalCount: number;
  readonly hasMore: boolean;
}

/** Lists changes of keys, teams, models, settings and other rows. */
export const listAuditLog = operation({
  name: 'listAuditLog',
  access: tenantViewer,
  async run({ platform }: Scope<AuditPlatform>, page: RowPage<AuditFilter, AuditSort>): Promise<AuditPage> {
    const { auditLog } = platform.stores;
    const [found, totalCount] = await Promise.all([
      auditLog.list({ ...page, limit: page.limit + 1 }),
      auditLog.count(page.filter),
    ]);
    return { entries: found.slice(0, page.limit), totalCount, hasMore: found.length > page.limit };
  },
});

/** Reads one change. Throws NotFound. */
export const getAuditEntry = operation({
  name: 'getAuditEntry',
  access: tenantViewer,
  async run({ platform }: Scope<AuditPlatform>, { id }: { readonly id: string }): Promise<AuditEntry> {
    const entry = await platform.stores.auditLog.find(id);
    if (entry === null) throw new NotFound('audit entry', id, `Audit log with ID ${id} not found`);
    return entry;
  },
});

/** Removes the oldest of the changes before a time, at most `limit`. Returns their number. */
export const removeExpiredAuditEntries = operation({
  name: 'removeExpiredAuditEntries',
  access: system,
  async run(
    { platform }: Scope<AuditPlatform>,
    { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
  ): Promise<number> {
    const { auditLog } = platform.stores;
    const filter = { ...ALL_CHANGES, to: new Date(beforeMs) };
    const old = await auditLog.list({ filter, sort: 'created_at', descending: false, limit, from: 0 });
    return (await auditLog.remove(old.map(({ id }) => id))).length;
  },
});
