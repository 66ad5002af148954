import type { Platform } from '../../resolvers/operation/scope.ts';
import { Unavailable } from '../domain/errors.ts';
import { withDeadline } from '../domain/with-deadline.ts';
import type { Stores } from '../persistence/stores.ts';
import type { BudgetWebhook } from '../runtime/alerts/budget-webhook.ts';
import { systemClock } from '../runtime/clock.ts';
import type { AdmissionParts } from './compose-admission.ts';

/** Deadline of a test of a service, in ms. */
const ANSWER_MS = 2_000;

interface TestedServices extends Pick<AdmissionParts, 'pingRedis'> {
  readonly stores: Pick<Stores, 'ping'>;
  readonly webhook: BudgetWebhook | null;
}

/** Tests of the services that are configured, by name. */
export function composeServiceTests({ stores, webhook, pingRedis }: TestedServices): Platform['serviceTests'] {
  const tests = new Map<string, () => Promise<void>>([['database', () => assertAnswers('database', stores.ping())]]);
  if (webhook !== null) tests.set('webhook', () => webhook.test(systemClock.now()));
  if (pingRedis !== null) tests.set('redis', () => assertAnswers('redis', pingRedis()));
  return tests;
}

async function assertAnswers(service: string, testing: Promise<unknown>): Promise<void> {
  try {
    await withDeadline(testing, ANSWER_MS, () => {
      throw new Error(`No answer within ${ANSWER_MS} ms.`);
    });
  } catch (cause) {
    throw new Unavailable(`The service \`${service}\` does not answer.`, null, { cause });
  }
}
