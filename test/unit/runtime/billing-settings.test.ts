import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { faultsFrom, settingsFrom } from '../../support/read-settings.ts';

type Section = Readonly<Record<string, string | number>>;

const sourcesOf = (env: Record<string, string>, billing: Section = {}, publicUrl: string | null = null) => ({
  env,
  yaml: stringify({
    billing_settings: billing,
    general_settings: publicUrl === null ? {} : { proxy_base_url: publicUrl },
  }),
});

/** The settings, with their secrets revealed. */
function read(...source: Parameters<typeof sourcesOf>) {
  const { secretKey, webhookSecret, ...otherSettings } = settingsFrom(sourcesOf(...source)).billing;
  return { ...otherSettings, secretKey: secretKey?.reveal() ?? null, webhookSecret: webhookSecret?.reveal() ?? null };
}

const NOTHING = {
  secretKey: null,
  webhookSecret: null,
  priceId: null,
  mode: 'payment',
  apiBase: null,
  reconcileSeconds: 300,
  publicUrl: null,
};

describe('billing settings', () => {
  it('have no key, price or public URL by default, also where the values are empty', () => {
    expect(read({})).toEqual(NOTHING);
    expect(read({ STRIPE_SECRET_KEY: '', STRIPE_MODE: '' }, { stripe_price_id: '' })).toEqual(NOTHING);
  });

  it('are read from the environment before the file', () => {
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

  it('hide their secrets in JSON', () => {
    const { billing } = settingsFrom({ env: { STRIPE_SECRET_KEY: 'sk_env' } });
    expect(JSON.stringify(billing)).not.toContain('sk_env');
  });

  // `@` is the value of the variable.
  it.each([
    [{ STRIPE_MODE: 'gift' }, 'environment: STRIPE_MODE: "gift" is not one of payment, subscription'],
    [
      { STRIPE_RECONCILE_SECONDS: '1.5' },
      'environment: STRIPE_RECONCILE_SECONDS: "@" is not a whole number from 0 to 86400',
    ],
    [
      { STRIPE_RECONCILE_SECONDS: '86401' },
      'environment: STRIPE_RECONCILE_SECONDS: "@" is not a whole number from 0 to 86400',
    ],
    [{ STRIPE_API_BASE: 'https://x.example/v1' }, 'environment: STRIPE_API_BASE: "@" has a path; name the host only'],
    [
      { STRIPE_API_BASE: 'ftp://x.example' },
      'environment: STRIPE_API_BASE: "@" is not an http(s) address without a query',
    ],
    [{ PROXY_BASE_URL: 'x.example' }, 'environment: PROXY_BASE_URL: "@" is not an http(s) address without a query'],
    [
      { PROXY_BASE_URL: 'https://me:pw@x.example' },
      'environment: PROXY_BASE_URL: "@" is not an http(s) address without a query',
    ],
    [
      { PROXY_BASE_URL: 'https://x.example/?a' },
      'environment: PROXY_BASE_URL: "@" is not an http(s) address without a query',
    ],
  ])('refuse %j', (env: Record<string, string>, fault) => {
    expect(faultsFrom({ env })).toEqual([fault.replace('@', Object.values(env)[0] ?? '')]);
  });

  it('report file and line of an error', () => {
    expect(faultsFrom(sourcesOf({}, { stripe_mode: 'gift' }))).toEqual([
      'config.yaml:2: billing_settings.stripe_mode: "gift" is not one of payment, subscription',
    ]);
  });
});
