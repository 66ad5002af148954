import { z } from 'zod';
import { CHECKOUT_MODES, type CheckoutMode } from '../../domain/checkout/payments.ts';
import { Secret } from '../../domain/secret.ts';

/** How access to the catalog is sold; without a secret key it is not. */
export interface BillingSettings {
  /** Stripe's key for its API. */
  readonly secretKey: Secret | null;
  /** What Stripe signs its messages with. */
  readonly webhookSecret: Secret | null;
  /** The one thing that is sold. */
  readonly priceId: string | null;
  readonly mode: CheckoutMode;
  /** Where Stripe's API is; null for its own address. */
  readonly apiBase: string | null;
  /** Seconds from one look for lost messages to the next; zero never looks. */
  readonly reconcileSeconds: number;
  /** Where buyers reach this process, without a trailing slash; null for the address it listens on. */
  readonly publicUrl: string | null;
}

/** What the config file may say of it. */
export const billingSection = z.looseObject({
  stripe_secret_key: z.string().optional(),
  stripe_webhook_secret: z.string().optional(),
  stripe_price_id: z.string().optional(),
  stripe_mode: z.string().optional(),
  stripe_api_base: z.string().optional(),
  stripe_reconcile_seconds: z.union([z.string(), z.number()]).optional(),
});
export type BillingSection = z.infer<typeof billingSection>;

const RECONCILE_SECONDS = 300;
const MOST_SECONDS = 86_400;

/** Reads what is said of selling access, the environment before the file; tells of every fault. */
export function readBilling(
  env: NodeJS.ProcessEnv,
  file: { readonly publicUrl: string | null; readonly billing: BillingSection | null },
  faulty: (fault: {
    readonly source: string;
    readonly line: null;
    readonly key: string;
    readonly message: string;
  }) => void,
): BillingSettings {
  const told = (name: string, inFile: string | number | null | undefined): string | null =>
    env[name] || (inFile === undefined || inFile === null || inFile === '' ? null : String(inFile));
  const fault = (key: string, message: string): void => {
    faulty({ source: env[key] ? 'environment' : 'config file', line: null, key, message });
  };
  const secret = (value: string | null): Secret | null => (value === null ? null : new Secret(value));
  const address = (key: string, value: string | null): string | null => {
    if (value === null) return null;
    const url = URL.parse(value);
    const plain = url !== null && url.username === '' && url.search === '' && url.hash === '';
    if (plain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
    fault(key, 'is not an http(s) address without a query');
    return null;
  };

  const { billing } = file;
  const mode = told('STRIPE_MODE', billing?.stripe_mode) ?? 'payment';
  const knownMode = CHECKOUT_MODES.find((known) => known === mode);
  if (knownMode === undefined) fault('STRIPE_MODE', `"${mode}" is not one of ${CHECKOUT_MODES.join(', ')}`);
  const seconds = Number(told('STRIPE_RECONCILE_SECONDS', billing?.stripe_reconcile_seconds) ?? RECONCILE_SECONDS);
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > MOST_SECONDS)
    fault('STRIPE_RECONCILE_SECONDS', `is not a whole number from 0 to ${MOST_SECONDS}`);
  const apiBase = address('STRIPE_API_BASE', told('STRIPE_API_BASE', billing?.stripe_api_base));
  // The SDK takes a host, not an address with a path.
  if (apiBase !== null && new URL(apiBase).pathname !== '/') fault('STRIPE_API_BASE', 'has a path; name the host only');
  return {
    secretKey: secret(told('STRIPE_SECRET_KEY', billing?.stripe_secret_key)),
    webhookSecret: secret(told('STRIPE_WEBHOOK_SECRET', billing?.stripe_webhook_secret)),
    priceId: told('STRIPE_PRICE_ID', billing?.stripe_price_id),
    mode: knownMode ?? 'payment',
    apiBase,
    reconcileSeconds: seconds,
    publicUrl: address('PROXY_BASE_URL', told('PROXY_BASE_URL', file.publicUrl)),
  };
}
