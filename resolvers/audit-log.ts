import { ALL_CHANGES, type AuditEntry, type AuditFilter, type AuditSort } from '../src/domain/audit-log/audit-entry.ts';
import { NotFound } from '../src/domain/errors.ts';
import type { RowPage } from '../src/domain/row-store.ts';
import { system, tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { AuditPlatform } from './operation/platform.ts';
import { pageOf, removeOldest } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';

/** One page of audit entries, each a recorded change. */
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
    const { nodes: entries, ...counts } = await pageOf(platform.stores.auditLog, page.filter, page);
    return { ...counts, entries };
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

/** Removes the oldest of the entries before a time, at most `limit`. Returns their number. */
export const removeExpiredAuditEntries = operation({
  name: 'removeExpiredAuditEntries',
  access: system,
  async run(
    { platform }: Scope<AuditPlatform>,
    { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
  ): Promise<number> {
    // ALL_CHANGES is a filter without conditions.
    return removeOldest(platform.stores.auditLog, { ...ALL_CHANGES, to: new Date(beforeMs) }, limit);
  },
});
