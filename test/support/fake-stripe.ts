import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Stripe } from 'stripe';

/** Object of Stripe's API. */
type StripeObject = Readonly<Record<string, unknown>> & { readonly id: string };

/** Event in webhooks and in the list of events. */
interface StripeEvent {
  readonly id: string;
  readonly object: 'event';
  readonly type: string;
  /** Unix seconds. */
  readonly created: number;
  readonly data: { readonly object: Readonly<Record<string, unknown>> };
}

interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly form: Readonly<Record<string, string>>;
}

/** Fake server of the part of Stripe's API that checkouts use, on a loopback port. */
export interface FakeStripe {
  readonly url: string;
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Environment variables for the server under test. */
  readonly env: Readonly<Record<string, string>>;
  /** Received requests, in order. */
  readonly requests: readonly ReceivedRequest[];
  /** Checkout session of a payment page. */
  sessionAt(url: string): StripeObject;
  /** Pays the checkout session of a payment page. Returns the event of the payment. */
  pay(url: string, overrides?: Readonly<Record<string, unknown>>): StripeEvent;
  /** Adds an event to the list of events and returns it. */
  createEvent(type: string, object: Readonly<Record<string, unknown>>, seconds?: number): StripeEvent;
  /** Posts an event to the server under test. The signature is valid by default. */
  deliver(
    to: string,
    event: StripeEvent,
    overrides?: {
      readonly secret?: string;
      readonly timestamp?: number;
      readonly body?: string;
      /** Null sends no signature. */
      readonly signature?: string | null;
    },
  ): Promise<Response>;
  /** Sets the response to all later requests. `cut` closes their connections, and null restores the usual responses. */
  fail(answer: { readonly status: number; readonly error: object } | 'cut' | null): void;
  stop(): Promise<void>;
}

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

async function formOf(request: IncomingMessage): Promise<Readonly<Record<string, string>>> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  return Object.fromEntries(new URLSearchParams(body));
}

/** Object from form fields that the SDK flattened, e.g. `metadata[mark]`. */
function nested(form: Readonly<Record<string, string>>, name: string): Readonly<Record<string, string>> {
  const prefix = `${name}[`;
  const members = Object.entries(form).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(members.map(([key, value]) => [key.slice(prefix.length, -1), value]));
}

export async function startFakeStripe(): Promise<FakeStripe> {
  const secretKey = 'sk_test_fake0123456789abcdef';
  const webhookSecret = 'whsec_fake0123456789abcdef';
  const requests: ReceivedRequest[] = [];
  const sessions = new Map<string, StripeObject>();
  const byIdempotencyKey = new Map<string, StripeObject>();
  const events: StripeEvent[] = [];
  let failure: Parameters<FakeStripe['fail']>[0] = null;
  let sessionCount = 0;

  function openSession(form: ReceivedRequest['form'], key: string): StripeObject {
    const before = byIdempotencyKey.get(key);
    if (before) return before;
    sessionCount += 1;
    const id = `cs_test_${sessionCount}`;
    const session: StripeObject = {
      id,
      object: 'checkout.session',
      mode: form['mode'],
      status: 'open',
      payment_status: 'unpaid',
      client_reference_id: form['client_reference_id'],
      metadata: nested(form, 'metadata'),
      success_url: form['success_url'],
      cancel_url: form['cancel_url'],
      payment_intent: null,
      subscription: null,
      invoice: null,
      created: nowSeconds(),
      url: `${url}/pay/${id}`,
    };
    sessions.set(id, session);
    byIdempotencyKey.set(key, session);
    return session;
  }

  function listEvents(query: URLSearchParams): object {
    const types = new Set([...query].flatMap(([name, value]) => (name.startsWith('types[') ? [value] : [])));
    const since = Number(query.get('created[gte]'));
    const found = events.toReversed().filter(({ type, created }) => types.has(type) && created >= since);
    // 0 without `starting_after`, because no event is found then.
    const begin = found.findIndex(({ id }) => id === query.get('starting_after')) + 1;
    const data = found.slice(begin, begin + Number(query.get('limit') ?? 10));
    return { object: 'list', data, has_more: begin + data.length < found.length, url: '/v1/events' };
  }

  function answerTo({ method, path, headers, form }: ReceivedRequest): {
    readonly status: number;
    readonly body: object;
  } {
    const { pathname, searchParams } = new URL(path, url);
    if (headers.authorization !== `Bearer ${secretKey}`)
      return {
        status: 401,
        body: { error: { type: 'invalid_request_error', message: `Invalid API Key: ${headers.authorization}` } },
      };
    if (method === 'POST' && pathname === '/v1/checkout/sessions')
      return { status: 200, body: openSession(form, String(headers['idempotency-key'])) };
    const session = sessions.get(pathname.replace('/v1/checkout/sessions/', ''));
    if (method === 'GET' && session) return { status: 200, body: session };
    if (method === 'GET' && pathname === '/v1/events') return { status: 200, body: listEvents(searchParams) };
    return {
      status: 404,
      body: { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such thing.' } },
    };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const call: ReceivedRequest = { method, path, headers, form: await formOf(request) };
    requests.push(call);
    if (failure === 'cut') return void request.socket.destroy();
    const { status, body } = failure ? { status: failure.status, body: { error: failure.error } } : answerTo(call);
    // Disables retries of the SDK.
    response.writeHead(status, {
      'content-type': 'application/json',
      'request-id': 'req_fake',
      'stripe-should-retry': 'false',
    });
    response.end(JSON.stringify(body));
  }

  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function createEvent(type: string, object: Readonly<Record<string, unknown>>, seconds = nowSeconds()): StripeEvent {
    const event: StripeEvent = {
      id: `evt_${events.length + 1}`,
      object: 'event',
      type,
      created: seconds,
      data: { object },
    };
    events.push(event);
    return event;
  }

  function sessionAt(page: string): StripeObject {
    const session = sessions.get(page.split('/').at(-1) ?? '');
    if (session === undefined) throw new Error(`There is no session at ${page}.`);
    return session;
  }

  return {
    url,
    secretKey,
    webhookSecret,
    env: {
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_WEBHOOK_SECRET: webhookSecret,
      STRIPE_PRICE_ID: 'price_1',
      STRIPE_API_BASE: url,
      STRIPE_RECONCILE_SECONDS: '0',
    },
    requests,
    sessionAt,
    pay(page, overrides = {}) {
      const open = sessionAt(page);
      const number = open.id.split('_').at(-1);
      const paidFor =
        open['mode'] === 'payment'
          ? { payment_intent: `pi_${number}` }
          : { subscription: `sub_${number}`, invoice: `in_${number}` };
      const session = { ...open, status: 'complete', payment_status: 'paid', url: null, ...paidFor, ...overrides };
      sessions.set(open.id, session);
      return createEvent('checkout.session.completed', session);
    },
    createEvent,
    async deliver(to, event, overrides = {}) {
      const payload = JSON.stringify(event);
      const { secret = webhookSecret, timestamp = nowSeconds(), body = payload } = overrides;
      const signature =
        overrides.signature === undefined
          ? Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })
          : overrides.signature;
      return fetch(`${to}/billing/webhook`, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          ...(signature === null ? {} : { 'stripe-signature': signature }),
        },
      });
    },
    fail(answer) {
      failure = answer;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close').catch(() => {});
    },
  };
}
