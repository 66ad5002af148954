import { readSignalConfig, readTraceSignals, setSignalConfig } from '../resolvers/lens-signals.ts';
import { snakeCased } from '../src/domain/key-case.ts';
import { DEFAULT_SIGNALS, SIGNAL_LIMITS, THRESHOLDS, assertSignalConfig } from '../src/domain/lens/signals.ts';
import { bodyOf, listOf, modelOf, numberOf, optional, required, textOf } from './helpers/http/strict-fields.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { TRACES, tracesFrom } from './helpers/fields/lens.ts';
import { LENS_CHANGE, LENS_READ } from './helpers/http/row-facts.ts';

const readConfig = bodyOf(
  modelOf({
    model: optional(textOf(), DEFAULT_SIGNALS.model),
    threshold: optional(numberOf({ min: THRESHOLDS.least, max: THRESHOLDS.most }), DEFAULT_SIGNALS.threshold),
    signals: optional(
      listOf(
        modelOf({
          id: required(textOf({ pattern: /^[a-z][a-z0-9_]{0,63}$/ })),
          name: required(textOf({ min: 1, max: SIGNAL_LIMITS.maxName })),
          question: required(textOf({ min: SIGNAL_LIMITS.minQuestion, max: SIGNAL_LIMITS.maxQuestion })),
        }),
      ),
      DEFAULT_SIGNALS.signals,
    ),
  }),
);

/** Yes/no questions about every new trace. */
export const lensSignalRoutes: readonly RouteRow[] = [
  route({
    ...LENS_READ,
    name: 'lens.signals',
    paths: ['/lens/signals'],
    statuses: [200, 401, 403],
    parse: () => undefined,
    run: readSignalConfig,
    render: (config) => json(snakeCased(config)),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.setSignals',
    bodySchema: readConfig.schema,
    method: 'PUT',
    paths: ['/lens/signals'],
    statuses: [200, 400, 401, 403, 422],
    parse: ({ body }) => assertSignalConfig(readConfig(body)),
    run: setSignalConfig,
    render: (config) => json(snakeCased(config)),
  }),
  route({
    ...LENS_CHANGE,
    name: 'lens.traceSignals',
    bodySchema: TRACES,
    paths: ['/lens/traces/signals'],
    statuses: [200, 401, 403, 422],
    parse: ({ body }) => tracesFrom(body),
    run: readTraceSignals,
    render: (rows) =>
      json(
        rows.map(({ classifiedAt, ...row }) => ({
          ...snakeCased(row),
          classified_at: classifiedAt?.toISOString() ?? null,
        })),
      ),
  }),
];
