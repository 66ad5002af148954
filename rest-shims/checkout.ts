import { type Buyer, createCheckout, openPurchase, replaceLostKey, takePaymentMessage } from '../resolvers/checkout.ts';
import { cancelledPage, purchasePage } from './helpers/pages/checkout.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';

const SUCCESS_PATH = '/billing/success';
const BODY_LIMIT = 1024 * 1024;
const FORM_LIMIT = 64 * 1024;
const RELOAD_COUNT_FORMAT = /^\d{1,3}$/;
const NO_RELOADS = 0;

function parseBuyer(input: string): Buyer {
  const fields = new URLSearchParams(input);
  return { checkoutId: fields.get('checkout') ?? '', secret: fields.get('secret') ?? '' };
}

/** Number of automatic reloads so far, from the parameter `again`; 0 for an invalid value. */
function reloadCount({ search }: HttpRequest): number {
  const count = new URLSearchParams(search).get('again') ?? '';
  return RELOAD_COUNT_FORMAT.test(count) ? Number(count) : NO_RELOADS;
}

/** Whether a browser prefetches the page. A prefetch must not reveal the key, which is shown once. */
const isPrefetch = ({ headers }: HttpRequest): boolean =>
  /prefetch|prerender|preview/i.test(`${String(headers['sec-purpose'])} ${String(headers['purpose'])}`);

const formText = (body: Uint8Array): string => Buffer.from(body).toString('utf8');

/** Sale of catalog keys. */
export const checkoutRoutes: readonly RouteRow[] = [
  route({
    name: 'checkout.create',
    method: 'POST',
    paths: ['/billing/checkout'],
    surface: 'catalog',
    credential: 'none',
    statuses: [200, 413, 429, 502, 503],
    // The body is ignored.
    bodyLimit: BODY_LIMIT,
    parse: () => undefined,
    run: createCheckout,
    render: ({ url }) => json({ url }, { 'cache-control': 'no-store' }),
  }),
  route({
    name: 'checkout.webhook',
    method: 'POST',
    paths: ['/billing/webhook'],
    surface: 'catalog',
    credential: 'none',
    anyAddress: true,
    statuses: [200, 400, 413, 503],
    bodyLimit: BODY_LIMIT,
    parse: ({ body, headers }) => ({ bytes: body, signature: [headers['stripe-signature']].flat()[0] ?? null }),
    run: takePaymentMessage,
    render: () => json({ received: true }),
  }),
  route({
    name: 'checkout.success',
    method: 'GET',
    paths: [SUCCESS_PATH],
    surface: 'catalog',
    credential: 'none',
    statuses: [200, 404],
    bodyLimit: 0,
    parse: (request) => ({ ...parseBuyer(request.search), mayShow: !isPrefetch(request) }),
    run: openPurchase,
    render: (purchase, request) => purchasePage(purchase, parseBuyer(request.search), reloadCount(request)),
  }),
  route({
    name: 'checkout.replace',
    method: 'POST',
    paths: [SUCCESS_PATH],
    surface: 'catalog',
    credential: 'none',
    statuses: [200, 404, 409, 413],
    bodyLimit: FORM_LIMIT,
    parse: ({ body }) => parseBuyer(formText(body)),
    run: replaceLostKey,
    render: (purchase, { body }) => purchasePage(purchase, parseBuyer(formText(body)), NO_RELOADS),
  }),
  route({
    name: 'checkout.cancelled',
    method: 'GET',
    paths: ['/billing/cancelled'],
    surface: 'catalog',
    credential: 'none',
    statuses: [200],
    bodyLimit: 0,
    parse: () => undefined,
    run: () => undefined,
    render: cancelledPage,
  }),
];
