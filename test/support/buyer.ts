import { expect } from 'vitest';
import type { FakeStripe } from './fake-stripe.ts';

/** Unpaid purchase in a browser. */
export interface BuyerVisit {
  /** Payment page of Stripe. */
  readonly payUrl: string;
  /** Return URL with the secret. */
  readonly successUrl: string;
  readonly checkoutId: string;
  readonly secret: string;
}

/** Starts a purchase with the request of a browser. */
export async function beginPurchase(appUrl: string, stripe: FakeStripe): Promise<BuyerVisit> {
  const answer = await fetch(`${appUrl}/billing/checkout`, { method: 'POST' });
  expect(answer.status).toBe(200);
  const { url: payUrl } = (await answer.json()) as { url: string };
  const successUrl = String(stripe.sessionAt(payUrl)['success_url']);
  const { searchParams } = new URL(successUrl);
  return {
    payUrl,
    successUrl,
    checkoutId: searchParams.get('checkout') ?? '',
    secret: searchParams.get('secret') ?? '',
  };
}

/** Key on a page. Null if there is none. */
export const keyOn = (page: string): string | null => /<code>(ck-[\w-]+)<\/code>/.exec(page)?.[1] ?? null;

export const headingOf = (page: string): string | null => /<h1>(.*?)<\/h1>/.exec(page)?.[1] ?? null;
