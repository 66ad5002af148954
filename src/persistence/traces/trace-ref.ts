import { hash } from 'node:crypto';
import type { Owner } from '../../domain/caller.ts';

/** Trace ref: upper-case hex SHA-256 of owner and trace id. */
export function traceRefOf(owner: Owner, traceId: string): string {
  return hash('sha256', `${owner.teamId ?? ''}\0${owner.keyHash}\0${traceId}`, 'hex').toUpperCase();
}
