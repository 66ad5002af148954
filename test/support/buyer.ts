import { expect } from 'vitest';
import type { FakeStripe } from './fake-stripe.ts';

/** A purchase in a browser: the payment page and the return URL. */
export interface BuyerVisit {
  /** Stripe's page. */
  readonly payUrl: string;
  /** Our page, with the secret. */
  readonly successUrl: string;
  readonly checkoutId: string;
  readonly secret: string;
}

/** Starts a purchase as a browser would. */
export async function beginPurchase(appUrl: string, stripe: FakeStripe): Promise<BuyerVisit> {
  const answer = await fetch(`${appUrl}/billing/checkout`, { method: 'POST' });
  expect(answer.status).toBe(200);
  const { url: payUrl } = (await answer.json()) as { url: string };
  // As the browser would after a restart: the same path on the current port.
  const successUrl = String(stripe.sessionAt(payUrl)['success_url']);
  const { searchParams } = new URL(successUrl);
  return {
    payUrl,
    successUrl,
    checkoutId: searchParams.get('checkout') ?? '',
    secret: searchParams.get('secret') ?? '',
  };
}

/** The key a page shows, or null. */
export const keyOn = (page: string): string | null => /<code>(ck-[\w-]+)<\/code>/.exec(page)?.[1] ?? null;

/** The heading of a page. */
export const headingOf = (page: string): string | null => /<h1>(.*?)<\/h1>/.exec(page)?.[1] ?? null;
