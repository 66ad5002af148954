import type { Selectable } from 'kysely';
import type { Checkout } from '../../domain/checkout/checkout.ts';
import type { Tables } from '../database/tables.ts';

export type CheckoutRow = Selectable<Tables['checkout']>;

const msOf = (date: Date | null | undefined): number | null => date?.getTime() ?? null;
const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

/** A checkout as its row. */
export function checkoutRowOf(checkout: Checkout): CheckoutRow {
  const { key } = checkout;
  return {
    id: checkout.id,
    mode: checkout.mode,
    secret_hash: checkout.secretHash,
    session_id: checkout.sessionId,
    state: checkout.state,
    created_at: checkout.createdAt.getTime(),
    paid_at: msOf(checkout.paidAt),
    key_hash: key?.hash ?? null,
    key_name: key?.name ?? null,
    key_issued_at: msOf(key?.issuedAt),
    revoked_at: msOf(checkout.revokedAt),
  };
}

/** A row as its checkout. */
export function checkoutOf(row: CheckoutRow): Checkout {
  const { key_hash: hash, key_name: name, key_issued_at: issuedAt } = row;
  return {
    id: row.id,
    mode: row.mode,
    secretHash: row.secret_hash,
    sessionId: row.session_id,
    state: row.state,
    createdAt: new Date(row.created_at),
    paidAt: dateOf(row.paid_at),
    key: hash === null ? null : { hash, name: name ?? '', issuedAt: new Date(issuedAt ?? 0) },
    revokedAt: dateOf(row.revoked_at),
  };
}
