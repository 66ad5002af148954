import type { BudgetAlert } from '../../domain/budgets/budget-alert.ts';
import { Unavailable } from '../../domain/errors.ts';
import type { HttpClient } from '../../domain/http.ts';
import type { Log } from '../telemetry/log.ts';

/** Deadline of one request, in ms. */
const DEADLINE_MS = 10_000;
/** Maximum number of alerts that are being sent. Further ones are dropped. */
const MAX_OPEN = 50;

/** Names of the events, as in the reference. */
const EVENTS = { refused: 'budget_crossed', soft_budget: 'soft_budget_crossed' } as const;
/** Names of the event groups by scope, as in the reference. Other scopes are sent under their own names. */
const GROUPS: Readonly<Partial<Record<BudgetAlert['scope'], string>>> = {
  key: 'key',
  key_window: 'key',
  user: 'internal_user',
  team: 'team',
  team_window: 'team',
  team_member: 'team',
  end_user: 'customer',
  global: 'proxy',
};

/** Sends budget alerts to the webhook of the operator. */
export interface BudgetWebhook {
  /** Returns immediately. A failure is logged, without the address. */
  send(alert: BudgetAlert): void;
  /** Sends a test alert. Throws Unavailable when the webhook refuses it or cannot be called. */
  test(at: Date): Promise<void>;
  /** Resolves when all alerts that are being sent now have been sent or have failed. */
  drained(): Promise<void>;
}

export function createBudgetWebhook({
  http,
  url,
  log,
}: {
  readonly http: Pick<HttpClient, 'send'>;
  /**
   * May contain a secret. Private addresses are refused unless the operator allows the host (docs/request-fields.md).
   */
  readonly url: string;
  readonly log: Pick<Log, 'warn'>;
}): BudgetWebhook {
  const open = new Set<Promise<void>>();

  /** Sends a body. Returns the status of the answer. */
  async function post(body: Uint8Array): Promise<number> {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const options = { signal, headersTimeoutMs: DEADLINE_MS, chosenByCaller: true };
    const answer = await http.send('POST', url, { 'content-type': 'application/json' }, [body], options);
    answer.body.cancel();
    return answer.status;
  }

  async function postAlert(alert: BudgetAlert): Promise<void> {
    try {
      const status = await post(bodyOf(alert));
      if (status >= 300) log.warn({ status }, 'the alert webhook refused a budget alert');
    } catch (error) {
      const reason = error instanceof Error ? error.name : 'unknown';
      log.warn({ reason }, 'a budget alert could not be sent to the alert webhook');
    }
  }

  return {
    send(alert) {
      if (open.size >= MAX_OPEN) {
        log.warn({ open: open.size }, 'a budget alert was dropped: the alert webhook is too slow');
        return;
      }
      const sending = postAlert(alert).finally(() => open.delete(sending));
      open.add(sending);
    },
    async test(at) {
      const status = await post(testBody(at)).catch((cause: unknown) => {
        throw new Unavailable('The webhook of budget alerts cannot be called.', null, { cause });
      });
      if (status >= 300) throw new Unavailable(`The webhook of budget alerts answered ${status}.`, null);
    },
    async drained() {
      await Promise.all(open);
    },
  };
}

const TEST = 'This is a test alert of Lensgate.';

const testBody = (at: Date): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify({ event: 'test', event_group: 'proxy', event_message: TEST, at: at.toISOString(), text: TEST }),
  );

const bodyOf = ({ kind, at, scope, id, message, keyHash }: BudgetAlert): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify({
      event: EVENTS[kind],
      event_group: GROUPS[scope] ?? scope,
      event_message: message,
      scope,
      id,
      token: keyHash,
      at: at.toISOString(),
      // Receivers of chat services show this member.
      text: message,
    }),
  );
