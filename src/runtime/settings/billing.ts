import type { CheckoutMode } from '../../domain/checkout/payments.ts';
import type { Secret } from '../../domain/secret.ts';
import type { SettingValues } from './table.ts';

/** Sale of access to the catalog. */
export interface BillingSettings {
  /** Key for the API of Stripe. */
  readonly secretKey: Secret | null;
  /** Secret that Stripe signs webhooks with. */
  readonly webhookSecret: Secret | null;
  readonly priceId: string | null;
  readonly mode: CheckoutMode;
  /** Address of the API of Stripe; null for the default. */
  readonly apiBase: string | null;
  /** Seconds between two requests for missed webhook events; 0 never asks. */
  readonly reconcileSeconds: number;
  /** Public address of this server without a trailing slash; null for the address listened on. */
  readonly publicUrl: string | null;
}

export function billingOf(values: SettingValues): BillingSettings {
  return {
    secretKey: values.stripeSecretKey,
    webhookSecret: values.stripeWebhookSecret,
    priceId: values.stripePriceId,
    mode: values.stripeMode,
    apiBase: withoutSlash(values.stripeApiBase),
    reconcileSeconds: values.stripeReconcileSeconds,
    publicUrl: withoutSlash(values.publicUrl),
  };
}

const withoutSlash = (address: string | null): string | null =>
  address === null ? null : new URL(address).href.replace(/\/+$/, '');
