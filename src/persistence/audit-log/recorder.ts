import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { SqlEntityManager } from '@mikro-orm/sql';
import { auditEntry, type AuditNoun, type Authorship, type ChangeAuthor } from '../../domain/audit-log/audit-entry.ts';
import { AuditEntryEntity } from './entities.ts';

/** Adds the entry of a change to the transaction of the change. */
type RecordChange = (
  em: Pick<SqlEntityManager, 'create'>,
  change: { readonly before: object | null; readonly after: object | null },
) => void;

/** Records changes of rows. */
export interface AuditRecorder extends Authorship {
  /**
   * Recorder of changes by the author of the running work. It records nothing without a noun or an author. Call
   * `forNoun` before the first `await`.
   */
  forNoun(noun: AuditNoun | undefined): RecordChange;
}

const recordNothing: RecordChange = () => {};

export function createAuditRecorder(): AuditRecorder {
  const authors = new AsyncLocalStorage<ChangeAuthor>();
  return {
    by: (author, work) => authors.run(author, work),
    forNoun(noun) {
      const author = authors.getStore();
      if (noun === undefined || author === undefined) return recordNothing;
      return (em, change) => {
        // The row is unchanged, for example because another process made the change first.
        if (change.before === change.after) return;
        em.create(AuditEntryEntity, auditEntry({ noun, ...change }, { id: randomUUID(), author }));
      };
    },
  };
}
