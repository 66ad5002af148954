import { describe, expect, it } from 'vitest';
import { type BillingSection, readBilling } from '../../../src/runtime/settings/billing.ts';

/** What is read, with its secrets laid open, and the faults as `source key: message`. */
function read(env: Record<string, string>, billing: BillingSection | null = null, publicUrl: string | null = null) {
  const faults: string[] = [];
  const { secretKey, webhookSecret, ...rest } = readBilling(env, { billing, publicUrl }, (fault) => {
    faults.push(`${fault.source} ${fault.key}: ${fault.message}`);
  });
  return { ...rest, secretKey: secretKey?.reveal() ?? null, webhookSecret: webhookSecret?.reveal() ?? null, faults };
}

const NOTHING = {
  secretKey: null,
  webhookSecret: null,
  priceId: null,
  mode: 'payment',
  apiBase: null,
  reconcileSeconds: 300,
  publicUrl: null,
  faults: [],
};

describe('billing settings', () => {
  it('sell nothing unless told to', () => {
    expect(read({})).toEqual(NOTHING);
    expect(read({ STRIPE_SECRET_KEY: '', STRIPE_MODE: '' }, { stripe_price_id: '' })).toEqual(NOTHING);
  });

  it('take the environment before the file', () => {
    const file = {
      stripe_secret_key: 'sk_file',
      stripe_price_id: 'price_file',
      stripe_mode: 'subscription',
      stripe_reconcile_seconds: 7,
    };
    const env = {
      STRIPE_SECRET_KEY: 'sk_env',
      STRIPE_WEBHOOK_SECRET: 'whsec_env',
      PROXY_BASE_URL: 'https://a.example/b/',
    };
    expect(read(env, file, 'https://file.example')).toEqual({
      ...NOTHING,
      secretKey: 'sk_env',
      webhookSecret: 'whsec_env',
      priceId: 'price_file',
      mode: 'subscription',
      reconcileSeconds: 7,
      publicUrl: 'https://a.example/b',
    });
    expect(read({}, file, 'https://file.example')).toMatchObject({
      secretKey: 'sk_file',
      publicUrl: 'https://file.example',
    });
  });

  it('show no secret when they are printed', () => {
    const settings = readBilling({ STRIPE_SECRET_KEY: 'sk_env' }, { billing: null, publicUrl: null }, () => {});
    expect(JSON.stringify(settings)).not.toContain('sk_env');
  });

  it.each([
    [{ STRIPE_MODE: 'gift' }, 'environment STRIPE_MODE: "gift" is not one of payment, subscription'],
    [
      { STRIPE_RECONCILE_SECONDS: '1.5' },
      'environment STRIPE_RECONCILE_SECONDS: is not a whole number from 0 to 86400',
    ],
    [
      { STRIPE_RECONCILE_SECONDS: '86401' },
      'environment STRIPE_RECONCILE_SECONDS: is not a whole number from 0 to 86400',
    ],
    [{ STRIPE_API_BASE: 'https://x.example/v1' }, 'environment STRIPE_API_BASE: has a path; name the host only'],
    [{ STRIPE_API_BASE: 'ftp://x.example' }, 'environment STRIPE_API_BASE: is not an http(s) address without a query'],
    [{ PROXY_BASE_URL: 'x.example' }, 'environment PROXY_BASE_URL: is not an http(s) address without a query'],
    [
      { PROXY_BASE_URL: 'https://me:pw@x.example' },
      'environment PROXY_BASE_URL: is not an http(s) address without a query',
    ],
    [
      { PROXY_BASE_URL: 'https://x.example/?a' },
      'environment PROXY_BASE_URL: is not an http(s) address without a query',
    ],
  ])('refuse %j', (env, fault) => {
    expect(read(env).faults).toEqual([fault]);
  });

  it('name the file when the fault is there', () => {
    expect(read({}, { stripe_mode: 'gift' }).faults[0]).toMatch(/^config file STRIPE_MODE: /);
  });
});
