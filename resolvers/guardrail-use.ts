import { NotFound } from '../src/domain/errors.ts';
import { activityPeriodOf } from '../src/domain/gateway-activity/gateway-activity.ts';
import type { GuardrailDefinition } from '../src/domain/guardrails/definition.ts';
import {
  type DailyUse,
  type GuardrailDay,
  type GuardrailRun,
  type GuardrailUse,
  type GuardrailRunResult,
  useByDay,
  useByGuardrail,
} from '../src/domain/guardrails/guardrail-use.ts';
import { guardrailViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { GuardrailPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** First and last UTC day, `YYYY-MM-DD`. A null `from` is 30 days ago, a null `to` is today. */
export interface UsePeriod {
  readonly from: string | null;
  readonly to: string | null;
}

export interface GuardrailUseReport {
  readonly guardrails: readonly GuardrailUse[];
  readonly days: readonly DailyUse[];
}

const daysOf = (
  { platform }: Scope<GuardrailPlatform>,
  { from, to }: UsePeriod,
  guardrailId: string | null,
): Promise<readonly GuardrailDay[]> =>
  platform.stores.guardrailUse.days({ ...activityPeriodOf(from, to, platform.clock.now()), guardrailId });

/** Numbers of runs in a period, by guardrail and by day. Runs of the last seconds may be missing. */
export const getGuardrailUse = operation({
  name: 'getGuardrailUse',
  access: guardrailViewer,
  async run(scope: Scope<GuardrailPlatform>, period: UsePeriod): Promise<GuardrailUseReport> {
    const days = await daysOf(scope, period, null);
    return { guardrails: useByGuardrail(days), days: useByDay(days) };
  },
});

/** The use of one guardrail. */
export interface GuardrailUseDetail {
  readonly id: string;
  /** Null for a guardrail that was deleted. */
  readonly definition: GuardrailDefinition | null;
  /** Null without a run. */
  readonly use: GuardrailUse | null;
  readonly days: readonly DailyUse[];
}

/** The use of one guardrail in a period. Throws NotFound for one that neither exists nor ran in the period. */
export const getGuardrailUseDetail = operation({
  name: 'getGuardrailUseDetail',
  access: guardrailViewer,
  async run(
    scope: Scope<GuardrailPlatform>,
    { id, ...period }: UsePeriod & { readonly id: string },
  ): Promise<GuardrailUseDetail> {
    const days = await daysOf(scope, period, id);
    const definition = scope.platform.guardrails.list().find((one) => one.id === id) ?? null;
    if (definition === null && days.length === 0) throw new NotFound('guardrail', id, 'Guardrail not found');
    return { id, definition, use: useByGuardrail(days)[0] ?? null, days: useByDay(days) };
  },
});

export interface GuardrailRunList {
  readonly runs: readonly GuardrailRun[];
  readonly totalCount: number;
}

/** Lists runs that did not pass, the latest first. They are stored for 90 days. */
export const listGuardrailRuns = operation({
  name: 'listGuardrailRuns',
  access: guardrailViewer,
  run: (
    { platform }: Scope<GuardrailPlatform>,
    {
      from,
      to,
      ...page
    }: UsePeriod & {
      readonly guardrailId: string | null;
      readonly result: GuardrailRunResult | null;
      readonly limit: number;
      readonly offset: number;
    },
  ): Promise<GuardrailRunList> =>
    platform.stores.guardrailUse.runs({ ...page, ...activityPeriodOf(from, to, platform.clock.now()) }),
});
