import { assertSignalConfig, readSignalConfig, readTraceSignals, setSignalConfig } from '../resolvers/lens-signals.ts';
import { snakeCased } from '../src/domain/key-case.ts';
import { DEFAULT_SIGNALS, SIGNAL_LIMITS, THRESHOLDS } from '../src/domain/lens/signals.ts';
import { bodyOf, listOf, modelOf, numberOf, optional, required, textOf } from './http/models.ts';
import { json, route, type RouteRow } from './http/route.ts';
import { TRACES, tracesFrom } from './lens-fields.ts';

const ROW = {
  surface: 'lens',
  category: null,
  credential: 'required',
  bodyLimit: 1024 * 1024,
} as const;

const { name, shortestQuestion, question } = SIGNAL_LIMITS;

const readConfig = bodyOf(
  modelOf({
    model: optional(textOf(), DEFAULT_SIGNALS.model),
    threshold: optional(numberOf({ least: THRESHOLDS.least, most: THRESHOLDS.most }), DEFAULT_SIGNALS.threshold),
    signals: optional(
      listOf(
        modelOf({
          id: required(textOf({ pattern: /^[a-z][a-z0-9_]{0,63}$/ })),
          name: required(textOf({ least: 1, most: name })),
          question: required(textOf({ least: shortestQuestion, most: question })),
        }),
      ),
      DEFAULT_SIGNALS.signals,
    ),
  }),
);

/** Yes/no questions about every new trace. */
export const lensSignalRows: readonly RouteRow[] = [
  route({
    ...ROW,
    name: 'lens.signals',
    method: 'GET',
    paths: ['/lens/signals'],
    bodyLimit: 0,
    answers: [200, 401, 403],
    parse: () => undefined,
    run: readSignalConfig,
    render: (config) => json(snakeCased(config)),
  }),
  route({
    ...ROW,
    name: 'lens.setSignals',
    request: readConfig.schema,
    method: 'PUT',
    paths: ['/lens/signals'],
    answers: [200, 400, 401, 403, 422],
    parse: ({ body }) => assertSignalConfig(readConfig(body)),
    run: setSignalConfig,
    render: (config) => json(snakeCased(config)),
  }),
  route({
    ...ROW,
    name: 'lens.traceSignals',
    request: TRACES,
    method: 'POST',
    paths: ['/lens/traces/signals'],
    answers: [200, 401, 403, 422],
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
