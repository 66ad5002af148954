import { expect, it } from 'vitest';
import type { BudgetAlert } from '../../../src/domain/budgets/budget-alert.ts';
import { AddressRefused, type HttpCallOptions } from '../../../src/domain/http.ts';
import { createBudgetWebhook } from '../../../src/runtime/alerts/budget-webhook.ts';

const ALERT: BudgetAlert = {
  kind: 'refused',
  at: new Date(0),
  scope: 'team',
  id: 't',
  message: 'Budget has been exceeded!',
  keyHash: 'hash',
};
const URL = 'https://hooks.example/secret';

function aWebhook(answer: () => Promise<number>) {
  const [sent, logged]: [{ readonly options: HttpCallOptions; readonly body: string }[], unknown[]] = [[], []];
  const webhook = createBudgetWebhook({
    url: URL,
    log: { warn: (...about: unknown[]) => logged.push(about) },
    http: {
      async send(_method, _url, _headers, [body = new Uint8Array()], options) {
        sent.push({ options, body: Buffer.from(body).toString() });
        return { status: await answer(), headers: {}, body: { pipe() {}, resume() {}, cancel() {} } };
      },
    },
  });
  return { webhook, sent, logged };
}

it('the budget webhook sends an alert with a deadline, under the rules for addresses that callers choose', async () => {
  const { webhook, sent, logged } = aWebhook(() => Promise.resolve(200));
  webhook.send(ALERT);
  await webhook.drained();
  expect(sent.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    {
      event: 'budget_crossed',
      event_group: 'team',
      event_message: 'Budget has been exceeded!',
      scope: 'team',
      id: 't',
      token: 'hash',
      at: '1970-01-01T00:00:00.000Z',
      text: 'Budget has been exceeded!',
    },
  ]);
  expect(sent[0]?.options).toMatchObject({ headersTimeoutMs: 10_000, chosenByCaller: true });
  expect(logged).toEqual([]);
});

it('the budget webhook logs an alert that fails, without the address', async () => {
  for (const answer of [() => Promise.resolve(404), () => Promise.reject(new AddressRefused())]) {
    const { webhook, logged } = aWebhook(answer);
    webhook.send(ALERT);
    await webhook.drained();
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged)).not.toContain('hooks.example');
  }
});

it('the budget webhook drops alerts while 50 requests are open', async () => {
  const status = Promise.withResolvers<number>();
  const { webhook, sent, logged } = aWebhook(() => status.promise);
  for (let alert = 0; alert < 51; alert += 1) webhook.send(ALERT);
  expect([sent.length, logged.length]).toEqual([50, 1]);
  status.resolve(200);
  await webhook.drained();
  webhook.send(ALERT);
  expect(sent).toHaveLength(51);
  await webhook.drained();
});
