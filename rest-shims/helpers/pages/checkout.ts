import type { Buyer, Purchase } from '../../../resolvers/checkout.ts';
import type { CheckoutState } from '../../../src/domain/checkout/payment-event.ts';
import { escapeHtml, pageHeaders, htmlAnswer, htmlDocument } from '../http/html.ts';
import type { HttpAnswer } from '../http/route.ts';

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; color: #1c2430; }
code { font: 16px/1.5 ui-monospace, monospace; background: #f3f5f9; padding: .4rem .6rem; user-select: all; }
button { font: inherit; padding: .4rem .8rem; }
`;

/** No external content, cache, indexing or referrer: the URL of the page contains the secret of the buyer. */
const HEADERS = { ...pageHeaders(STYLE), 'x-robots-tag': 'noindex' };

/** Interval in seconds, and maximum number, of automatic reloads. */
const RELOAD_SECONDS = 3;
const MAX_RELOADS = 40;

/** Reason why there is no valid key, by state; null for states in which a key is valid or may still be issued. */
const NO_KEY_REASONS: Record<CheckoutState, string | null> = {
  open: null,
  processing: null,
  paid: null,
  payment_failed: 'The payment failed. Nothing was bought.',
  expired: 'The checkout expired before it was paid. Nothing was bought.',
  refunded: 'The payment was refunded. The key is no longer valid.',
  disputed: 'The payment is disputed. The key is not valid during the dispute.',
  suspended: 'The subscription is paused or unpaid. The key is valid again when the subscription resumes.',
  ended: 'The subscription has ended. The key is no longer valid.',
};

const pageOf = (title: string, content: string, head = ''): HttpAnswer =>
  htmlAnswer(HEADERS, htmlDocument({ title, style: STYLE, head, content: `<h1>${title}</h1>\n${content}` }));

/** Element that reloads the page. The URL is relative, so that it works behind a proxy's path prefix. */
function reloadElement({ checkoutId, secret }: Buyer, reloads: number): string {
  const query = new URLSearchParams({ checkout: checkoutId, secret, again: String(reloads) });
  return `<meta http-equiv="refresh" content="${RELOAD_SECONDS};url=${escapeHtml(`?${query.toString()}`)}">\n`;
}

function waitingPage(state: CheckoutState, buyer: Buyer, reloads: number): HttpAnswer {
  const hint =
    state === 'processing'
      ? 'Some payment methods take days. Save this address: it is the only way to your key. Come back later.'
      : 'This takes a few seconds.';
  if (reloads < MAX_RELOADS)
    return pageOf('Waiting for the payment', `<p>${hint}</p>`, reloadElement(buyer, reloads + 1));
  return pageOf(
    'Waiting for the payment',
    `<p>${hint}</p>\n<p>The payment is not confirmed yet. Reload this page to check again.</p>`,
  );
}

function keyPage(clearKey: string): HttpAnswer {
  const key = escapeHtml(clearKey);
  return pageOf(
    'Your catalog key',
    `<p><code>${key}</code></p>
<p>Save it now: it is shown only once and cannot be shown again.</p>
<p>Send it with every request to the catalog, as <code>Authorization: Bearer …</code> or <code>x-api-key</code>.</p>`,
  );
}

function alreadyShownPage(
  keyName: string,
  shownAt: Date,
  { checkoutId, secret }: Buyer,
  replaceable: boolean,
): HttpAnswer {
  const form = `<form method="post" action="success">
<input type="hidden" name="checkout" value="${escapeHtml(checkoutId)}">
<input type="hidden" name="secret" value="${escapeHtml(secret)}">
<p>Is it lost? A new key replaces the old one. <button>Create a new key</button></p>
</form>`;
  return pageOf(
    'Your key has been shown',
    `<p>The key ${escapeHtml(keyName)} was shown at ${shownAt.toISOString()}.</p>
${replaceable ? form : '<p>If it is lost, ask the seller for a new one.</p>'}`,
  );
}

/**
 * Page for a buyer who returns from the checkout: the key, a wait for the payment, or the reason why no key is shown.
 */
export function purchasePage({ checkout, clearKey, replaceable }: Purchase, buyer: Buyer, reloads: number): HttpAnswer {
  if (clearKey !== null) return keyPage(clearKey);
  if (checkout.revokedAt !== null) return pageOf('No key', '<p>The seller revoked the key.</p>');
  const reason = NO_KEY_REASONS[checkout.state];
  if (reason !== null) return pageOf('No key', `<p>${reason}</p>`);
  // The answer that issues a key is the only one that shows the key.
  if (checkout.state === 'paid' && checkout.key !== null)
    return alreadyShownPage(checkout.key.name, checkout.key.issuedAt, buyer, replaceable);
  return waitingPage(checkout.state, buyer, reloads);
}

/** Page for a buyer who cancelled the checkout. */
export const cancelledPage = (): HttpAnswer =>
  pageOf('Nothing was bought', '<p>The checkout was cancelled. Nothing was charged.</p>');
