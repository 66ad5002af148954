import type { Bus } from '../../src/domain/bus.ts';
import type { FollowedCatalog, PatternCompiler } from '../../src/domain/catalog/catalog.ts';
import type { CatalogResultCache } from '../../src/domain/catalog/result-cache.ts';
import type { PaymentProvider } from '../../src/domain/checkout/payments.ts';
import type { Clock, Ids } from '../../src/domain/clock.ts';
import type { FreeTier } from '../../src/domain/free-tier/free-tier.ts';
import type { KeyGenerator } from '../../src/domain/keys/virtual-key.ts';
import type { RateLimiter } from '../../src/domain/rate-limiter.ts';
import type { CatalogKeyRing } from '../../src/gateway/keys/catalog-key-ring.ts';
import type { Stores } from './stores.ts';

/** The catalog: models, prices and history. */
export interface CatalogPlatform {
  readonly stores: Pick<Stores, 'catalogHistory'>;
  readonly catalog: FollowedCatalog;
  /** Results derived from the current snapshot of the catalog. */
  readonly catalogResults: CatalogResultCache;
  readonly patterns: PatternCompiler;
  readonly bus: Bus;
  readonly clock: Clock;
}

/** Calls without a key. */
export interface FreeTierPlatform {
  readonly freeTier: FreeTier;
}

/** Purchases of catalog keys. */
export interface CheckoutPlatform {
  readonly stores: Pick<Stores, 'checkouts'>;
  readonly payments: PaymentProvider;
  readonly catalogKeys: Pick<CatalogKeyRing, 'holds' | 'evict'>;
  /** Limits how often one client may start a purchase. */
  readonly checkoutRateLimiter: RateLimiter;
  readonly keyGenerator: KeyGenerator;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Base address of this process for buyers, without a trailing slash; never taken from a request. */
  publicUrl(): string;
}
