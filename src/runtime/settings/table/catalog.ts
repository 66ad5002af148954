import { CHECKOUT_MODES } from '../../../domain/checkout/payments.ts';
import { choice, secret, text, integer } from '../kinds.ts';
import { setting } from '../setting.ts';
import { httpAddressFault } from './checks.ts';

const SECONDS_PER_DAY = 86_400;

/** The catalog of models and prices. */
export const CATALOG_SETTINGS = {
  catalogUrl: setting({
    kind: text('http(s) or `file:` address, or a path'),
    default: null,
    defaultText: 'the address of the upstream price map',
    env: ['LITELLM_MODEL_COST_MAP_URL'],
    description: 'Address of the price map.',
  }),
  catalogRefreshSeconds: setting({
    kind: integer(0, SECONDS_PER_DAY),
    default: 60,
    env: ['LENSGATE_CATALOG_REFRESH_SECONDS'],
    unit: 's',
    description:
      'Time between two downloads of the price map. 0 downloads it only when an administrator refreshes the catalog.',
  }),
  catalogDailyLimit: setting({
    kind: integer(0, 1_000_000_000),
    default: 1_000,
    env: ['LENSGATE_CATALOG_DAILY_LIMIT'],
    file: 'general_settings.catalog_daily_limit',
    unit: 'per UTC day',
    description: 'Catalog requests per client without a key. 0 allows none.',
  }),
} as const;

/**
 * Fault of an address that is not http(s) or has a path, because the SDK of Stripe takes a host only. Null for a valid
 * one.
 */
const stripeHostFault = (value: string): string | null =>
  httpAddressFault(value) ?? (new URL(value).pathname === '/' ? null : 'has a path; name the host only');

/** Sale of access to the catalog. */
export const BILLING_SETTINGS = {
  stripeSecretKey: setting({
    kind: secret(),
    default: null,
    defaultText: 'none: nothing is sold',
    env: ['STRIPE_SECRET_KEY'],
    file: 'billing_settings.stripe_secret_key',
    description: 'Secret or restricted key of Stripe.',
  }),
  stripeWebhookSecret: setting({
    kind: secret(),
    default: null,
    defaultText: 'none: webhooks are refused',
    env: ['STRIPE_WEBHOOK_SECRET'],
    file: 'billing_settings.stripe_webhook_secret',
    description: 'Signing secret of the webhook endpoint, `whsec_…`.',
  }),
  stripePriceId: setting({
    kind: text(),
    default: null,
    defaultText: 'none: nothing is sold',
    env: ['STRIPE_PRICE_ID'],
    file: 'billing_settings.stripe_price_id',
    description: 'Price that is sold, `price_…`.',
  }),
  stripeMode: setting({
    kind: choice(CHECKOUT_MODES),
    default: 'payment',
    env: ['STRIPE_MODE'],
    file: 'billing_settings.stripe_mode',
    description: 'One payment or a subscription. Must match the price.',
  }),
  stripeApiBase: setting({
    kind: text('http(s) address of a host', stripeHostFault),
    default: null,
    defaultText: 'the address of Stripe',
    env: ['STRIPE_API_BASE'],
    file: 'billing_settings.stripe_api_base',
    description: 'Another host for the API of Stripe, for a proxy or a test.',
  }),
  stripeReconcileSeconds: setting({
    kind: integer(0, SECONDS_PER_DAY),
    default: 300,
    env: ['STRIPE_RECONCILE_SECONDS'],
    file: 'billing_settings.stripe_reconcile_seconds',
    unit: 's',
    description: 'Time between two requests for missed webhook events. 0 never asks.',
  }),
} as const;
