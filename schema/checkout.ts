import {
  createCheckout,
  findCheckout,
  type IssuedCatalogKey,
  listCheckouts,
  replaceCatalogKey,
  revokeCatalogKey,
} from '../resolvers/checkout.ts';
import { type Checkout, isEntitled, CHECKOUT_PAGE_SIZE } from '../src/domain/checkout/checkout.ts';
import type { CheckoutState } from '../src/domain/checkout/payment-event.ts';
import type { CheckoutMode } from '../src/domain/checkout/payments.ts';
import { Conflict, LimitExceeded, NotFound, UpstreamFailed } from '../src/domain/errors.ts';
import type { Page } from '../src/domain/page.ts';
import { checkoutCursor } from '../src/domain/checkout/checkout-cursor.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { nodesOf } from './base/node-loading.ts';
import { creationOrder } from './base/order.ts';
import { type Connection, edgesOf, forwardPage } from './base/paging.ts';
import { CatalogKeyType, CheckoutType } from './base/refs.ts';

// A checkout is a purchase. Names of types say `Checkout`, descriptions say purchase.

const stateValues = {
  OPEN: { value: 'open', description: 'Not paid yet.' },
  PROCESSING: { value: 'processing', description: 'The buyer has finished; the payment is pending.' },
  PAID: { value: 'paid', description: 'Paid. The only state in which the key is valid.' },
  PAYMENT_FAILED: { value: 'payment_failed', description: 'The payment failed.' },
  EXPIRED: { value: 'expired', description: 'The buyer did not pay in time.' },
  REFUNDED: { value: 'refunded', description: 'The payment was refunded in full.' },
  DISPUTED: { value: 'disputed', description: 'The buyer disputes the payment.' },
  SUSPENDED: { value: 'suspended', description: 'The subscription is paused or unpaid.' },
  ENDED: { value: 'ended', description: 'The subscription has ended.' },
} as const satisfies Record<string, { value: CheckoutState; description: string }>;
const CheckoutStateType = builder.enumType('CheckoutState', {
  description: 'State of a purchase.',
  values: stateValues,
});

const modeValues = {
  PAYMENT: { value: 'payment', description: 'One payment.' },
  SUBSCRIPTION: { value: 'subscription', description: 'Recurring payments.' },
} as const satisfies Record<string, { value: CheckoutMode; description: string }>;
const CheckoutModeType = builder.enumType('CheckoutMode', {
  description: 'Payment mode of a purchase.',
  values: modeValues,
});

CatalogKeyType.implement({
  description: 'A key for the catalog without the limit of the free tier. Its secret is not stored.',
  fields: (t) => ({
    name: t.string({
      description: 'Masked secret: `ck-...` and its last four characters.',
      resolve: ({ key }) => key.name,
    }),
    issuedAt: t.field({
      type: 'DateTime',
      description: 'When the key was issued.',
      resolve: ({ key }) => key.issuedAt,
    }),
    valid: t.boolean({
      description: 'Whether the key is accepted now.',
      resolve: ({ checkout }) => isEntitled(checkout),
    }),
  }),
});

builder.node(CheckoutType, {
  description: 'A purchase of access to the catalog.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => findCheckout(scope, id)),
  fields: (t) => ({
    checkoutId: t.exposeID('id', { description: 'Local id. The payment provider has it as metadata.' }),
    mode: t.expose('mode', { type: CheckoutModeType, description: 'Payment mode.' }),
    state: t.expose('state', { type: CheckoutStateType, description: 'State of the purchase.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the purchase was started.' }),
    paidAt: t.expose('paidAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last payment. Null before the first payment.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When an administrator revoked the key. Null when it was not revoked.',
    }),
    key: t.field({
      type: CatalogKeyType,
      nullable: true,
      description: 'The key. Null until it was issued to the buyer.',
      resolve: (checkout) => (checkout.key === null ? null : { checkout, key: checkout.key }),
    }),
  }),
});

const PaymentPageType = builder.objectRef<{ readonly url: string }>('CheckoutSession').implement({
  description: 'A payment page.',
  fields: (t) => ({ url: t.exposeString('url', { description: 'Address of the payment page for the buyer.' }) }),
});

const IssuedCatalogKeyType = builder.objectRef<IssuedCatalogKey>('IssuedCatalogKey').implement({
  description: 'A new catalog key. The secret is returned once.',
  fields: (t) => ({
    key: t.exposeString('clearKey', { description: 'The secret. It cannot be read again.' }),
    checkout: t.field({
      type: CheckoutType,
      description: 'Purchase of the key.',
      resolve: ({ checkout }) => checkout,
    }),
  }),
});

const CheckoutConnectionType = builder.connectionObject(
  { type: CheckoutType, name: 'CheckoutConnection', description: 'One page of purchases.' },
  { name: 'CheckoutEdge', description: 'One purchase of a page.' },
);

async function connectionOf(page: Promise<Page<Checkout>>, after: string | null): Promise<Connection<Checkout>> {
  const { items, nextCursor } = await page;
  return forwardPage(edgesOf(items, checkoutCursor), {
    hasNextPage: nextCursor !== null,
    hasPreviousPage: after !== null,
  });
}

const CheckoutFilterType = builder.inputType('CheckoutFilter', {
  description: 'Filter of purchases.',
  fields: (t) => ({ state: t.field({ type: CheckoutStateType, description: 'Exact state.' }) }),
});

const CheckoutOrderType = creationOrder('Checkout', 'purchases');

builder.queryField('checkouts', (t) =>
  t.field({
    type: CheckoutConnectionType,
    description:
      'Purchases of access to the catalog, newest first by default. At most 50 a page. For proxy administrators.',
    complexity: ({ first }) => ({
      field: 1,
      multiplier: Math.max(0, Math.min(first ?? CHECKOUT_PAGE_SIZE, CHECKOUT_PAGE_SIZE)),
    }),
    args: {
      filter: t.arg({ type: CheckoutFilterType, description: 'All purchases when absent.' }),
      orderBy: t.arg({ type: CheckoutOrderType, description: 'Newest first when absent.' }),
      first: t.arg.int({ description: 'Page size, 1 to 50; 50 when absent.' }),
      after: t.arg.string({ description: 'Returns purchases after this cursor.' }),
    },
    resolve: (_root, { filter, orderBy, first, after }, { scope }) =>
      connectionOf(
        listCheckouts(scope, {
          state: filter?.state ?? null,
          descending: orderBy?.direction !== 'ascending',
          cursor: after ?? null,
          limit: first ?? CHECKOUT_PAGE_SIZE,
        }),
        after ?? null,
      ),
  }),
);

const CHECKOUT_ID = 'Global id, or `checkoutId`.';

const ReplaceInput = builder.inputType('ReplaceCatalogKeyInput', {
  description: 'The purchase whose key is replaced.',
  fields: (t) => ({ checkoutId: t.id({ required: true, description: CHECKOUT_ID }) }),
});

const RevokeInput = builder.inputType('RevokeCatalogKeyInput', {
  description: 'The purchase whose key is revoked.',
  fields: (t) => ({ checkoutId: t.id({ required: true, description: CHECKOUT_ID }) }),
});

builder.mutationFields((t) => ({
  createCheckout: t.field({
    type: PaymentPageType,
    description:
      'Starts a purchase of access to the catalog. Fails with UNAVAILABLE when this installation does not sell access.',
    errors: {
      types: [UpstreamFailed, LimitExceeded],
      union: { name: 'CreateCheckoutResult', description: 'The payment page, or why there is none.' },
    },
    resolve: (_root, _args, { scope }) => createCheckout(scope, undefined),
  }),
  replaceCatalogKey: t.field({
    type: IssuedCatalogKeyType,
    description: 'Issues a new catalog key for a purchase; the old one becomes invalid. For proxy administrators.',
    args: { input: t.arg({ type: ReplaceInput, required: true, description: 'The purchase.' }) },
    errors: {
      types: [NotFound, Conflict],
      union: { name: 'ReplaceCatalogKeyResult', description: 'The new key, or why it was not issued.' },
    },
    resolve: (_root, { input }, { scope }) => replaceCatalogKey(scope, localId('Checkout', input.checkoutId)),
  }),
  revokeCatalogKey: t.field({
    type: CheckoutType,
    description: 'Revokes a catalog key permanently. For proxy administrators.',
    args: { input: t.arg({ type: RevokeInput, required: true, description: 'The purchase.' }) },
    errors: {
      types: [NotFound],
      union: {
        name: 'RevokeCatalogKeyResult',
        description: 'The purchase with its revoked key, or why the key was not revoked.',
      },
    },
    resolve: (_root, { input }, { scope }) => revokeCatalogKey(scope, localId('Checkout', input.checkoutId)),
  }),
}));
