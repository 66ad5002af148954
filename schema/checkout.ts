import {
  CHECKOUT_PAGE_SIZE,
  checkoutCursor,
  createCheckout,
  type IssuedCatalogKey,
  listCheckouts,
  replaceCatalogKey,
  revokeCatalogKey,
} from '../resolvers/checkout.ts';
import { type Checkout, isEntitled } from '../src/domain/checkout/checkout.ts';
import type { CheckoutState } from '../src/domain/checkout/payment-event.ts';
import type { CheckoutMode } from '../src/domain/checkout/payments.ts';
import { Conflict, LimitExceeded, NotFound, UpstreamFailed } from '../src/domain/errors.ts';
import type { Page } from '../src/domain/page.ts';
import { builder } from './builder.ts';
import type { Connection } from './paging.ts';
import { CatalogKeyType, CheckoutType } from './refs.ts';

const stateValues = {
  OPEN: { value: 'open', description: 'Not paid yet.' },
  PROCESSING: { value: 'processing', description: 'The buyer is through, the money is on its way.' },
  PAID: { value: 'paid', description: 'Paid: the only state that opens anything.' },
  PAYMENT_FAILED: { value: 'payment_failed', description: 'The money never came.' },
  EXPIRED: { value: 'expired', description: 'The buyer never paid.' },
  REFUNDED: { value: 'refunded', description: 'All of it was paid back.' },
  DISPUTED: { value: 'disputed', description: 'The buyer disputes the payment.' },
  SUSPENDED: { value: 'suspended', description: 'The subscription is paused or unpaid.' },
  ENDED: { value: 'ended', description: 'The subscription has ended.' },
} as const satisfies Record<string, { value: CheckoutState; description: string }>;
const CheckoutStateType = builder.enumType('CheckoutState', {
  description: 'Where a purchase stands.',
  values: stateValues,
});

const modeValues = {
  PAYMENT: { value: 'payment', description: 'Paid once.' },
  SUBSCRIPTION: { value: 'subscription', description: 'Paid again and again.' },
} as const satisfies Record<string, { value: CheckoutMode; description: string }>;
const CheckoutModeType = builder.enumType('CheckoutMode', {
  description: 'How a purchase is paid.',
  values: modeValues,
});

CatalogKeyType.implement({
  description: 'What is kept of a key that lifts the free tier of the catalog.',
  fields: (t) => ({
    name: t.string({ description: '`ck-...` and its last four characters.', resolve: ({ key }) => key.name }),
    issuedAt: t.field({ type: 'DateTime', description: 'When it was made.', resolve: ({ key }) => key.issuedAt }),
    holds: t.boolean({
      description: 'Whether it is accepted now.',
      resolve: ({ checkout }) => isEntitled(checkout),
    }),
  }),
});

CheckoutType.implement({
  description: 'One purchase of access to the catalog.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id, also in the metadata of what the payment provider made for it.' }),
    mode: t.expose('mode', { type: CheckoutModeType, description: 'How it is paid.' }),
    state: t.expose('state', { type: CheckoutStateType, description: 'Where it stands.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the buyer began.' }),
    paidAt: t.expose('paidAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The newest payment; null before the first.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When an administrator took the key away; null while nobody has.',
    }),
    key: t.field({
      type: CatalogKeyType,
      nullable: true,
      description: 'Its key; null until the buyer has seen one.',
      resolve: (checkout) => checkout.key && { checkout, key: checkout.key },
    }),
  }),
});

const CheckoutPageType = builder.objectRef<{ readonly url: string }>('CheckoutSession').implement({
  description: 'A purchase that was begun.',
  fields: (t) => ({ url: t.exposeString('url', { description: 'Where to send the buyer to pay.' }) }),
});

const IssuedCatalogKeyType = builder.objectRef<IssuedCatalogKey>('IssuedCatalogKey').implement({
  description: 'A new catalog key, shown once.',
  fields: (t) => ({
    key: t.exposeString('clearKey', { description: 'The key itself. Nobody can show it again.' }),
    checkout: t.field({
      type: CheckoutType,
      description: 'The purchase it belongs to.',
      resolve: ({ checkout }) => checkout,
    }),
  }),
});

const CheckoutConnectionType = builder.connectionObject(
  { type: CheckoutType, name: 'CheckoutConnection', description: 'One page of purchases, newest first.' },
  { name: 'CheckoutEdge', description: 'One purchase of a page.' },
);

async function connectionOf(page: Promise<Page<Checkout>>, after: string | null): Promise<Connection<Checkout>> {
  const { items, nextCursor } = await page;
  const edges = items.map((node) => ({ node, cursor: checkoutCursor(node) }));
  return {
    edges,
    pageInfo: {
      hasNextPage: nextCursor !== null,
      hasPreviousPage: after !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

builder.queryField('checkouts', (t) =>
  t.field({
    type: CheckoutConnectionType,
    description: 'Purchases of access to the catalog, newest first. For proxy administrators.',
    complexity: ({ first }) => ({
      field: 1,
      multiplier: Math.max(0, Math.min(first ?? CHECKOUT_PAGE_SIZE, CHECKOUT_PAGE_SIZE)),
    }),
    args: {
      first: t.arg.int({ description: 'At most this many, 1 to 50; 50 when absent.' }),
      after: t.arg.string({ description: 'Only what follows this cursor.' }),
    },
    resolve: (_root, { first, after }, { scope }) =>
      connectionOf(listCheckouts(scope, { cursor: after ?? null, limit: first ?? CHECKOUT_PAGE_SIZE }), after ?? null),
  }),
);

builder.mutationFields((t) => ({
  createCheckout: t.field({
    type: CheckoutPageType,
    description: 'Begins a purchase of access to the catalog. Fails with UNAVAILABLE where nothing is for sale.',
    errors: {
      types: [UpstreamFailed, LimitExceeded],
      union: { name: 'CreateCheckoutResult', description: 'The page to pay on, or why there is none.' },
    },
    resolve: (_root, _args, { scope }) => createCheckout(scope, undefined),
  }),
  replaceCatalogKey: t.field({
    type: IssuedCatalogKeyType,
    description: "Makes a buyer's key anew; the old one ends. For proxy administrators.",
    args: { checkoutId: t.arg.id({ required: true, description: 'The purchase.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: { name: 'ReplaceCatalogKeyResult', description: 'The new key, or why there is none.' },
    },
    resolve: (_root, { checkoutId }, { scope }) => replaceCatalogKey(scope, checkoutId),
  }),
  revokeCatalogKey: t.field({
    type: CheckoutType,
    description: 'Takes a catalog key away for good. For proxy administrators.',
    args: { checkoutId: t.arg.id({ required: true, description: 'The purchase.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'RevokeCatalogKeyResult', description: 'The purchase without its key, or that there is none.' },
    },
    resolve: (_root, { checkoutId }, { scope }) => revokeCatalogKey(scope, checkoutId),
  }),
}));
