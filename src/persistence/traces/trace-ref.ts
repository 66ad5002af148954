import { hash } from 'node:crypto';
import type { Owner } from '../../domain/caller.ts';

/** The handle of one owner's trace: upper-case hex SHA-256 over owner and trace id. */
export function traceRefOf(owner: Owner, traceId: string): string {
  return hash('sha256', `${owner.teamId ?? ''}\0${owner.keyHash}\0${traceId}`, 'hex').toUpperCase();
}
