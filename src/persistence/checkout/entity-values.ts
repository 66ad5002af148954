import type { RequiredEntityData } from '@mikro-orm/core';
import type { Checkout } from '../../domain/checkout/checkout.ts';
import type { CheckoutEntity } from './entities/checkout.ts';

const msOf = (date: Date | null | undefined): number | null => date?.getTime() ?? null;
const dateOf = (ms: number | null | undefined): Date | null => (ms == null ? null : new Date(ms));

/** Entity values of a checkout. */
export function storedCheckoutOf(checkout: Checkout): RequiredEntityData<CheckoutEntity> {
  const { id, mode, secretHash, sessionId, state, key } = checkout;
  return {
    id,
    mode,
    secretHash,
    sessionId,
    state,
    createdAt: checkout.createdAt.getTime(),
    paidAt: msOf(checkout.paidAt),
    keyHash: key?.hash ?? null,
    keyName: key?.name ?? null,
    keyIssuedAt: msOf(key?.issuedAt),
    revokedAt: msOf(checkout.revokedAt),
  };
}

/** Checkout of an entity. */
export function checkoutOf(entity: CheckoutEntity): Checkout {
  const { id, mode, secretHash, state, keyHash: hash, keyName: name, keyIssuedAt: issuedAt } = entity;
  return {
    id,
    mode,
    secretHash,
    sessionId: entity.sessionId ?? null,
    state,
    createdAt: new Date(entity.createdAt),
    paidAt: dateOf(entity.paidAt),
    key: hash == null ? null : { hash, name: name ?? '', issuedAt: new Date(issuedAt ?? 0) },
    revokedAt: dateOf(entity.revokedAt),
  };
}
